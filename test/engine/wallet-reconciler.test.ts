import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { lamports, solToLamports } from '../../src/base/units.ts'
import { accountOf } from '../../src/engine/account.ts'
import type { Input } from '../../src/engine/messages.ts'
import type { Order } from '../../src/engine/order.ts'
import { defineStrategy } from '../../src/engine/strategy.ts'
import { botSettings, EngineRig, fillOf, MINT, MINT_2, orders, refusals } from '../support/engine-rig.ts'

const account = accountOf('live', 'test', 'genesis', 'wallet')
const eager = defineStrategy({
  name: 'eager',
  about: 'requests a buy at every print',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade: (_trade, token) => void bot.buy(token, { sol: 0.1, reason: 'it moved' }),
  }),
})

let rig: EngineRig
beforeEach(() => {
  rig = new EngineRig([eager as never], [{ ...botSettings('eager', { exits: { stopLossPercent: 50 } }), account }])
  rig.input({ kind: 'wallet', account: account.id, lamports: solToLamports(10), slot: 1 })
})

const gate = (open: boolean): Input => ({ kind: 'gate', account: account.id, open })
const foreign = (signature: string): Input => ({
  ...{ kind: 'foreign', account: account.id, signature, lamports: lamports(-1) },
})
const asked = (mint = MINT): string | undefined => {
  const outputs = rig.settle(1e-6, mint)
  return orders(outputs).length > 0 ? 'ordered' : refusals(rig.outputs).at(-1) // each refusal is recorded once
}
const alarms = (): string[] =>
  rig.outputs.flatMap((output) => (output.kind === 'alarm' ? [`${output.bot} ${output.code}`.trim()] : []))
const bought = (mint = MINT): Order => {
  rig.input(gate(true))
  rig.settle(1e-6, mint)
  const order = orders(rig.outputs).findLast((one) => one.mint === mint) as Order
  rig.fill(order, 1e-6)
  return order
}
const position = () => rig.outputs.findLast((output) => output.kind === 'position')

describe('an unexpected or double execution', () => {
  const kept = (): boolean | undefined => {
    const last = rig.outputs.findLast((output) => output.kind === 'account')
    return last?.kind === 'account' ? last.money.breached : undefined
  }
  test.each(['LATE_FILL', 'SERVICE_DUPLICATE'] as const)(
    'an execution with the code %s stops the entries of the account until `resume`',
    (code) => {
      const order = bought()
      rig.report(order, 'filled', { code, fill: fillOf(order, 1e-6, rig.now, { signature: 'second' }) })
      expect([kept(), alarms().at(-1)]).toEqual([true, `eager ${code}`])
      expect(asked(MINT_2)).toBe('UNEXPECTED_FILL')
      const [sale] = orders(rig.input({ kind: 'command', command: { name: 'sell', mint: MINT } }))
      expect(sale).toMatchObject({ side: 'sell', size: { kind: 'all' } })
      rig.input({ kind: 'command', command: { name: 'resume' } })
      expect([kept(), asked(MINT_2)]).toEqual([false, 'ordered'])
    },
  )
  test('an unexpected execution stops entries even while it is provisional, and `resume` ends the stop', () => {
    const order = bought()
    rig.input({ ...foreign('second'), attemptId: `${order.id}.1` } as Input)
    rig.input({ ...foreign('third'), attemptId: `${order.id}.1` } as Input)
    expect([kept(), alarms(), asked(MINT_2)]).toEqual([true, ['FOREIGN_TX'], 'UNEXPECTED_FILL'])
    const alarm = rig.outputs.findLast((output) => output.kind === 'alarm')
    expect(alarm).toMatchObject({ reason: expect.stringMatching(/another process may be trading.*`sluice resume`$/i) })
    rig.input({ kind: 'command', command: { name: 'resume' } })
    expect(asked(MINT_2)).toBe('ordered')
  })
  test('if a foreign transaction is later booked as a fill of an order, the operator need not accept it', () => {
    const order = bought()
    rig.input(foreign('second'))
    rig.report(order, 'filled', {
      code: 'SERVICE_DUPLICATE',
      fill: fillOf(order, 1e-6, rig.now, { signature: 'second' }),
    })
    expect(asked(MINT_2)).toBe('UNEXPECTED_FILL')
    rig.input({ kind: 'command', command: { name: 'resume' } })
    expect(asked(MINT_2)).toBe('ordered')
  })
})

