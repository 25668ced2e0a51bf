import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lamports } from '../../src/base/units.ts'
import { type BuyOptions, defineStrategy, type SellOptions, type Token } from '../../src/engine/strategy.ts'
import { botSettings, EngineRig, fillOf, MINT, MINT_2, orders, refusals } from '../support/engine-rig.ts'

/** Returns a strategy that requests at every print the sale that `sell` returns, or else a buy with `options`. */
function greedy(options: Partial<BuyOptions> = {}, sell?: (token: Token) => SellOptions | undefined) {
  return defineStrategy({
    name: 'greedy',
    about: 'requests a buy or a sale at every print',
    params: z.object({}),
    keys: ['trades'],
    start: (_params, bot) => ({
      onTrade(_trade, token) {
        const sale = sell?.(token)
        if (sale !== undefined) bot.sell(token, sale)
        else bot.buy(token, { sol: 0.1, reason: 'it moved', ...options })
      },
    }),
  })
}

function rigOf(strategy: ReturnType<typeof greedy>, options: Parameters<typeof botSettings>[1] = {}): EngineRig {
  return new EngineRig([strategy as never], [botSettings('greedy', options)])
}

describe('a buy', () => {
  it('a buy needs a robust price, and becomes only one order, however often it is requested', () => {
    const rig = rigOf(greedy())
    rig.trade(1e-6)
    rig.trade(1e-6)
    expect(orders(rig.outputs)).toEqual([])
    expect(refusals(rig.outputs)).toEqual(['PRICE_UNKNOWN'])
    rig.settle(1e-6)
    expect(orders(rig.outputs)).toHaveLength(1)
    expect(refusals(rig.outputs)).toContain('LANE_BUSY')
  })

  it('a buy reserves its worst cost: the amount with slippage and service fee, the highest priority fee, base fee and rent', () => {
    const rig = rigOf(greedy())
    const [order] = orders(rig.settle(1e-6))
    expect(order?.reserveLamports).toBe(Math.ceil(0.1e9 * 1.05 * 1.01) + 0.01e9 + 5000 + 2_039_280 + 6)
  })

  it('a buy is retried at a higher slippage, unless a loss limit was reached in between', () => {
    const limits = { maxDailyLossLamports: lamports(50_000_000) }
    const rig = rigOf(greedy({ slippageLadder: [5, 10] }), { limits })
    const [first] = orders(rig.settle(1e-6))
    rig.fill(first as never, 1e-6)
    const [second] = orders(rig.settle(1e-6, MINT_2))
    rig.report(second as never, 'accepted', { code: 'SLIPPAGE_EXCEEDED' })
    const cancels = () => rig.outputs.flatMap((output) => (output.kind === 'cancel' ? [output.code] : []))
    expect(cancels()).toEqual([])
    rig.settle(2e-7)
    rig.report(second as never, 'accepted', { code: 'SLIPPAGE_EXCEEDED' })
    expect(cancels()).toEqual(['LOSS_LIMIT'])
  })

  it('a buy has one attempt, or one for each step of the slippage ladder, and reserves the cost of the last step', () => {
    const ladder = [5, 10, 15]
    const own = { orders: { slippageLadder: ladder } }
    const stepsOf = (rig: ReturnType<typeof rigOf>) => orders(rig.settle(1e-6))[0]?.slippagePercents
    expect(stepsOf(rigOf(greedy()))).toEqual([5])
    expect(stepsOf(rigOf(greedy(), own))).toEqual(ladder)
    expect(stepsOf(rigOf(greedy({ slippageLadder: [1, 2] }), own))).toEqual([1, 2])
    expect(stepsOf(rigOf(greedy({ slippagePercent: 7 }), own))).toEqual([7])
    const [order] = orders(rigOf(greedy(), own).settle(1e-6))
    expect(order?.reserveLamports).toBe(Math.ceil(0.1e9 * 1.15 * 1.01) + 0.01e9 + 5000 + 2_039_280 + 6)
  })

  it('the order of a buy is emitted after the position and the subscription that it needs, so one commit contains all three', () => {
    const outputs = rigOf(greedy()).settle(1e-6)
    const kinds = outputs.map(({ kind }) => kind)
    expect(kinds.indexOf('order')).toBeGreaterThan(kinds.indexOf('position'))
    expect(kinds.indexOf('order')).toBeGreaterThan(kinds.indexOf('keys'))
    expect(outputs.find((output) => output.kind === 'keys')).toMatchObject({ want: ['trades', MINT] })
  })

  const refusing: [name: string, code: string, options: Parameters<typeof botSettings>[1], buy: Partial<BuyOptions>][] =
    [
      [
        'of more SOL than the limit per order',
        'ORDER_LIMIT',
        { limits: { maxLamportsPerOrder: 50_000_000 as never } },
        {},
      ],
      [
        'of more SOL than the limit per hour',
        'HOUR_LIMIT',
        { limits: { maxLamportsPerHour: 50_000_000 as never } },
        {},
      ],
      [
        'of more SOL than the limit per token',
        'MINT_LIMIT',
        { limits: { maxLamportsPerMint: 50_000_000 as never } },
        {},
      ],
      ['a buy under a limit of 0 positions', 'POSITIONS_LIMIT', { limits: { maxOpenPositions: 0 } }, {}],
      ['a buy of more SOL than the wallet has', 'BALANCE_LOW', { paperSol: 0.1 }, {}],
      ['a buy of less SOL than the service allows', 'AMOUNT_RANGE', {}, { sol: 0.0001 }],
      ['a buy of more SOL than the plan allows', 'AMOUNT_RANGE', { paperSol: 1000 }, { sol: 101 }],
      ['a buy of an amount of NaN', 'AMOUNT_RANGE', {}, { sol: Number.NaN }],
      ['a buy with a slippage above the range', 'SLIPPAGE_RANGE', {}, { slippagePercent: 51 }],
      ['a buy with a priority fee above the range', 'FEE_RANGE', {}, { priorityFeeSol: 0.02 }],
    ]
  it.each(refusing)('%s is refused with %s', (_name, code, options, buy) => {
    const rig = rigOf(greedy(buy), options)
    rig.settle(1e-6)
    expect(orders(rig.outputs)).toEqual([])
    expect(refusals(rig.outputs)).toContain(code)
  })

  it('a buy is refused for an old event, for a denied mint, while the feed is down, and after a halt', () => {
    const rig = rigOf(greedy())
    rig.settle(1e-6, 'So11111111111111111111111111111111111111112')
    expect(refusals(rig.outputs)).toContain('MINT_DENIED')
    rig.input({ kind: 'feed', status: 'stale', confirmed: [] })
    rig.settle(1e-6)
    expect(refusals(rig.outputs)).toContain('FEED_DOWN')
    rig.input({ kind: 'feed', status: 'live', confirmed: [] })
    rig.trade(1e-6, { lateMs: 5000 })
    expect(refusals(rig.outputs)).toContain('STALE_EVENT')
    rig.input({ kind: 'command', command: { name: 'halt' } })
    rig.trade(1e-6)
    expect(refusals(rig.outputs)).toContain('HALTED')
    expect(orders(rig.outputs)).toEqual([])
    rig.input({ kind: 'command', command: { name: 'resume' } })
    expect(orders(rig.trade(1e-6))).toHaveLength(1)
  })

  it('a buy is cancelled if the price rises too far before it is sent, but not later', () => {
    const rig = rigOf(greedy())
    const [order] = orders(rig.settle(1e-6))
    expect(rig.settle(1.2e-6).some((output) => output.kind === 'cancel')).toBe(true)
    const sent = rigOf(greedy())
    const [other] = orders(sent.settle(1e-6))
    sent.report(other as never, 'working')
    expect(sent.settle(1.2e-6).some((output) => output.kind === 'cancel')).toBe(false)
    expect(order?.price).toBe(1e-6)
  })

  it('a buy of a mint that the bot holds is refused without scaleIn, and a buy of a mint that another bot holds is always refused', () => {
    const rig = rigOf(greedy())
    rig.fill(orders(rig.settle(1e-6))[0] as never, 1e-6)
    rig.trade(1e-6)
    expect(refusals(rig.outputs)).toContain('POSITION_OPEN')

    const adding = rigOf(greedy({ scaleIn: true }))
    adding.fill(orders(adding.settle(1e-6))[0] as never, 1e-6)
    expect(orders(adding.trade(1e-6))).toHaveLength(1)

    const two = new EngineRig(
      [greedy() as never],
      [botSettings('greedy', { name: 'a', wallet: 'w' }), botSettings('greedy', { name: 'b', wallet: 'w' })],
    )
    two.fill(orders(two.settle(1e-6))[0] as never, 1e-6)
    expect(refusals(two.trade(1e-6))).toEqual(['POSITION_OPEN', 'MINT_OWNED'])
  })

  it('a buy that did not execute no longer counts for the hourly limit, but a buy with an unknown outcome does', () => {
    const rig = rigOf(greedy(), { limits: { maxLamportsPerHour: 150_000_000 as never } })
    const [order] = orders(rig.settle(1e-6))
    rig.settle(1e-6, MINT_2)
    expect(refusals(rig.outputs)).toContain('HOUR_LIMIT')
    rig.report(order as never, 'refused', { code: 'LIMIT_WAIT' })
    expect(orders(rig.trade(1e-6))).toHaveLength(1)
  })
})

