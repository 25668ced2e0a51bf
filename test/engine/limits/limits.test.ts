import { describe, expect, it, vi } from 'vitest'
import { lamports, solToLamports } from '../../../src/base/units.ts'
import { newPosition } from '../../../src/engine/accounting/position.ts'
import { dueExit } from '../../../src/engine/exits/due-exit.ts'
import { EXITS } from '../../../src/engine/exits/exit-rules.ts'
import type { ExitRules } from '../../../src/engine/exits/exit-settings.ts'
import { checkLimits, NO_LIMITS } from '../../../src/engine/limits/limit-rules.ts'
import { checkRanges, sellCost, worstCost } from '../../../src/engine/limits/order-bounds.ts'
import type { Order } from '../../../src/engine/order.ts'
import { NO_MONEY, type Timer } from '../../../src/engine/recovered-money.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../../../src/solana/constants.ts'
import { MOST_ROUNDING } from '../../../src/solana/rounding.ts'
import { botSettings, fillOf, MINT, orders, startInput } from '../../support/engine-rig.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

const reason = 'told to'
const DAY = 86_400_000

describe('checkLimits', () => {
  const sol = solToLamports
  const now = 20_000 * DAY + 14 * 3_600_000
  const none = {
    amount: sol(0.1),
    ...{
      section: 'limits',
      now,
      slippagePercent: 10,
      openPositions: 0,
      newPosition: true,
      mintLamports: 0,
      creatorLamports: 0,
    },
    ...{ exposureLamports: 0, hourLamports: 0, todayLamports: 0, hourFreesAt: () => now + 100_000 },
    ...{ resultLamports: 0, drawdownLamports: 0, unknownPositions: () => 0, deadPositions: () => 0, pausedUntil: 0 },
  }
  const tables: [name: string, limits: object, exposure: object, code: string | undefined][] = [
    ['a buy of exactly maxLamportsPerOrder passes', { maxLamportsPerOrder: sol(0.1) }, {}, undefined],
    [
      'a buy one lamport above maxLamportsPerOrder is refused',
      { maxLamportsPerOrder: lamports(99_999_999) },
      {},
      'ORDER_LIMIT',
    ],
    [
      'a buy that uses up the hourly limit passes',
      { maxLamportsPerHour: sol(0.3) },
      { hourLamports: sol(0.2) },
      undefined,
    ],
    [
      'a buy that exceeds the hourly limit is refused',
      { maxLamportsPerHour: sol(0.3) },
      { hourLamports: sol(0.2) + 1 },
      'HOUR_LIMIT',
    ],
    ['a buy that opens the last allowed position passes', { maxOpenPositions: 2 }, { openPositions: 1 }, undefined],
    [
      'a buy that opens one position too many is refused',
      { maxOpenPositions: 2 },
      { openPositions: 2 },
      'POSITIONS_LIMIT',
    ],
    [
      'a buy that adds to a position passes',
      { maxOpenPositions: 2 },
      { openPositions: 2, newPosition: false },
      undefined,
    ],
    ['a buy up to the limit per mint passes', { maxLamportsPerMint: sol(0.2) }, { mintLamports: sol(0.1) }, undefined],
    [
      'a buy beyond the limit per mint is refused',
      { maxLamportsPerMint: sol(0.2) },
      { mintLamports: sol(0.1) + 1 },
      'MINT_LIMIT',
    ],
    [
      'a loss below the daily limit passes',
      { maxDailyLossLamports: sol(0.5) },
      { resultLamports: -sol(0.5) + 1 },
      undefined,
    ],
    [
      'a loss of exactly the daily limit refuses buys',
      { maxDailyLossLamports: sol(0.5) },
      { resultLamports: -sol(0.5) },
      'LOSS_LIMIT',
    ],
    [
      'a buy that uses up the daily limit passes',
      { maxLamportsPerDay: sol(1) },
      { todayLamports: sol(0.9) },
      undefined,
    ],
    [
      'a buy that exceeds the daily limit is refused',
      { maxLamportsPerDay: sol(1) },
      { todayLamports: sol(0.9) + 1 },
      'DAY_LIMIT',
    ],
    [
      'a buy up to the limit per creator passes',
      { maxLamportsPerCreator: sol(1) },
      { creatorLamports: sol(0.9) },
      undefined,
    ],
    [
      'a buy beyond the limit per creator is refused',
      { maxLamportsPerCreator: sol(1) },
      { creatorLamports: sol(0.9) + 1 },
      'CREATOR_LIMIT',
    ],
    [
      'a buy up to the exposure limit passes',
      { maxExposureLamports: sol(1) },
      { exposureLamports: sol(0.9) },
      undefined,
    ],
    [
      'a buy beyond the exposure limit is refused',
      { maxExposureLamports: sol(1) },
      { exposureLamports: sol(0.9) + 1 },
      'EXPOSURE_LIMIT',
    ],
    ['a drawdown below its limit passes', { maxDrawdownLamports: sol(1) }, { drawdownLamports: sol(1) - 1 }, undefined],
    [
      'a drawdown of exactly its limit refuses buys',
      { maxDrawdownLamports: sol(1) },
      { drawdownLamports: sol(1) },
      'DRAWDOWN_LIMIT',
    ],
    ['a losing-streak pause refuses buys', { maxLosingStreak: 3 }, { pausedUntil: now + 1 }, 'LOSING_STREAK'],
    ['a pause that has ended refuses nothing', { maxLosingStreak: 3 }, { pausedUntil: now }, undefined],
  ]
  it.each(tables)('%s', (_name, limits, exposure, code) => {
    const veto = checkLimits({ ...NO_LIMITS, ...limits }, { ...none, ...exposure })
    expect(veto?.code).toBe(code)
  })

  const veto = (limits: object, use: object): string | undefined =>
    checkLimits({ ...NO_LIMITS, ...limits }, { ...none, ...use })?.reason
  it('a refusal names the limit, how much of it is used, and the time at which there is room again', () => {
    expect(veto({ maxLamportsPerHour: sol(1) }, { hourLamports: sol(0.95) })).toBe(
      '0.95 of 1 SOL per hour are used (limits.maxSolPerHour); a buy of 0.1 SOL fits at 14:01:40 UTC (in 2 min)',
    )
    expect(veto({ maxLamportsPerHour: sol(0.05) }, { hourFreesAt: () => undefined })).toMatch(
      /; a buy of 0.1 SOL never fits$/,
    )
    expect(veto({ maxLamportsPerDay: sol(1) }, { todayLamports: sol(1), section: 'wallet.limits' })).toBe(
      '1 of 1 SOL per day are used (wallet.limits.maxSolPerDay); resets at 00:00:00 UTC (in 10 h)',
    )
    expect(veto({ maxLamportsPerCreator: sol(0.3) }, { creatorLamports: sol(0.25) })).toBe(
      '0.25 of 0.3 SOL are at risk in tokens of its creator (limits.maxSolPerCreator), so a buy of 0.1 SOL does not fit; sell first',
    )
    expect(veto({ maxDrawdownLamports: sol(1) }, { drawdownLamports: sol(1.2), unknownPositions: () => 1 })).toBe(
      'the result is 1.2 SOL below its highest realized value, the limit is 1 (limits.maxDrawdownSol); entries resume when it recovers, or with `sluice resume`; 1 held token has no price since the start or a gap and counts as worthless',
    )
    expect(veto({ maxLosingStreak: 3 }, { pausedUntil: now + 5_400_000 })).toBe(
      'too many losses in a row (limits.maxLosingStreak); entries resume at 15:30:00 UTC (in 1 h 30 min)',
    )
  })
})

