import { expect, test } from 'vitest'
import { verifyCausality } from '../../src/backtest/causality/verify.ts'
import { runBacktest } from '../../src/backtest/run.ts'
import type { Json } from '../../src/base/json.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { windowOf } from '../../src/journal/tape/market-tape.ts'
import { openTape } from '../../src/journal/tape-files.ts'
import { journalPath } from '../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const seen: string[] = []
Object.assign(globalThis, { seen })

folder.write(
  'listener.ts',
  `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'listener', about: '', params: z.object({}), keys: ['trades'],
  sources: { fear: { schema: z.object({ value: z.number() }) } },
  start(_params, bot) {
    let prints = 0
    return {
      onTrade(_trade, token) { if (++prints % 100 === 0 && !token.position) bot.buy(token, { sol: 0.01, reason: 'print' }) },
      onSource(name, data, time) { globalThis.seen.push(bot.name + ' ' + data.value + ' after ' + prints + ' at ' + (time - ${T0})); bot.note('', String(data.value)) },
    }
  } })`,
)

/** The answers of a source, with their times after the beginning. For `undefined`, the source repeats its last data. */
type Answers = readonly (readonly [time: number, value: Json | undefined])[]
const ANSWERS: Answers = [
  [50, 1],
  [1_050, 2],
  [2_050, undefined],
  [2_950, 3],
  [7_050, 4],
]

async function tapeOf(answers: Answers, bot = 'a') {
  const path = journalPath()
  const inputs = answers.map(([time, value]) => {
    const data = value === undefined ? {} : { data: { value } }
    return { time: T0 + time, input: { kind: 'source' as const, bot, name: 'fear', ...data } }
  })
  const items = [...noisyMarket(100, 3, T0), ...inputs].sort((one, other) => one.time - other.time)
  await writeTape(path, [{ time: T0, items }])
  return path
}

async function configOf(name: string, source: object): Promise<Config> {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } }
  const bots = [{ name, strategy: `${folder.path}/listener.ts`, sources: { fear: source } }]
  const loaded = await loadConfig([folder.write('config.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}

/** Returns the values that the strategy received in a backtest. */
async function played(
  paths: readonly string[],
  { name = 'a', source = {}, from = 0 }: { name?: string; source?: object; from?: number } = {},
): Promise<string[]> {
  const config = await configOf(name, source)
  const tape = openTape(paths)
  seen.length = 0
  try {
    const market = from === 0 ? tape.market : windowOf(tape.market, T0 + from, T0 + 1e9)
    runBacktest(config, market, { partial: false })
  } finally {
    tape.close()
  }
  return [...seen]
}

const EXPECTED = [
  'a 1 after 1 at 50',
  'a 2 after 11 at 1050',
  'a 2 after 21 at 2050',
  'a 3 after 30 at 2950',
  'a 4 after 71 at 7050',
]

test('a strategy receives recorded answers of a source between the same rows as in the recording, also if another bot recorded them', async () => {
  const path = await tapeOf(ANSWERS)
  expect(await played([path])).toEqual(EXPECTED)
  expect(await played([path], { name: 'b' })).toEqual(EXPECTED.map((line) => line.replace('a', 'b')))
})

test('a file replaces the recorded answers, and each of its values comes before the rows of the same time', async () => {
  const path = await tapeOf([[10, 99]])
  const lines = [
    [-500, 0],
    [50, 1],
    [1_050, 2],
    [2_050, 2],
    [2_950, 3],
    [7_000, 4],
    [99_000, 5],
  ].map(([time = 0, value]) => JSON.stringify({ time: T0 + time, data: { value, other: true } }))
  const file = folder.write('fear.ndjson', `${lines.join('\n')}\n`)
  expect(await played([path], { source: { file } })).toEqual([
    'a 0 after 0 at 0',
    ...EXPECTED.slice(0, 4),
    'a 4 after 70 at 7000',
  ])
})

test("a backtest of a part of a tape begins with the source's last data before this part", async () => {
  const path = await tapeOf(ANSWERS)
  expect(await played([path], { from: 2_500 })).toEqual([
    'a 2 after 25 at 2500', // 25 prints of the warm-up
    'a 3 after 30 at 2950',
    'a 4 after 71 at 7050',
  ])
})

test('if two recordings cover the same time, the strategy receives each answer once', async () => {
  const paths = [await tapeOf(ANSWERS.slice(0, 4)), await tapeOf(ANSWERS)]
  expect(await played(paths)).toEqual(EXPECTED)
})

test('recorded data that the schema no longer accepts is dropped, and so are repetitions of this data', async () => {
  const path = await tapeOf([
    [50, 1],
    [1_050, 'high'],
    [2_050, undefined],
    [2_950, 3],
  ])
  expect(await played([path])).toEqual([EXPECTED[0], EXPECTED[3]])
})

test('a backtest refuses a tape that has no data of a source, if no file replaces it', async () => {
  const path = await tapeOf([])
  await expect(played([path])).rejects.toThrow(
    'source fear of a: the tape has no answer of it, and the configuration names no file',
  )
})

test('decisions that use the data of a source depend on no later row of the tape', async () => {
  const tape = openTape([await tapeOf(ANSWERS)])
  try {
    const { divergence, compared } = await verifyCausality(await configOf('a', {}), tape.market, 1)
    expect(divergence).toBeNull()
    expect(compared).toBeGreaterThan(100)
  } finally {
    tape.close()
  }
})