describe('an exit', () => {
  const once = () => {
    let asked = false
    return defineStrategy({
      name: 'greedy',
      about: 'buys once',
      params: z.object({}),
      keys: ['trades'],
      start: (_params, bot) => ({
        onTrade(_trade, token) {
          if (!asked && token.price !== undefined) asked = bot.buy(token, { sol: 0.1, reason: 'first price' }).ok
        },
      }),
    })
  }
  const opened = (exits: Parameters<typeof botSettings>[1]): { rig: EngineRig; tokens: bigint } => {
    const rig = rigOf(once() as never, exits)
    const [order] = orders(rig.settle(1e-6))
    const fill = fillOf(order as never, 1e-6, rig.now)
    rig.report(order as never, 'filled', { fill })
    return { rig, tokens: fill.tokens }
  }

  const rules: [name: string, exits: object, path: number[], reason: RegExp | undefined][] = [
    ['a stop-loss sells at its level', { stopLossPercent: 20 }, [0.9e-6, 0.85e-6, 0.79e-6], /stop-loss: -21.0 %/],
    ['a stop-loss does not sell above its level', { stopLossPercent: 20 }, [0.9e-6, 0.81e-6], undefined],
    ['a take-profit sells at its level', { takeProfitPercent: 50 }, [1.2e-6, 1.5e-6], /take-profit: \+50.0 %/],
    [
      'a trailing stop sells when the price has fallen far enough from its high',
      { trailingPercent: 15 },
      [1.4e-6, 1.18e-6],
      /trailing stop: -15.7 % from the high/,
    ],
    [
      'a trailing stop also sells if the price only fell since the entry',
      { trailingPercent: 15 },
      [0.84e-6],
      /trailing stop/,
    ],
  ]
  it.each(rules)('%s', (_name, exits, path, reason) => {
    const { rig } = opened({ exits })
    const sells = path.flatMap((price) => orders(rig.settle(price)))
    expect(sells.map(({ side, size, class: kind }) => ({ side, size, kind }))).toEqual(
      reason === undefined ? [] : [{ side: 'sell', size: { kind: 'all' }, kind: 'exit' }],
    )
    if (reason !== undefined) expect(sells[0]?.reason).toMatch(reason)
  })

  it('an exit never sells because of a single outlier', () => {
    const { rig } = opened({ exits: { stopLossPercent: 20, takeProfitPercent: 50, trailingPercent: 10 } })
    expect(orders([0.01, 30, 0.05].flatMap((factor) => [...rig.trade(1e-6 * factor), ...rig.settle(1e-6)]))).toEqual([])
  })

  it('maxHoldSeconds sells a position after this time', () => {
    const { rig } = opened({ exits: { maxHoldSeconds: 60 } })
    const timer = rig.outputs.findLast((output) => output.kind === 'timer')
    if (timer?.kind !== 'timer') throw new Error('no timer')
    rig.now = timer.timer.at
    expect(orders(rig.input({ kind: 'timer', id: timer.timer.id }))[0]?.reason).toBe('held for 60 s')
  })

  it('an exit that fails is retried at higher slippage and with growing delays until the position is sold', () => {
    const { rig, tokens } = opened({ exits: { stopLossPercent: 20 } })
    let [exit] = orders(rig.settle(0.5e-6))
    const ladders: (readonly number[] | undefined)[] = []
    const waits: number[] = []
    for (let round = 0; round < 6; round++) {
      ladders.push(exit?.slippagePercents)
      const timer = rig
        .report(exit as never, 'failed', { code: 'SLIPPAGE_EXCEEDED' })
        .find((output) => output.kind === 'timer')
      if (timer?.kind !== 'timer') throw new Error('no retry')
      waits.push(timer.timer.at - rig.now)
      rig.now = timer.timer.at
      ;[exit] = orders(rig.input({ kind: 'timer', id: timer.timer.id }))
    }
    expect(ladders).toEqual([[5, 15, 30, 50], [15, 30, 50], [30, 50], [50], [50], [50]])
    expect(waits).toEqual([3000, 6000, 12_000, 24_000, 48_000, 96_000])
    const fill = fillOf(exit as never, 0.5e-6, rig.now, { tokens })
    const position = rig.report(exit as never, 'filled', { fill }).findLast((output) => output.kind === 'position')
    expect(position).toMatchObject({ position: { state: 'closed', tokens: 0n, realizedLamports: -50_000_000 } })
  })

  it('a full exit may be sent again after 3 s without proof of its last attempt, and reserves the fees of five attempts', () => {
    const { rig } = opened({ exits: { stopLossPercent: 20 } })
    const [exit] = orders(rig.settle(0.5e-6))
    expect(exit).toMatchObject({ repeatMs: 3_000, reserveLamports: 5 * (10_000_000 + 5_000 + 6) })
  })
})

