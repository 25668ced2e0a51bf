import { describe, expect, test } from 'vitest'
import { tradesOf } from '../../../src/backtest/report/bot-trades.ts'
import type { Answers } from '../../../src/desk/api/types.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { ApiRig } from '../../support/desk-api.ts'
import { NO_LIMITS } from '../../support/journal-values.ts'
import { tradedJournal } from '../../support/traded-journal.ts'

const api = new ApiRig(tradedJournal())
const { reader } = api
const lamports = (sol: number): number => Math.round(sol * 1e9)

test('the steps of the waterfall chart add up to the net result of `sluice report`, to the lamport', () => {
  const { waterfall, mode } = api.get('money')
  const net = tradesOf(reader).reduce((sum, { netSol }) => sum + lamports(netSol), 0)
  const before = waterfall.slice(0, -1).reduce((sum, row) => sum + row.lamports, 0)
  expect(mode).toBe('paper')
  expect([before, waterfall.at(-1)?.lamports]).toEqual([net, net])
  expect(waterfall.map(({ key }) => key)).toEqual([
    'gross',
    'impact',
    'venue_fee',
    'service_fee',
    'base_fee',
    'priority_fee',
    'tip',
    'rent',
    'remainder',
    'net',
  ])
})

test('each cost in the waterfall chart equals the cost in the ledger', () => {
  const [ledger] = reader.ledger()
  const { waterfall } = api.get('money')
  for (const key of ['impact', 'venue_fee', 'service_fee', 'base_fee', 'priority_fee', 'tip'])
    expect(waterfall.find((row) => row.key === key)?.lamports, key).toBe(0 - (ledger?.lines[key] ?? 0))
  expect(waterfall.filter(({ lamports }) => lamports !== 0).length).toBeGreaterThan(5)
})

test('the results of the days, of the open positions and of fees outside of trades add up to the net result', () => {
  const { daily, openSol, straySol, waterfall } = api.get('money')
  const sum = daily.reduce((all, { netSol }) => all + lamports(netSol), 0)
  expect(sum + lamports(openSol) + lamports(straySol)).toBe(waterfall.at(-1)?.lamports)
  expect(daily.reduce((all, { trades }) => all + trades, 0)).toBe(api.pages('round-trips', 'roundTrips', {}).length)
})

test('the ledger of a recorded run has a remainder of 0', () => {
  expect(api.get('money').ledger).toMatchObject([{ remainderLamports: 0, worstLamports: 0 }])
})

test.each(['2', '7', '5000'])(
  'an equity curve of %s points ends with the net result, and keeps the extremes',
  (points) => {
    const { times, bots } = api.get('equity', { points })
    const [report] = tradesOf(reader)
    const { bot: values = [] } = bots
    const whole = api.get('equity').bots.bot ?? []
    expect(values.at(-1)).toBe(report?.netSol)
    expect(values).toHaveLength(times.length)
    expect(times).toEqual([...new Set(times)].sort((one, other) => one - other))
    expect(values.length).toBeLessThanOrEqual(Math.max(4, Number(points)))
    expect([Math.min(...values), Math.max(...values)]).toEqual([Math.min(...whole), Math.max(...whole)])
  },
)

test('a mode without money and an unknown bot have no result', () => {
  for (const query of [{ mode: 'live' }, { bot: 'none' }]) {
    const { waterfall, daily, bots } = api.get('money', query)
    expect([waterfall.at(-1)?.lamports, daily, bots]).toEqual([0, [], []])
    expect(api.get('equity', query).times).toEqual([])
  }
})

describe('an equity curve with recorded results', () => {
  const recorded = tradedJournal()
  const whole = new ApiRig(recorded).get('equity', { points: '5000' })
  const { account } = new ApiRig(recorded).reader.ledger()[0] as { readonly account: string }
  const ends = whole.times.at(-1) as number

  /** Returns the equity of the journal after it has recorded these results of its bot, SOL by time. */
  async function equityWith(nets: readonly (readonly [time: number, sol: number])[]): Promise<Answers['equity']> {
    const path = tradedJournal()
    const journal = openJournal(path, { space: NO_LIMITS, onFailure: fail })
    for (const [time, sol] of nets)
      journal.write({ kind: 'netResult', result: { time, account, bot: 'bot', netLamports: lamports(sol) } })
    await journal.close()
    return new ApiRig(path).get('equity', { points: '5000' })
  }

  test('contains the closed trades before the first record, then the records, then the present result', async () => {
    const middle = whole.times[Math.floor(whole.times.length / 2)] as number
    const { times, bots, recordedFrom } = await equityWith([
      [middle, -0.5],
      [middle + 10, 0.25],
    ])
    const before = whole.times.filter((time) => time < middle)
    expect(recordedFrom).toBe(middle)
    expect(times).toEqual([...before, middle, middle + 10, ends])
    expect(bots.bot).toEqual([...(whole.bots.bot ?? []).slice(0, before.length), -0.5, 0.25, whole.bots.bot?.at(-1)])
  })

  test('keeps the extremes of many records', async () => {
    const nets = Array.from({ length: 25_000 }, (_none, at) => [ends - 25_000 + at, Math.sin(at)] as const)
    nets[777] = [nets[777]?.[0] as number, 99]
    nets[12_345] = [nets[12_345]?.[0] as number, -99]
    const { times, bots } = await equityWith(nets)
    expect(times.length).toBeLessThanOrEqual(5_000)
    expect([Math.min(...(bots.bot ?? [])), Math.max(...(bots.bot ?? []))]).toEqual([-99, 99])
  })

  test('without a record, it contains open positions only at its end', () => {
    expect(whole.recordedFrom).toBeNull()
  })
})

function fail(error: Error): never {
  throw error
}
