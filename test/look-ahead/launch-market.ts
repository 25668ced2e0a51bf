import { seededRandom } from '../../src/base/random.ts'
import { encodeBase58 } from '../../src/solana/base58.ts'
import type { MarketRow } from '../support/market-rows.ts'

const TOKENS = 30
const STEP_MS = 100

/**
 * Returns the market of tokens that are launched one after the other. Their prices rise and fall, and then their
 * trading ends.
 */
export function launchMarket(rows: number, seed: number, from: number): MarketRow[] {
  const random = seededRandom(seed)
  const key = (): string => encodeBase58(Uint8Array.from({ length: 32 }, () => random.integer(256)))
  const live: { mint: string; price: number; drift: number }[] = []
  const all: MarketRow[] = []
  for (let row = 0; row < rows; row++) {
    const time = from + row * STEP_MS
    if (row % Math.floor(rows / TOKENS) === 0) {
      const mint = key()
      live.push({ mint, price: 2.8e-8 * (1 + random.next()), drift: 0.995 + 0.02 * random.next() })
      if (live.length > 8) live.shift()
      all.push({ kind: 'newToken', time, mint, creator: key(), liquidity: 30 + random.next() })
      continue
    }
    const token = live[random.integer(live.length)] as (typeof live)[number]
    const fall = random.next() < 0.01 ? 0.7 : 1
    token.price = Math.min(1e-5, Math.max(5e-9, token.price * token.drift * (0.95 + 0.1 * random.next()) * fall))
    const kind = random.next() < 0.6 ? 'buy' : 'sell'
    all.push({ kind, time, mint: token.mint, price: token.price, sol: 0.02 + random.next(), trader: key() })
  }
  return all
}