describe('a fill', () => {
  it('a fill is booked once, however often it is reported, and a reversal removes it', () => {
    const rig = rigOf(greedy())
    const [order] = orders(rig.settle(1e-6))
    rig.fill(order as never, 1e-6, { final: false })
    const again = rig.fill(order as never, 1e-6, { final: true })
    expect(again.some((output) => output.kind === 'position')).toBe(false)
    const account = rig.outputs.findLast((output) => output.kind === 'account')
    expect(account).toMatchObject({ money: { lamports: 10e9 - 0.1e9 - 5000 } })
    const reversed = rig.report(order as never, 'working', { reversed: `signature-${order?.id}` })
    expect(reversed.findLast((output) => output.kind === 'account')).toMatchObject({ money: { lamports: 10e9 } })
    expect(reversed.findLast((output) => output.kind === 'position')).toMatchObject({
      position: { tokens: 0n, state: 'opening' },
    })
  })

  it("a fill with another order of magnitude than the feed's price halts entries with an alarm, and a paper fill proves nothing", () => {
    const live = rigOf(greedy({ scaleIn: true }), { mode: 'live' })
    const { id: account } = botSettings('greedy', { mode: 'live' }).account
    live.input({ kind: 'wallet', account, lamports: lamports(10e9), slot: 1 })
    live.input({ kind: 'gate', account, open: true })
    const [order] = orders(live.settle(1e-6))
    const outputs = live.fill(order as never, 1e-3)
    expect(outputs).toContainEqual(expect.objectContaining({ kind: 'alarm', code: 'UNIT_CONTRADICTED' }))
    live.trade(1e-6)
    expect(refusals(live.outputs)).toContain('UNIT_CONTRADICTED')

    const paper = rigOf(greedy({ scaleIn: true }))
    const [bought] = orders(paper.settle(1e-6))
    expect(paper.fill(bought as never, 1e-3).map(({ kind }) => kind)).not.toContain('alarm')
  })

  it('the fills of each account are kept separately, the last 500 of each', () => {
    const seen: number[] = []
    const size = { kind: 'sol', lamports: 1e6 }
    const watcher = defineStrategy({
      name: 'watcher',
      about: '',
      params: z.object({}),
      keys: ['trades'],
      start: (_params, bot) => ({ onSignal: () => seen.push(bot.fills().length) }),
    })
    const bots = [botSettings('watcher', { name: 'quiet' }), botSettings('watcher', { name: 'busy' })]
    const rig = new EngineRig([watcher as never], bots)
    const [quiet, busy] = bots.map(({ name, account }) => ({
      bot: name,
      account: account.id,
      mint: MINT,
      side: 'buy',
      size,
    }))
    const bought = (owner: typeof quiet, id: string) => rig.fill({ id, ...owner } as never, 1e-6)
    bought(quiet, 'o1')
    for (let order = 2; order < 600; order++) bought(busy, `o${order}`)
    rig.input({ kind: 'command', command: { name: 'signal', signal: 'look', data: null } })
    expect(seen).toEqual([1, 100])
  })
})