describe('checkRanges', () => {
  const { plan } = startInput([])
  const tables: [name: string, sol: number, orders: object, code: string | undefined][] = [
    ['the smallest buy that the service allows passes', 0.001, {}, undefined],
    ['a buy below the smallest allowed one is refused', 0.000_999_999, {}, 'AMOUNT_RANGE'],
    ['the largest buy of the plan passes', 100, {}, undefined],
    ['a buy above the largest one of the plan is refused', 100.000_000_001, {}, 'AMOUNT_RANGE'],
    ['slippage of 0.1 % passes', 1, { slippagePercent: 0.1 }, undefined],
    ['slippage below 0.1 % is refused', 1, { slippagePercent: 0.09 }, 'SLIPPAGE_RANGE'],
    ['slippage of 50 % passes', 1, { slippagePercent: 50 }, undefined],
    ['slippage above 50 % is refused', 1, { slippagePercent: 50.1 }, 'SLIPPAGE_RANGE'],
    ['a slippage of NaN is refused', 1, { slippagePercent: Number.NaN }, 'SLIPPAGE_RANGE'],
    ['the lowest priority fee passes', 1, { priorityFeeLamports: lamports(10_000) }, undefined],
    [
      'a priority fee below the lowest allowed one is refused',
      1,
      { priorityFeeLamports: lamports(9_999) },
      'FEE_RANGE',
    ],
    ['the highest priority fee passes', 1, { priorityFeeLamports: lamports(10_000_000) }, undefined],
    [
      'a priority fee above the highest allowed one is refused',
      1,
      { priorityFeeLamports: lamports(10_000_001) },
      'FEE_RANGE',
    ],
  ]
  it.each(tables)('%s', (_name, sol, more, code) => {
    expect(
      checkRanges(solToLamports(sol), { slippagePercent: 5, priorityFeeLamports: null, ...more }, plan)?.code,
    ).toBe(code)
  })

  it('the worst-case cost of a buy includes slippage, fees and rent, and that of a sale only fees', () => {
    expect(worstCost(solToLamports(1), 10, lamports(50_000))).toBe(
      1.1e9 * 1.01 + 50_000 + BASE_FEE + TOKEN_ACCOUNT_RENT + MOST_ROUNDING,
    )
    expect(worstCost(lamports(3), 0, lamports(0))).toBe(4 + BASE_FEE + TOKEN_ACCOUNT_RENT + MOST_ROUNDING) // rounded up
    expect(sellCost(null)).toBe(10_000_000 + BASE_FEE + MOST_ROUNDING)
  })
})