describe('a condition that stops entries of every account', () => {
  const low = (open: boolean): Input => ({
    ...{ kind: 'gate', account: '', open, code: 'DISK_LOW' },
    ...(!open && { reason: '5 MiB free: make room' }),
  })
  const say = (name: 'halt' | 'resume'): unknown => rig.input({ kind: 'command', command: { name } })

  test("`resume` does not end a condition that stops entries everywhere; the condition's own input ends it", () => {
    rig.input(gate(true))
    rig.input(low(false))
    expect(asked()).toBe('DISK_LOW')
    expect(rig.outputs.at(-1)).toMatchObject({ kind: 'refused', reason: '5 MiB free: make room' })
    say('resume')
    expect(asked(MINT_2)).toBe('DISK_LOW')
    rig.input(low(true))
    expect(asked()).toBe('ordered')
  })

  test('the end of the condition leaves a halt and other conditions unchanged', () => {
    rig.input(low(false))
    say('halt')
    rig.input(low(true))
    expect(asked()).toBe('HALTED')
    say('resume')
    expect(asked(MINT_2)).toBe('CHAIN_UNREAD')
    rig.input(gate(true))
    expect(asked()).toBe('ordered')
  })
})

describe('the gate', () => {
  test('a live account refuses buys before its wallet was read, and after the RPC has stopped answering', () => {
    expect(asked()).toBe('CHAIN_UNREAD')
    rig.input(gate(true))
    expect(asked()).toBe('ordered')
    rig.input(gate(false))
    expect(asked(MINT_2)).toBe('CHAIN_UNREAD')
  })
  test('sales are accepted even before the wallet was read', () => {
    bought()
    rig.input(gate(false))
    const [sale] = orders(rig.input({ kind: 'command', command: { name: 'sell', mint: MINT } }))
    expect(sale).toMatchObject({ side: 'sell', size: { kind: 'all' } })
  })
})

describe('a foreign transaction', () => {
  test('a foreign transaction stops entries until it is accepted, and each one needs its own acceptance, also across restarts', () => {
    rig.input(gate(true))
    rig.input(foreign('a'))
    rig.input(foreign('b'))
    rig.input(foreign('b'))
    expect(alarms()).toEqual(['FOREIGN_TX', 'FOREIGN_TX'])
    expect(asked()).toBe('FOREIGN_TX')
    rig.input({ kind: 'command', command: { name: 'accept', signature: 'a' } })
    expect(asked()).toBe('FOREIGN_TX')
    rig.input({ kind: 'command', command: { name: 'resume' } })
    expect(asked()).toBe('FOREIGN_TX')
    const money = rig.outputs.findLast((output) => output.kind === 'account')?.money
    expect(money?.foreign).toEqual(['b'])
    rig.input({ kind: 'command', command: { name: 'accept', signature: 'b' } })
    expect(asked()).toBe('ordered')
  })
})

describe('many foreign transactions', () => {
  test('five foreign transactions raise an alarm, and `resume --accept all` accepts all of them', () => {
    rig.input(gate(true))
    for (const signature of 'abcdefgh') rig.input(foreign(signature))
    expect(alarms()).toHaveLength(5)
    rig.input({ kind: 'command', command: { name: 'accept', signature: 'all' } })
    expect(asked()).toBe('ordered')
  })
  test('an acceptance for one wallet does not accept transactions of other wallets', () => {
    rig.input(gate(true))
    rig.input(foreign('a'))
    rig.input({ kind: 'command', command: { name: 'accept', signature: 'all', account: 'another' } })
    expect(asked()).toBe('FOREIGN_TX')
    rig.input({ kind: 'command', command: { name: 'accept', signature: 'all', account: account.id } })
    expect(asked(MINT_2)).toBe('ordered')
  })
  test('the alarm about foreign transactions names the likely cause and what to do', () => {
    rig.input(foreign('a'))
    const alarm = rig.outputs.findLast((output) => output.kind === 'alarm')
    expect(alarm).toMatchObject({ reason: expect.stringContaining('Another process may be trading with this wallet') })
    expect(alarm).toMatchObject({ reason: expect.stringMatching(/`sluice resume --accept a`$/) })
  })
})

