import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { isSized } from '../../src/market/price.ts'

/** A sized print of a token. */
export interface Print {
  readonly price: number
  readonly time: number
}

/** Sized prints of each token in a file of the service's `trade` messages, one message per line. */
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

/** The lower of the two middle values if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[(sorted.length - 1) >> 1] as number
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}

/** Prints with an equal time in reversed order. */
export function reversedInstants(prints: readonly Print[]): Print[] {
  const instants = Map.groupBy(prints, ({ time }) => time)
  return [...instants.values()].flatMap((instant) => instant.reverse())
}