describe('the exit that is due', () => {
  const all: ExitRules = { stopLossPercent: 20, takeProfitPercent: 50, trailingPercent: 10 }
  const tables: [
    name: string,
    rules: ExitRules,
    average: number,
    high: number,
    price: number,
    why: string | undefined,
  ][] = [
    [
      'a stop-loss is due at its level',
      { stopLossPercent: 20 },
      1,
      1,
      0.8,
      'stop-loss: -20.0 % from the average price',
    ],
    ['a stop-loss is not due above its level', { stopLossPercent: 20 }, 1, 1, 0.800_001, undefined],
    [
      'a take-profit is due at its level',
      { takeProfitPercent: 50 },
      1,
      1,
      1.5,
      'take-profit: +50.0 % from the average price',
    ],
    ['a take-profit is not due below its level', { takeProfitPercent: 50 }, 1, 1, 1.499_999, undefined],
    [
      'a trailing stop is due at its level',
      { trailingPercent: 50 },
      1,
      4,
      2,
      'trailing stop: -50.0 % from the high, +100.0 % from the average price',
    ],
    ['a trailing stop is not due above its level', { trailingPercent: 50 }, 1, 4, 2.000_001, undefined],
    [
      'if both are due, the stop-loss comes before the trailing stop',
      all,
      1,
      1,
      0.5,
      'stop-loss: -50.0 % from the average price',
    ],
    [
      'if both are due, the trailing stop comes before the take-profit',
      all,
      1,
      10,
      2,
      'trailing stop: -80.0 % from the high, +100.0 % from the average price',
    ],
    ['without exits, none is due', {}, 1, 10, 0.001, undefined],
    ['no exit is due for tokens that cost nothing', { stopLossPercent: 20, takeProfitPercent: 50 }, 0, 1, 1, undefined],
  ]
  it.each(tables)('%s', (_name, rules, average, high, price, why) => {
    expect(dueExit(rules, average, high, price, 0)).toBe(why)
  })

  it.each([
    ['takeProfitByAge sells nothing before the lowest age', 9_999, 9, undefined],
    [
      'takeProfitByAge sells at its target from the lowest age on',
      10_000,
      1.5,
      '+50.0 % from the average price, at least 50 % after 10 s',
    ],
    ['takeProfitByAge sells nothing below the target', 59_999, 1.49, undefined],
    [
      'takeProfitByAge sells at the next target from the next age on',
      60_000,
      1.2,
      '+20.0 % from the average price, at least 20 % after 60 s',
    ],
    ['takeProfitByAge sells nothing below the next target', 119_999, 1.199, undefined],
    [
      'takeProfitByAge with a target of 0 % sells at the average price',
      120_000,
      1,
      '0.0 % from the average price, at least 0 % after 120 s',
    ],
    ['takeProfitByAge with a target of 0 % sells nothing below the average price', 900_000, 0.999, undefined],
    [
      'if both are due, takeProfitPercent comes before takeProfitByAge',
      60_000,
      2,
      undefined,
      'take-profit: +100.0 % from the average price',
    ],
  ])('%s', (_name, ageMs, price, why, first?: string) => {
    const rules: ExitRules = { takeProfitByAge: { 120: 0, 10: 50, 60: 20 }, ...(first && { takeProfitPercent: 100 }) }
    expect(dueExit(rules, 1, price, price, ageMs)).toBe(first ?? (why && `take-profit by age: ${why}`))
    expect(dueExit({ takeProfitByAge: { 0: 0 } }, 0, 1, 1, ageMs)).toBe(undefined)
  })

  const deciding = Object.entries(EXITS).filter(([, row]) => 'due' in row)
  it.each(deciding)('the exit %s is checked at every price', (_name, row) => {
    const due = vi.spyOn(row as { due: typeof dueExit }, 'due').mockReturnValue('due')
    expect(dueExit({}, 1, 1, 1, 0)).toBe('due')
    due.mockRestore()
  })

  /** Returns a bot that holds tokens, bought with 0.1 SOL at 1e-6. */
  function holding(options: object): TalkingBot {
    const talk = new TalkingBot(options)
    talk.rig.settle(1e-6)
    talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason }))
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
    return talk
  }
  const timersOf = (talk: TalkingBot) => talk.rig.outputs.flatMap((one) => (one.kind === 'timer' ? [one.timer] : []))

  it('an exit by maxHoldSeconds that becomes due during a partial sale is sent after this sale', () => {
    const talk = holding({ exits: { maxHoldSeconds: 60 } })
    talk.ask((bot, token) => bot.sell(token, { percent: 50, reason }))
    const half = orders(talk.rig.outputs)[1] as Order
    talk.rig.report(half, 'working')
    const timer = timersOf(talk)[0] as Timer
    talk.rig.now = timer.at
    const told = talk.rig.input({ kind: 'timer', id: timer.id })
    const exits = [...orders(told), ...orders(talk.rig.report(half, 'failed'))]
    expect(exits).toMatchObject([{ size: { kind: 'all' }, reason: 'held for 60 s' }])
  })

  it('if the bot of a position is no longer configured, another bot of its wallet sends the exits', () => {
    const gone = { account: botSettings('told', { wallet: 'w' }).account.id, bot: 'gone', mint: MINT }
    const held = {
      ...newPosition(gone, 1_780_000_000_000 - 50_000, { stopLossPercent: 20, maxHoldSeconds: 60 }),
      ...{ tokens: 1_000_000n, costLamports: lamports(1_000), averagePrice: 1e-6, highPrice: 1e-6 },
      state: 'open' as const,
    }
    const talk = new TalkingBot({ wallet: 'w', money: { ...NO_MONEY, positions: [held] } })
    expect(timersOf(talk)).toMatchObject([{ bot: 'gone', name: `hold:${MINT}`, at: held.openedAt + 60_000 }])
    expect(orders(talk.rig.settle(0.5e-6))).toMatchObject([{ bot: 'gone', side: 'sell', size: { kind: 'all' } }])
  })

  it('a restart sends an exit that is due, and closes a position whose opening order does not exist', () => {
    const owner = { account: botSettings('told').account.id, bot: 'told', mint: MINT }
    const closing = {
      ...newPosition(owner, 0, { stopLossPercent: 20 }),
      state: 'closing' as const,
      tokens: 5n,
      averagePrice: 1e-6,
    }
    const talk = new TalkingBot({ money: { ...NO_MONEY, positions: [closing] } })
    expect(orders(talk.rig.settle(0.5e-6))).toHaveLength(1)
    const opening = new TalkingBot({ money: { ...NO_MONEY, positions: [newPosition(owner, 0, {})] } })
    expect(opening.rig.outputs).toContainEqual(
      expect.objectContaining({ position: expect.objectContaining({ state: 'closed' }) }),
    )
    expect(opening.ask((bot) => bot.positions())).toEqual([])
  })

  it('a strategy can neither cancel an exit nor change its rules through shared objects', () => {
    const talk = holding({ exits: { stopLossPercent: 20 } })
    const mine = { stopLossPercent: 30, windowPrints: 5 as const }
    talk.ask((bot, token) => bot.setExits(token, mine))
    mine.stopLossPercent = 99
    talk.ask((bot) => Object.assign(bot.position(MINT)?.exits as object, { stopLossPercent: 98 }))
    const [exit] = orders(talk.rig.settle(0.6e-6)) as [Order]
    expect(exit.reason).toMatch(/^stop-loss/)
    expect(talk.ask((bot) => bot.cancel(exit.id))).toBe(false)
  })
})

