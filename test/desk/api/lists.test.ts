import { describe, expect, test } from 'vitest'
import { roundTripsOf } from '../../../src/backtest/report/round-trips.ts'
import type { ClosedPosition } from '../../../src/desk/api/types.ts'
import { ApiRig, type List } from '../../support/desk-api.ts'
import { HOSTILE, tradedJournal } from '../../support/traded-journal.ts'

const api = new ApiRig(tradedJournal())
const { reader } = api

interface Row {
  readonly symbol: string
  readonly mint: string
  readonly bot: string
}

interface Case {
  readonly endpoint: List
  readonly key: string
  /** Returns the rows of the CLI command that prints the same list. */
  readonly rows: () => readonly object[]
  readonly name: (row: object) => string
}

const LISTS: readonly Case[] = [
  { endpoint: 'orders', key: 'orders', rows: () => reader.orders(), name: (row) => (row as { id: string }).id },
  {
    ...{ endpoint: 'fills', key: 'fills', rows: () => reader.fills() },
    name: (row) => (row as { signature: string }).signature,
  },
  {
    ...{ endpoint: 'round-trips', key: 'roundTrips', rows: () => roundTripsOf(reader) },
    name: (row) => JSON.stringify(row),
  },
]

describe.each(LISTS)('the endpoint $endpoint', ({ endpoint, key, rows, name }) => {
  const expected = rows() as readonly object[]

  test.each([1, 3, 500])(
    'the pages of this endpoint with at most %i rows together contain each row of the CLI list once',
    (limit) => {
      const found = api.pages<Row>(endpoint, key, { limit: String(limit) })
      const bare = found.map(({ symbol: _symbol, ...row }) => row)
      expect(bare.map(name).sort()).toEqual(expected.map(name).sort())
      expect(new Map(bare.map((row) => [name(row), row]))).toEqual(new Map(expected.map((row) => [name(row), row])))
    },
  )

  test('the first page of the API has the newest rows of a list', () => {
    const times = api
      .pages<{ time?: number; closedAt?: number }>(endpoint, key, { limit: '9' })
      .map((row) => row.closedAt ?? row.time ?? 0)
    expect(times).toEqual(times.toSorted((one, other) => other - one))
  })

  test('the API can limit a list to a token and a bot', () => {
    const [{ mint = '' } = {}] = expected as readonly { mint?: string }[]
    const own = expected.filter((row) => (row as Row).mint === mint)
    expect(api.pages(endpoint, key, { mint, limit: '2' })).toHaveLength(own.length)
    expect(api.pages(endpoint, key, { bot: 'bot' })).toHaveLength(expected.length)
    expect(api.pages(endpoint, key, { bot: 'none' })).toEqual([])
  })
})

test('each closed position is on exactly one page of the API, with the result of the engine', () => {
  const rows = api.pages<ClosedPosition>('positions', 'positions', { limit: '4' })
  const { realizedSol, feesSol } = reader.counters()
  const open = reader.heldPositions()
  const sum = (of: (row: ClosedPosition) => number): number => rows.reduce((all, row) => all + of(row), 0)
  const openSum = (of: 'realizedLamports' | 'feeLamports'): number => open.reduce((all, one) => all + one[of], 0) / 1e9
  expect(sum((row) => row.realizedSol) + openSum('realizedLamports')).toBeCloseTo(realizedSol, 9)
  expect(sum((row) => row.feesSol) + openSum('feeLamports')).toBeCloseTo(feesSol, 9)
  expect(rows.every(({ openedAt, closedAt }) => openedAt <= closedAt)).toBe(true)
})

test('the symbol of a token is its creator’s text, unchanged', () => {
  const symbols = new Set(api.pages<Row>('orders', 'orders', {}).map(({ symbol }) => symbol))
  expect(symbols).toContain(HOSTILE)
})

test.each([
  ['orders', [['limit', '0']], 'limit is invalid; expected a whole number from 1 to 500'],
  ['orders', [['limit', '501']], 'limit is invalid; expected a whole number from 1 to 500'],
  ['fills', [['limit', '1e2']], 'limit is invalid; expected a whole number from 1 to 500'],
  ['orders', [['mint', 'abc']], 'the mint is invalid; expected the address of a token'],
  ['orders', [['before', '1']], 'before is invalid; expected the value of next in the answer with the previous page'],
  ['fills', [['before', '1.x']], 'before is invalid; expected the value of next in the answer with the previous page'],
  [
    'positions',
    [['before', "1' OR 1=1"]],
    'before is invalid; expected the value of next in the answer with the previous page',
  ],
  [
    'round-trips',
    [['before', '99999999999999999']],
    'before is invalid; expected the value of next in the answer with the previous page',
  ],
  ['fills', [['bot', '']], 'bot is invalid; expected 1 to 200 characters'],
  ['fills', [['bot', 'x'.repeat(201)]], 'bot is invalid; expected 1 to 200 characters'],
  ['log', [['level', 'loud']], 'level is invalid; expected error, warn, info'],
  [
    'orders',
    [
      ['limit', '1'],
      ['limit', '2'],
    ],
    'limit is given twice',
  ],
  ['orders', [['drop', '1']], 'a parameter is unknown; the parameters are bot, mint, before, limit'],
  ['results', [['x', '1']], 'a parameter is unknown; the parameters are none'],
  ['money', [['mode', 'dollars']], 'mode is invalid; expected live, sandbox, paper, backtest'],
  ['equity', [['points', '1']], 'points is invalid; expected a whole number from 2 to 5000'],
  ['compare', [], 'run is missing; expected the name of a backtest that /api/results lists'],
  ['token/abc', [], 'the mint is invalid; expected the address of a token'],
  ['why/drop table', [], 'the mint is invalid; expected the address of a token'],
] as const)('the API refuses %s with the query %j in one sentence', (path, query, error) => {
  expect(api.refusal(path, query)).toEqual({ status: 400, error })
})

test.each(['', 'nothing', 'orders/1', 'token', 'token/', 'why/o1/2', '__proto__', 'constructor', '../orders'])(
  'the API has no endpoint at the path %j',
  (path) => {
    const expected = path === 'token/' ? 400 : 404
    expect(api.refusal(path, []).status).toBe(expected)
  },
)
