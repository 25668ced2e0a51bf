import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { isSized } from '../../src/market/price.ts'

/** A print of a token: a trade on the feed that is large enough to count for the robust price. */
export interface Print {
  readonly price: number
  readonly time: number
}

/** Reads a file of the service's `trade` messages, one per line. Returns the prints of each token. */
export async function readPrints(path: string): Promise<Print[][]> {
  const byMint = new Map<string, Print[]>()
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { type, mint, amount, tokensTraded, timestamp } = JSON.parse(line)
    const price = amount / tokensTraded
    if (type !== 'trade' || !isSized(amount, price)) continue
    const prints = byMint.get(mint) ?? []
    byMint.set(mint, prints)
    prints.push({ price, time: timestamp })
  }
  return [...byMint.values()]
}

/** Median of the values; for an even number of values, the lower of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[(sorted.length - 1) >> 1] as number
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}

/** Returns the prints; prints with equal times are in reversed order. */
export function reversedInstants(prints: readonly Print[]): Print[] {
  const instants = Map.groupBy(prints, ({ time }) => time)
  return [...instants.values()].flatMap((instant) => instant.reverse())
}
