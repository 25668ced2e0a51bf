import { expect, test } from 'vitest'
import { accountOf } from '../../src/engine/account.ts'
import { NO_MONEY } from '../../src/engine/recovered-money.ts'
import { unattended } from '../../src/runtime/start-input.ts'
import { botSettings } from '../support/engine-rig.ts'
import { order, position } from '../support/journal-values.ts'

const LIVE = accountOf('live', 'host', 'genesis', 'wallet')

const held = (account: string, tokens = 5n): Parameters<typeof unattended>[0] => ({
  ...NO_MONEY,
  positions: [position(1, { account, tokens, costLamports: 2e8 as never })],
  orders: [{ order: order(1, { account }), state: 'working' }],
})

test.each([
  ['a live bot that now runs on paper because --live was not given', { mode: 'paper' }],
  ['a live bot that now runs with another wallet', { mode: 'live', wallet: 'another' }],
] as const)('positions of %s are reported at the start', (_what, options) => {
  const [told, ...more] = unattended(held(LIVE.id), [botSettings('dips', options)])
  expect(told).toMatch(
    /^no bot manages live\|host\|genesis\|wallet: 1 positions at a cost of 0\.2 SOL \(\w+\), 1 open orders; .*--live$/,
  )
  expect(more).toEqual([])
})

test('the report about many positions without a bot names the first five positions', () => {
  const positions = Array.from({ length: 7 }, (_, n) => position(n + 1, { account: LIVE.id }))
  const [told] = unattended({ ...NO_MONEY, positions }, [])
  expect(told).toMatch(/: 7 positions at a cost of 0\.35 SOL \((\w+, ){5}\.\.\.\), 0 open orders;/)
})

test.each<[string, Parameters<typeof unattended>[0], string]>([
  ['another bot uses the wallet of the positions', held(LIVE.id), LIVE.id],
  ['the money of the positions is paper money', held(accountOf('paper', 'host', '', 'dips').id), ''],
  [
    'the money of the positions is the money of a sandbox',
    held(accountOf('live', 'sandbox', 'genesis', 'wallet').id),
    '',
  ],
  ['no tokens or open orders are left', { ...held(LIVE.id, 0n), orders: [{ order: order(1), state: 'filled' }] }, ''],
])('positions without their bot are not reported if %s', (_what, money, account) => {
  const bots = account === '' ? [] : [{ ...botSettings('other', { mode: 'live' }), account: LIVE }]
  expect(unattended(money, bots)).toEqual([])
})
