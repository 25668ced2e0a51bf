import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ScriptTarget, transpileModule } from 'typescript'
import type { ExactPools } from '../../src/backtest/report/report.ts'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import { RANDOM_BOT } from './roster.ts'
import type { Summary } from './summary.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RECORD = fileURLToPath(new URL('../../src/backtest/report/exact-pools.ts', import.meta.url))
/** Files outside of `src/simulation` that determine how an order is filled. */
const BELOW = [
  'engine/accounting/fill-assumptions.ts',
  'market/price.ts',
  'solana/pool-depth.ts',
  'solana/constants.ts',
]
/** Files of `src/simulation` that do not affect fills. */
const APART = new Set(['calibration.ts', 'simulated-clock.ts', 'tape-source.ts'])

/** Hash of the fill model's code. Comments, types and formatting do not change the hash. */
export function modelCode(root = ROOT): string {
  const own = globSync(`${root}src/simulation/*.ts`).filter((file) => !APART.has(basename(file)))
  const hash = createHash('sha256').update(JSON.stringify(DEFAULT_FILL_MODEL))
  for (const file of [...own, ...BELOW.map((path) => `${root}src/${path}`)].sort()) {
    const compilerOptions = { target: ScriptTarget.ES2024, removeComments: true }
    const { outputText } = transpileModule(readFileSync(file, 'utf8'), { compilerOptions })
    hash.update(`${relative(root, file)}\n${outputText}\n`)
  }
  return hash.digest('hex')
}

/** Returns the figures that the report of a backtest prints about the comparison of the fill model with exact pools. */
export function recordOf(
  summaries: readonly Summary[],
  { seeds, date, code }: Pick<ExactPools, 'seeds' | 'date' | 'code'>,
): ExactPools {
  const inPercent = ({ upperSol, tradedSol }: Summary): number => (upperSol / tradedSol) * 100
  const traded = summaries.filter(({ tradedSol }) => tradedSol > 0)
  const highest = traded.reduce((high, one) => (inPercent(one) > inPercent(high) ? one : high))
  const loser = summaries.reduce((most, one) => (one.refusedSol < most.refusedSol ? one : most))
  const names = (some: readonly Summary[]): string[] => [...new Set(some.map(({ bot }) => bot))]
  const random = summaries.filter(({ bot }) => bot === RANDOM_BOT).map(({ pessimismPercent }) => pessimismPercent)
  const fills = new Map(summaries.map((one) => [one.bot, one.fills]))
  return {
    ...{ date, code, seeds, bots: fills.size },
    fills: Math.round([...fills.values()].reduce((sum, one) => sum + one, 0) * seeds),
    flattered: names(summaries.filter(({ upperSol }) => upperSol > 0)),
    upperPercent: inPercent(highest),
    upperBot: highest.bot,
    ...{ refusedBot: loser.bot, refusedSol: loser.refusedSol },
    randomPessimismPercent: Math.max(...random),
  }
}

/** Writes the figures into src/backtest/report/exact-pools.ts, from which the report of a backtest takes them. */
export function writeRecord(record: ExactPools): void {
  const value = (one: unknown): string =>
    Array.isArray(one) ? `[${one.map(value).join(', ')}]` : typeof one === 'string' ? `'${one}'` : String(one)
  const lines = Object.entries(record).map(([key, one]) => `  ${key}: ${value(one)},`)
  const text = [
    "import type { ExactPools } from './report.ts'",
    '',
    '/** Written by `npm run pools -- --record`. */',
    'export const EXACT_POOLS: ExactPools = {',
    ...lines,
    '}',
    '',
  ]
  writeFileSync(RECORD, text.join('\n'))
}