describe('only one buy may be open at first after a start', () => {
  const single: Input = { kind: 'gate', account: account.id, open: true, single: true }

  test('after the first buy of a start, the next buy is refused until the wallet allows several', () => {
    rig.input(single)
    expect(asked()).toBe('ordered')
    expect(asked(MINT_2)).toBe('FIRST_BUY')
    rig.input(single)
    rig.fill(orders(rig.outputs)[0] as Order, 1e-6)
    expect(asked(MINT_2)).toBe('FIRST_BUY')
    rig.input(gate(true))
    expect(asked(MINT_2)).toBe('ordered')
  })
  test('if the first buy was not sent, another buy may be sent', () => {
    rig.input(single)
    expect(asked()).toBe('ordered')
    rig.report(orders(rig.outputs)[0] as Order, 'refused', { code: 'LIMIT_WAIT' })
    expect(asked(MINT_2)).toBe('ordered')
  })
})

describe('fewer tokens in the wallet than in the books', () => {
  const deficit = (tokens: bigint): Input => ({ kind: 'deficit', account: account.id, mint: MINT, tokens })

  test("if the wallet has fewer tokens than the books, the position takes the wallet's amount, and only this mint is refused until `resume`", () => {
    bought()
    const before = position()?.position
    rig.input(deficit((before?.tokens ?? 0n) / 4n))
    expect(position()?.position).toMatchObject({ state: 'open', tokens: (before?.tokens ?? 0n) / 4n })
    expect(position()?.position.costLamports).toBeCloseTo((before?.costLamports ?? 0) / 4, -1)
    expect(alarms()).toEqual(['eager QUARANTINED'])
    rig.input({ kind: 'command', command: { name: 'sell', mint: MINT } })
    const sale = orders(rig.outputs).at(-1) as Order
    rig.report(sale, 'failed', { code: 'REVERTED' })
    expect(asked(MINT_2)).toBe('ordered')
  })
  test('if the wallet holds no tokens of a position any more, the position and its exits end', () => {
    bought()
    rig.input(deficit(0n))
    expect(position()?.position).toMatchObject({ state: 'closed', tokens: 0n })
    expect(asked()).toBe('QUARANTINED')
    rig.input({ kind: 'command', command: { name: 'resume' } })
    expect(asked()).toBe('ordered')
  })
  test('a reading changes nothing if the wallet holds enough tokens, or if no bot holds the mint', () => {
    expect(rig.input(deficit(0n))).toEqual([])
    bought()
    expect(rig.input(deficit(10n ** 18n))).toEqual([])
  })
})

describe('adopt', () => {
  const adopt = (more = {}): Input => ({
    ...{ kind: 'adopt', account: account.id, bot: 'eager', mint: MINT, tokens: 2_000_000n, decimals: 6, ...more },
  })

  test('adopting tokens opens a position at the current price, with the exits of its bot', () => {
    rig.settle(1e-6)
    rig.input(adopt())
    expect(position()?.position).toMatchObject({
      ...{ state: 'open', bot: 'eager', tokens: 2_000_000n, decimals: 6, averagePrice: 1e-6 },
      ...{ costLamports: 2_000, exits: { stopLossPercent: 50 } },
    })
    const sale = orders(rig.settle(4e-7)).at(-1)
    expect(sale).toMatchObject({ side: 'sell', mint: MINT, size: { kind: 'all' } })
  })
  test.each([
    ['without a price', adopt({ mint: MINT_2 }), 'PRICE_UNKNOWN'],
    ['by nobody', adopt({ bot: 'nobody' }), 'PRICE_UNKNOWN'],
  ])('is refused %s', (_what, input, code) => {
    rig.settle(1e-6)
    expect(refusals(rig.input(input))).toEqual([code])
  })
  test('adopting tokens is refused for a mint that a bot holds', () => {
    bought()
    expect(refusals(rig.input(adopt()))).toEqual(['MINT_OWNED'])
  })
  test('and a buy are refused for a mint that the bot holds in its former wallet', () => {
    rig.settle(1e-6)
    rig.input(adopt({ account: accountOf('live', 'test', 'genesis', 'former').id }))
    expect(refusals(rig.input(adopt()))).toEqual(['MINT_OWNED'])
    rig.input(gate(true))
    expect([asked(), asked(MINT_2)]).toEqual(['MINT_OWNED', 'ordered'])
  })
})

test.each(['HELD', 'LATE_FILL', 'SERVICE_DUPLICATE', 'REVERSED'] as const)(
  'the report of an order with the code %s raises an alarm',
  (code) => {
    rig.input(gate(true))
    rig.settle(1e-6)
    const [order] = orders(rig.outputs) as [Order]
    rig.report(order, 'working', { code, reason: 'because' })
    expect(alarms()).toEqual([code])
  },
)
