import { describe, expect, test } from 'vitest'
import { tradesOf } from '../../../src/backtest/report/bot-trades.ts'
import { equityAnswer } from '../../../src/desk/api/equity.ts'
import { Parameters } from '../../../src/desk/api/parameters.ts'
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
  const whole = new ApiRig(tradedJournal()).get('equity', { points: '5000' })
  const [begins, ends] = [whole.times[0] as number, whole.times.at(-1) as number]
  const middle = whole.times[Math.floor(whole.times.length / 2)] as number
  const last = whole.bots.bot?.at(-1)

  /** Records results of the bot in a journal, SOL by time. */
  async function record(path: string, nets: readonly (readonly [time: number, sol: number])[]): Promise<void> {
    const account = reader.ledger()[0]?.account as string
    const journal = openJournal(path, { space: NO_LIMITS, onFailure: fail })
    for (const [time, sol] of nets)
      journal.write({ kind: 'netResult', result: { time, account, bot: 'bot', netLamports: lamports(sol) } })
    await journal.close()
  }

  async function equityWith(nets: readonly (readonly [time: number, sol: number])[]): Promise<Answers['equity']> {
    const path = tradedJournal()
    await record(path, nets)
    return new ApiRig(path).get('equity', { points: '5000' })
  }

  test('contains the closed trades before the first record, then the records, then the present result', async () => {
    const { times, bots, recordedFrom } = await equityWith([
      [middle, -0.5],
      [middle + 10, 0.25],
    ])
    const before = whole.times.filter((time) => time < middle)
    expect(recordedFrom).toEqual({ bot: middle })
    expect(times).toEqual([...before, middle, middle + 10, ends])
    expect(bots.bot).toEqual([...(whole.bots.bot ?? []).slice(0, before.length), -0.5, 0.25, last])
  })

  test('of a bot that was recorded before its first trade consists of the records and the present result', async () => {
    const { bots, recordedFrom } = await equityWith([
      [begins - 5, 0],
      [middle, -0.5],
    ])
    expect([recordedFrom, bots.bot]).toEqual([{ bot: 0 }, [0, -0.5, last]])
  })

  test('continues with the records that were written after an earlier request, even if the clock was set back', async () => {
    const path = tradedJournal()
    await record(path, [[middle, 1]])
    const rig = new ApiRig(path)
    expect(rig.get('equity').bots.bot?.slice(-2)).toEqual([1, last])
    await record(path, [
      [middle - 5, 2],
      [middle + 7, 3],
    ])
    const { times, bots } = rig.get('equity')
    expect([times.slice(-3), bots.bot?.slice(-3)]).toEqual([
      [middle, middle + 7, ends],
      [2, 3, last],
    ])
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
    expect(whole.recordedFrom).toEqual({ bot: null })
  })
})

test('the equity of a bot that traded in two accounts is the sum of its results in them', () => {
  const one = bookOf('paper|one', [[10, 5, 20]])
  const other = bookOf('paper|other', [[15, 7, 30]])
  const money = { bots: [one, other] }
  const history = { timeUpTo: () => 40 }
  const stub = {
    ...{ money, worth: () => undefined, results: { of: () => undefined } },
    reader: { heldPositions: () => [], look: (run: (of: object) => unknown) => run(history) },
  }
  const { times, bots } = equityAnswer(stub as never, new Parameters([], ['bot', 'mode', 'points']))
  expect([times, bots]).toEqual([[10, 15, 20, 30, 41], { bot: [0, 0, 5e-9, 12e-9, 12e-9] }])
})

/** Results of a bot in an account with these trips, each as time of the opening, profit in lamports, and time of the
 *  closing. */
function bookOf(account: string, trips: readonly (readonly [number, number, number])[]): object {
  return {
    ...{ account, bot: 'bot', lines: {}, strayLamports: 0, adoptedLamports: 0 },
    trips: trips.map(([openedAt, soldLamports, closedAt]) => ({
      ...{ openedAt, closedAt, soldLamports, valueLamports: 0, boughtLamports: 0, feeLamports: 0 },
    })),
  }
}

function fail(error: Error): never {
  throw error
}
