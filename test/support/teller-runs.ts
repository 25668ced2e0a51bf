import { expect } from 'vitest'
import { replaySegments } from '../../src/backtest/replay/segments.ts'
import { runBacktest } from '../../src/backtest/run.ts'
import { type Random, seededRandom } from '../../src/base/random.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Output } from '../../src/engine/messages.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { Mints } from '../../src/market/mints.ts'
import type { Journal } from '../../src/orders/ports.ts'
import type { MarketRow } from './market-rows.ts'
import { feed, noisyMarket, type Recording } from './recorded-tape.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The start of the market: 20 s before the end of a UTC day. */
export const T0 = 1_780_012_780_000
export const KEYS = ['trades', 'newTokens']
const folder = temporaryFolder()

/**
 * Returns random trades with pauses of up to 40 seconds between some of them.
 */
export function marketOf(seedOfIt: number, rows: number): MarketRow[] {
  const random = seededRandom(seedOfIt)
  let time = T0
  return noisyMarket(rows, seedOfIt, T0).map((row) => {
    const at = time
    time += random.next() < 0.02 ? random.integer(40_000) : random.integer(400)
    return { ...row, time: at }
  })
}

/** Returns the market with an interruption of the feed. */
export function interrupted(rows: readonly MarketRow[], random: Random): Recording['items'] {
  const from = (rows[50 + random.integer(50)] as MarketRow).time
  const to = from + random.integer(45_000)
  return [
    ...rows.filter(({ time }) => time < from),
    { time: from, input: feed('down', []) },
    { time: to, input: { kind: 'gap', from, to, keys: KEYS } },
    { time: to, input: feed('live', KEYS) },
    ...rows.filter(({ time }) => time >= to),
  ]
}

/** Returns the configuration of bots that run a strategy of `test/support`, one bot for each of `given`, its params. */
export async function tellerConfig(strategy: string, ...given: readonly object[]): Promise<Config> {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = given.map((params, index) => ({
    ...{ name: index === 0 ? 'teller' : `teller-${index}`, strategy: `./test/support/${strategy}.ts`, params },
  }))
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}

export interface Note {
  readonly time: number
  readonly text: string
}

/** Returns the notes of a backtest of a journal's tape. */
export function backtested(path: string, config: Config): Note[] {
  const notes: Note[] = []
  backtest(path, config, (_seq, time, _index, output) => note(notes, time, output))
  return notes
}

/** Returns all decisions of a backtest of a journal's tape, each with its sequence number. */
export function decided(path: string, config: Config): string[] {
  const decisions: string[] = []
  const text = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)
  backtest(path, config, (...decision) => decisions.push(JSON.stringify(decision, text)))
  return decisions
}

/** Returns the notes and alarms of each bot in a backtest of a journal's tape, by the name of the bot. A strategy may
 *  throw. */
export function toldByBot(path: string, config: Config): Map<string, string[]> {
  const told = new Map(config.bots.map(({ name }): [string, string[]] => [name, []]))
  backtest(path, config, (_seq, time, _index, output) => {
    if (output.kind === 'note' || output.kind === 'alarm')
      told.get(output.bot)?.push(`${time} ${output.kind === 'note' ? output.mint : output.code} ${output.reason}`)
  })
  return told
}

function backtest(path: string, config: Config, output: Journal['output']): void {
  const journal: Journal = { rows() {}, input() {}, write() {}, commit: (then) => then(), output }
  const reader = openReader(path)
  try {
    runBacktest(config, reader.market(), { partial: true, tolerant: true, journal })
  } finally {
    reader.close()
  }
}

function note(notes: Note[], time: number, output: Output): void {
  if (output.kind === 'note') notes.push({ time, text: `${output.mint} ${output.reason}` })
  if (output.kind === 'alarm') throw new Error(output.reason)
}

/** Returns the texts that the strategies of a recorded run passed to `bot.note`, in order. */
export function recorded(path: string): Note[] {
  const notes: Note[] = []
  const reader = openReader(path)
  try {
    for (const segment of reader.segments())
      for (const item of reader.replay(segment, new Mints()))
        if (item.kind === 'output') note(notes, item.time, item.output)
    return notes
  } finally {
    reader.close()
  }
}

export async function expectReplayed(path: string): Promise<void> {
  const outcomes: object[] = []
  await replaySegments(path, {
    outcome: ({ segment, skipped, divergence }) => outcomes.push({ segment, skipped, divergence }),
    finding: (finding) => outcomes.push(finding),
  })
  for (const outcome of outcomes) expect(outcome).toMatchObject({ skipped: '', divergence: null })
}

export const textsOf = (notes: readonly Note[]): string[] => notes.map(({ text }) => text)