describe('a strategy', () => {
  it('after a strategy threw an error, its bot only closes positions, and the other strategies continue', () => {
    const broken = defineStrategy({
      name: 'broken',
      about: '',
      params: z.object({}),
      keys: ['trades'],
      start: () => ({
        onTrade: () => {
          throw new TypeError('no such field')
        },
      }),
    })
    const rig = new EngineRig([broken as never, greedy() as never], [botSettings('broken'), botSettings('greedy')])
    const outputs = rig.settle(1e-6)
    expect(outputs).toContainEqual({
      kind: 'alarm',
      bot: 'broken',
      code: 'STRATEGY_THREW',
      reason: 'TypeError: no such field',
    })
    expect(outputs.filter((output) => output.kind === 'alarm')).toHaveLength(1)
    expect(orders(outputs)).toMatchObject([{ bot: 'greedy' }])
  })

  it('a strategy receives only events of its own keys, even if another bot holds the mint', () => {
    const seen: string[] = []
    const watching = defineStrategy({
      name: 'watching',
      about: '',
      params: z.object({}),
      keys: ['newTokens'],
      start: (_params, bot) => ({
        onNewToken: (event) => {
          seen.push(`new ${event.mint}`)
          bot.watch(MINT_2)
        },
        onTrade: (trade) => {
          seen.push(`trade ${trade.mint}`)
        },
      }),
    })
    const rig = new EngineRig([watching as never, greedy() as never], [botSettings('watching'), botSettings('greedy')])
    rig.settle(1e-6)
    rig.newToken(MINT)
    rig.trade(1e-6, { mint: MINT_2 })
    expect(seen).toEqual([`new ${MINT}`, `trade ${MINT_2}`])
  })

  it('requests of a strategy during its warm-up have no effect, and prices of the warm-up trigger nothing', () => {
    const rig = rigOf(greedy())
    for (let index = 0; index < 5; index++) {
      rig.block.append(
        rig.now,
        rig.now,
        0,
        rig.mints.intern(MINT),
        { price: 1e-6, amount: 1, size: 1e6, marketCap: 1, extra: 0, extra2: 0 },
        '',
        '',
      )
      rig.engine.warm(rig.block, index)
    }
    expect(rig.engine.outputs).toEqual([])
    expect(orders(rig.trade(1e-6))).toEqual([])
    expect(refusals(rig.outputs)).toEqual(['PRICE_UNKNOWN'])
  })
})
