import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { solToLamports } from '../../../src/base/units.ts'
import { accountOf, type Mode } from '../../../src/engine/account.ts'
import { mintRefusal, type TokenChecks } from '../../../src/engine/limits/token-checks.ts'
import type { Order } from '../../../src/engine/order.ts'
import { defineStrategy } from '../../../src/engine/strategy.ts'
import { MINT_TRAITS, type MintFacts } from '../../../src/solana/mint.ts'
import { botSettings, EngineRig, MINT, MINT_2, orders, refusals } from '../../support/engine-rig.ts'

const eager = defineStrategy({
  name: 'eager',
  about: 'requests a buy at every print',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade: (_trade, token) => void bot.buy(token, { sol: 0.1, reason: 'it moved' }),
  }),
})

const FREEZABLE: MintFacts = { program: 'token', traits: ['freezeAuthority'] }

function rigWith(tokenChecks: TokenChecks, mode: Mode = 'live'): EngineRig {
  const account = accountOf(mode, 'test', 'genesis', 'wallet')
  const rig = new EngineRig([eager as never], [{ ...botSettings('eager'), tokenChecks, account }])
  rig.input({ kind: 'wallet', account: account.id, lamports: solToLamports(10), slot: 1 })
  rig.input({ kind: 'gate', account: account.id, open: true })
  return rig
}

test('each trait of a mint has its own error code, and can be allowed separately', () => {
  const all: MintFacts = { program: 'token-2022', traits: MINT_TRAITS }
  const codes = MINT_TRAITS.map((trait) => {
    const others = MINT_TRAITS.filter((other) => other !== trait)
    return mintRefusal(all, { when: 'before', allow: others })?.code
  })
  expect(new Set(codes).size).toBe(MINT_TRAITS.length)
  expect(codes).not.toContain(undefined)
  expect(mintRefusal(all, { when: 'before', allow: MINT_TRAITS })).toBe(undefined)
  expect(mintRefusal(all, { when: 'off', allow: [] })).toBe(undefined)
  expect(mintRefusal({ program: 'none', traits: [] }, { when: 'after', allow: MINT_TRAITS })?.code).toBe('MINT_PROGRAM')
})

describe('a buy of a mint whose account was read', () => {
  const asked = (rig: EngineRig, mint: string): string | undefined =>
    orders(rig.settle(1e-6, mint)).length > 0 ? 'ordered' : refusals(rig.outputs).at(-1)

  test.each<[string, TokenChecks, Mode, string]>([
    ['a buy is refused for a trait that the bot refuses', { when: 'before', allow: [] }, 'live', 'FREEZE_AUTHORITY'],
    [
      'a buy is refused for a trait that the bot refuses, also with when: after',
      { when: 'after', allow: [] },
      'live',
      'FREEZE_AUTHORITY',
    ],
    [
      'a buy is sent for a trait that the bot allows',
      { when: 'before', allow: ['freezeAuthority'] },
      'live',
      'ordered',
    ],
    ['a buy is sent in spite of the trait with when: off', { when: 'off', allow: [] }, 'live', 'ordered'],
    ['a buy on paper is sent in spite of the trait', { when: 'before', allow: [] }, 'paper', 'ordered'],
  ])('%s', (_what, checks, mode, expected) => {
    const rig = rigWith(checks, mode)
    rig.input({ kind: 'mint', mint: MINT, facts: FREEZABLE })
    expect([asked(rig, MINT), asked(rig, MINT_2)]).toEqual([expected, 'ordered'])
  })

  test('after an authority over the mint is given up, a buy is sent', () => {
    const rig = rigWith({ when: 'before', allow: [] })
    rig.input({ kind: 'mint', mint: MINT, facts: FREEZABLE })
    rig.input({ kind: 'mint', mint: MINT, facts: { program: 'token', traits: [] } })
    expect(asked(rig, MINT)).toBe('ordered')
  })
})

describe('a mint that fails its check after the buy', () => {
  function held(checks: TokenChecks, isFilled = true): { rig: EngineRig; order: Order } {
    const rig = rigWith(checks)
    const [order] = orders(rig.settle(1e-6)) as [Order]
    if (isFilled) rig.fill(order, 1e-6)
    return { rig, order }
  }

  test('if a mint fails its check after the buy, the whole position is sold and an alarm is raised', () => {
    const { rig } = held({ when: 'after', allow: [] })
    const outputs = rig.input({ kind: 'mint', mint: MINT, facts: FREEZABLE })
    const reason = expect.stringContaining('FREEZE_AUTHORITY')
    expect(orders(outputs)).toMatchObject([{ side: 'sell', class: 'exit', size: { kind: 'all' }, reason }])
    expect(outputs).toContainEqual(expect.objectContaining({ kind: 'alarm', bot: 'eager', code: 'FREEZE_AUTHORITY' }))
    expect(rig.input({ kind: 'mint', mint: MINT_2, facts: FREEZABLE })).toEqual([])
  })

  test('if a mint fails its check, its open buy is cancelled, and a late fill of this buy is sold', () => {
    const { rig, order } = held({ when: 'after', allow: [] }, false)
    const outputs = rig.input({ kind: 'mint', mint: MINT, facts: FREEZABLE })
    expect(outputs).toContainEqual({ kind: 'cancel', orderId: order.id, code: 'FREEZE_AUTHORITY' })
    expect(orders(rig.fill(order, 1e-6))).toMatchObject([{ side: 'sell', size: { kind: 'all' } }])
  })

  test.each<[string, TokenChecks, MintFacts]>([
    ['without traits', { when: 'after', allow: [] }, { program: 'token', traits: [] }],
    ['allowed', { when: 'after', allow: ['freezeAuthority'] }, FREEZABLE],
    ['a token that was bought before the check was configured is kept', { when: 'before', allow: [] }, FREEZABLE],
    ['off', { when: 'off', allow: [] }, FREEZABLE],
  ])('is held: %s', (_what, checks, facts) => {
    const { rig } = held(checks)
    expect(orders(rig.input({ kind: 'mint', mint: MINT, facts }))).toEqual([])
  })
})
