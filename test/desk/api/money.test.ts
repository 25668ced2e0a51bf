import { expect, test } from 'vitest'
import { tradesOf } from '../../../src/backtest/report/bot-trades.ts'
import { ApiRig } from '../../support/desk-api.ts'
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
