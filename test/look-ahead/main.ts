// Tests `--verify-causal` with strategies that use future prices on purpose, and counts how many of them it finds: `npm
// run look-ahead -- --seeds 20`. Exits with 1 if it misses one of them, or if it raises a false alarm about a shipped
// strategy.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Causality, verifyCausality } from '../../src/backtest/causality/verify.ts'
import { exportTape } from '../../src/backtest/tape-export.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openTape } from '../../src/journal/tape-files.ts'
import { writeTape } from '../support/recorded-tape.ts'
import { launchMarket } from './launch-market.ts'
import { leakBlocks, PLANTED, type TapeFiles } from './planted.ts'

const T0 = 1_780_000_000_000
const ROWS = 2_500
const SHIPPED = ['dip-buyer', 'launch-sniper', 'momentum', 'probe']
const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
const exits = { stopLossPercent: 20, trailingPercent: 15, maxHoldSeconds: 60 }

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '20' } } })
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + 1)
const folder = mkdtempSync(join(tmpdir(), 'look-ahead-'))

async function tapeOf(seed: number): Promise<TapeFiles> {
  const [journal, ndjson, json] = ['db', 'ndjson', 'json'].map((end) => join(folder, `${seed}.${end}`)) as [
    string,
    string,
    string,
  ]
  const items = launchMarket(ROWS, seed, T0)
  await writeTape(journal, [{ time: T0, items }])
  const tape = openTape([journal])
  exportTape(tape.market, ndjson)
  tape.close()
  writeFileSync(json, JSON.stringify(items.flatMap((row) => (row.kind === 'newToken' ? [] : [row.price]))))
  return { journal, ndjson, json }
}

async function verify({ journal }: TapeFiles, strategy: string, seed: number): Promise<Causality> {
  const file = join(folder, 'bot.yaml')
  const limits = { maxOpenPositions: 50, maxSolPerHour: 1000 }
  writeFileSync(file, JSON.stringify({ service, bots: [{ name: 'bot', strategy, exits, limits }] }))
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const tape = openTape([journal])
  try {
    return await verifyCausality(loaded.config, tape.market, seed)
  } finally {
    tape.close()
  }
}

leakBlocks()
let failed = 0
try {
  const found = new Map<string, number>()
  const missed: string[] = []
  let clean = 0
  let compared = 0
  for (const seed of seeds) {
    const tape = await tapeOf(seed)
    for (const { name, source } of PLANTED) {
      const file = join(folder, `${name.replaceAll(' ', '-')}-${seed}.ts`)
      writeFileSync(file, source(seed, tape))
      const { divergence, outside } = await verify(tape, file, seed)
      if (divergence !== null || outside.length > 0) found.set(name, (found.get(name) ?? 0) + 1)
      else missed.push(`${name}, seed ${seed}: the look-ahead was not found`)
    }
    for (const strategy of SHIPPED) {
      const result = await verify(tape, strategy, seed)
      compared += result.compared
      if (result.divergence === null && result.outside.length === 0) clean++
      else missed.push(`${strategy}, seed ${seed}: false alarm: ${JSON.stringify(result).slice(0, 600)}`)
    }
  }
  for (const { name } of PLANTED) console.log(`${name}: found in ${found.get(name) ?? 0} of ${seeds.length} runs`)
  console.log(
    `shipped strategies: no alarm in ${clean} of ${seeds.length * SHIPPED.length} runs, ${compared} decisions compared`,
  )
  for (const line of missed) console.log(line)
  failed = missed.length
} finally {
  rmSync(folder, { recursive: true })
}
process.exitCode = failed > 0 ? 1 : 0
