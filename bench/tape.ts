// Writes the tapes and configurations with which backtests and sweeps are measured.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '../src/base/random.ts'
import type { Config } from '../src/config/config.ts'
import { loadConfig } from '../src/config/load.ts'
import { openJournal } from '../src/journal/writer/journal.ts'
import { RowKind } from '../src/market/block.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import { encodeBase58 } from '../src/solana/base58.ts'
import { start } from '../test/support/journal-values.ts'

export const TOKENS = 2_000
const ROWS_A_BLOCK = 32_768

/** Writes a journal with random trades of realistic sizes. The tokens come in random order, and the blocks are full, as
 *  in an imported recording. */
export async function writeTape(path: string, rows: number, tokens = TOKENS): Promise<void> {
  const random = seededRandom(7)
  const mints = new Mints()
  const prices = Float64Array.from({ length: tokens }, () => 1e-7 * (1 + random.next()))
  for (let token = 0; token < tokens; token++)
    mints.intern(encodeBase58(Uint8Array.from({ length: 32 }, () => random.integer(256))))
  const trader = encodeBase58(new Uint8Array(32).fill(9))
  const journal = openJournal(path, {
    space: { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 },
    onFailure: (error) => {
      throw error
    },
  })
  const first = 1_780_000_000_000
  journal.input(1, first, start(1))
  journal.input(2, first, { kind: 'feed', status: 'live', confirmed: ['trades', 'newTokens', 'priceUpdates'] })
  for (let before = 0; before < rows; before += ROWS_A_BLOCK) {
    const length = Math.min(ROWS_A_BLOCK, rows - before)
    const block = new LiveBlock(mints.list, length)
    for (let row = 0; row < length; row++) {
      const token = random.integer(tokens)
      prices[token] = Math.min(1e-6, Math.max(1e-8, (prices[token] as number) * (0.98 + 0.04 * random.next())))
      const price = prices[token] as number
      const sol = random.next() < 0.3 ? 0.005 : random.next()
      const time = first + before + row
      const numbers = { price, amount: sol, size: sol / price, marketCap: price * 1e9, extra: 5, extra2: 0 }
      const kind = random.next() < 0.55 ? RowKind.buy : RowKind.sell
      block.append(time, time - 100, kind, token, numbers, '', trader)
    }
    journal.rows(block, 0, length, 3 + before)
    journal.commit(() => {})
  }
  await journal.close()
}

/** Writes a configuration with `bot` and the `further` bots, and returns the path of the file. Each bot has enough
 *  money for every order. */
export function writeConfig(folder: string, name: string, bot: object, further: readonly object[] = []): string {
  const file = join(folder, `${name}.yaml`)
  const service = { baseUrl: 'https://service.example/api', wsUrl: 'wss://service.example/api/data' }
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 60 }
  const bots = [bot, ...further].map((one) => ({ name: 'bench', exits, ...one }))
  writeFileSync(file, JSON.stringify({ service, paper: { balanceSol: 100_000 }, bots }))
  return file
}

export async function configOf(file: string): Promise<Config> {
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}
