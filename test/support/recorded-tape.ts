import { seededRandom } from '../../src/base/random.ts'
import type { FeedStatus, Input } from '../../src/engine/messages.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import { Mints } from '../../src/market/mints.ts'
import { NO_LIMITS, start } from './journal-values.ts'
import { blockOf, type MarketRow } from './market-rows.ts'

/** The market rows and engine inputs that one process records, in order of time. */
export interface Recording {
  /** The start of the process. The feed is live a moment later. */
  readonly time: number
  readonly keys?: readonly string[]
  /** Rows, and inputs with the state of the feed between them. */
  readonly items: readonly (MarketRow | { readonly time: number; readonly input: Input })[]
}

/** Writes recordings into a new journal, each as a segment of its own. */
export async function writeTape(path: string, recordings: readonly Recording[]): Promise<void> {
  const journal = openJournal(path, {
    space: NO_LIMITS,
    onFailure: (error) => {
      throw error
    },
  })
  const mints = new Mints()
  let seq = 1
  for (const [index, { time, keys = ['trades', 'newTokens', 'priceUpdates'], items }] of recordings.entries()) {
    journal.input(seq++, time, start(index + 1))
    journal.input(seq++, time, { kind: 'gap', from: time, to: time, keys })
    journal.input(seq++, time, feed('live', keys))
    let rows: MarketRow[] = []
    const flush = (): void => {
      if (rows.length > 0) journal.rows(blockOf(rows, mints), 0, rows.length, seq)
      seq += rows.length
      rows = []
    }
    for (const item of items) {
      if (!('input' in item)) {
        rows.push(item)
        continue
      }
      flush()
      journal.input(seq++, item.time, item.input)
    }
    flush()
    journal.commit(() => {})
  }
  await journal.close()
}

export function feed(status: FeedStatus, confirmed: readonly string[]): Input {
  return { kind: 'feed', status, confirmed }
}

/** Returns trades of some tokens with random prices, occasional falls, and one wrong price in seven. */
export function noisyMarket(rows: number, seed: number, from: number, stepMs = 100): MarketRow[] {
  const random = seededRandom(seed)
  const tokens = [...'ABCDEFGH'].map((letter) => ({
    mint: `${letter}zphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump`,
    price: 1e-7 * (1 + random.next()),
  }))
  return Array.from({ length: rows }, (_, row) => {
    const token = tokens[random.integer(tokens.length)] as (typeof tokens)[number]
    const fall = random.next() < 0.004 ? 0.6 : 1
    token.price = Math.min(1e-6, Math.max(2e-8, token.price * (0.96 + 0.081 * random.next()) * fall))
    const isNoise = random.next() < 0.14
    const price = isNoise ? token.price * (0.2 + 6 * random.next()) : token.price
    const sol = isNoise ? 0.004 : 0.02 + random.next()
    const kind = random.next() < 0.5 ? 'buy' : 'sell'
    return { kind, time: from + row * stepMs, mint: token.mint, price, sol }
  })
}