describe('the result of the UTC day', () => {
  const MIDNIGHT = Math.ceil(1_780_000_000_000 / DAY) * DAY
  const limits = { maxDailyLossLamports: solToLamports(0.05) as never }

  /** Returns a bot that holds tokens, bought with 0.1 SOL at 1e-6 a minute before midnight. */
  function evening(): TalkingBot {
    const talk = new TalkingBot({ limits })
    talk.rig.now = MIDNIGHT - 60_000
    talk.rig.settle(1e-6)
    talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason }))
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
    return talk
  }
  const profit = (talk: TalkingBot, price: number) => talk.ask((bot) => bot.budget().profitTodaySol, price)

  it('the result of a UTC day begins with the value of the positions at midnight, even if it is first computed at noon', () => {
    const talk = evening()
    talk.rig.settle(0.5e-6)
    expect(profit(talk, 0.5e-6)).toBeLessThan(-0.04)
    talk.rig.now = MIDNIGHT
    talk.rig.trade(0.5e-6)
    talk.rig.now = MIDNIGHT + DAY / 2
    expect(profit(talk, 0.5e-6)).toBeCloseTo(0, 9)
    talk.rig.settle(0.25e-6)
    expect(profit(talk, 0.25e-6)).toBeLessThan(-0.02)
  })

  it('the result of a day includes losses from before the first buy of the day', () => {
    const talk = evening()
    talk.rig.now = MIDNIGHT + 1_000
    talk.ask((bot, token) => bot.sell(token, { all: true, reason }))
    const sale = orders(talk.rig.outputs)[1] as Order
    const fill = fillOf(sale, 0.3e-6, talk.rig.now, { tokens: 100_000_000_000n })
    talk.rig.report(sale, 'filled', { fill })
    const placed = talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason }))
    expect(placed).toMatchObject({ ok: false, code: 'LOSS_LIMIT' })
  })

  it('after a restart, prices that are still unknown cause no gain of the day', () => {
    const talk = evening()
    const held = talk.rig.outputs.findLast((output) => output.kind === 'position')?.position as never
    const again = new TalkingBot({ limits, money: { ...NO_MONEY, positions: [held] } })
    again.rig.now = MIDNIGHT
    again.rig.settle(0.3e-6)
    expect(profit(again, 0.3e-6)).toBeLessThan(-0.06)
    expect(again.ask((bot, token) => bot.buy(token, { sol: 0.1, reason, scaleIn: true }), 0.3e-6)).toMatchObject({
      code: 'LOSS_LIMIT',
    })
  })

  it('the result of a day stays finite at a price that no pool can pay', () => {
    const talk = evening()
    talk.rig.settle(9e8)
    expect(profit(talk, 9e8)).toBeGreaterThan(0)
    talk.rig.now = MIDNIGHT + 5
    expect(() => talk.rig.trade(9e8)).not.toThrow()
  })

  it('a halt also applies to accounts that are added later', () => {
    const account = { account: 'paper|test||other', lamports: lamports(1), slot: 0, halted: true }
    const talk = new TalkingBot({ money: { ...NO_MONEY, accounts: [account] } })
    talk.rig.settle(1e-6)
    expect(talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason }))).toMatchObject({ code: 'HALTED' })
  })
})
