import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'

interface Entry {
  readonly name: string
  readonly strategy: string
  readonly params?: object
  readonly exits: object
}

const ours = (name: string): string => fileURLToPath(new URL(`./bots/${name}.ts`, import.meta.url))
const shipped = (name: string): string => fileURLToPath(new URL(`../../strategies/${name}.ts`, import.meta.url))
const held = (maxHoldSeconds: number) => ({ maxHoldSeconds })
/** Exits that fire only after an hour, so that the strategy decides when to sell. */
const BY_ITSELF = held(3_600)
const USUAL = { stopLossPercent: 20, takeProfitPercent: 50, trailingPercent: 25, maxHoldSeconds: 120 }

/** The bot for which the fill model must not be too pessimistic on average: its entries are random, so they exploit no
 *  fault of the model. */
export const RANDOM_BOT = 'random-entries'

/** All bots: first the shipped strategies that trade by themselves (all but `probe`), each with small and with large
 *  orders, then bots that each exploit one possible fault of a fill model. */
const ROSTER: readonly Entry[] = [
  { name: 'dip-buyer', strategy: shipped('dip-buyer'), exits: USUAL },
  { name: 'dip-buyer-large', strategy: shipped('dip-buyer'), params: { sizeSol: 1 }, exits: USUAL },
  { name: 'momentum', strategy: shipped('momentum'), exits: USUAL },
  { name: 'momentum-large', strategy: shipped('momentum'), params: { sizeSol: 1 }, exits: USUAL },
  { name: 'launch-sniper', strategy: shipped('launch-sniper'), exits: USUAL },
  { name: 'launch-sniper-large', strategy: shipped('launch-sniper'), params: { sizeSol: 1 }, exits: USUAL },
  { name: RANDOM_BOT, strategy: ours(RANDOM_BOT), exits: BY_ITSELF },
  { name: 'whale-follower', strategy: ours('whale-follower'), exits: held(20) },
  { name: 'stale-chaser', strategy: ours('stale-chaser'), exits: held(15) },
  { name: 'splitter', strategy: ours('splitter'), exits: held(60) },
  { name: 'first-print', strategy: ours('first-print'), exits: held(15) },
  { name: 'silence-seller', strategy: ours('silence-seller'), exits: BY_ITSELF },
  { name: 'dump-buyer', strategy: ours('dump-buyer'), exits: held(20) },
  { name: 'print-momentum', strategy: ours('print-momentum'), exits: held(20) },
  { name: 'impact-scalper', strategy: ours('impact-scalper'), exits: BY_ITSELF },
  { name: 'rug-rider', strategy: ours('rug-rider'), exits: held(300) },
  { name: 'never-seller', strategy: ours('never-seller'), exits: BY_ITSELF },
  { name: 'whale-seller', strategy: ours('whale-seller'), exits: held(120) },
  { name: 'quiet-buyer', strategy: ours('quiet-buyer'), exits: held(10) },
  { name: 'gap-buyer', strategy: ours('gap-buyer'), exits: held(15) },
]

/** Configuration of all bots on paper. Each has its own money, and no limits that would prevent a fill. */
export async function rosterConfig(folder: string, seed: number): Promise<Config> {
  const file = join(folder, 'roster.yaml')
  const plan = { requestsPerMinute: 100_000, connections: 10, messagesPerSecond: 1_000 }
  const service = { baseUrl: 'https://service.example/api', wsUrl: 'wss://service.example/api/data', plan }
  const orders = { slippagePercent: 50, maxChasePercent: 1_000 }
  const bots = ROSTER.map((entry) => ({ ...entry, orders }))
  writeFileSync(file, JSON.stringify({ service, paper: { balanceSol: 10_000, seed }, bots }))
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}
