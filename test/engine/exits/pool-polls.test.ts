import { describe, expect, it } from 'vitest'
import type { ExitRules } from '../../../src/engine/exits/exit-settings.ts'
import type { Output } from '../../../src/engine/messages.ts'
import type { Order } from '../../../src/engine/order.ts'
import { NO_MONEY } from '../../../src/engine/recovered-money.ts'
import type { PoolAnswer } from '../../../src/market/pool-price.ts'
import { MINT, MINT_2, orders } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

const EVERY_S = 20
const POLL = { whenStale: { policy: 'poll', afterSeconds: EVERY_S } } as const

/**
 * A bot with a position of 0.1 SOL, bought at 1e-6, whose token has no prints; and a chain whose pool has the price
 * that the test sets.
 */
class Quiet {
  readonly talk: TalkingBot
  slot = 100
  readonly said: Output[] = []

  constructor(exits: ExitRules, money = NO_MONEY) {
    this.talk = new TalkingBot({ exits: { ...POLL, ...exits }, money })
    if (money !== NO_MONEY) return
    this.talk.rig.settle(1e-6)
    this.talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to' }))
    this.talk.rig.fill(orders(this.talk.rig.outputs)[0] as Order, 1e-6)
    this.talk.rig.trade(1e-6)
  }

  /** Fires up to two timers, until one of them requests a reading of the pool. Returns whether one did. */
  ask(): boolean {
    return this.fire() || this.fire()
  }

  /** Fires the next timer. Returns whether it requested a reading of the pool. */
  fire(): boolean {
    const { rig } = this.talk
    const timer = this.#timer
    if (timer === undefined) return false
    rig.now = Math.max(rig.now, timer.at)
    return this.#keep(rig.input({ kind: 'timer', id: timer.id })).some(({ kind }) => kind === 'poll')
  }

  get nextAskAt(): number | undefined {
    return this.#timer?.at
  }

  get #timer(): { id: number; at: number } | undefined {
    const timers = new Map<number, { id: number; at: number; name: string }>()
    for (const output of this.talk.rig.outputs) {
      if (output.kind === 'timer') timers.set(output.timer.id, output.timer)
      if (output.kind === 'timerCleared') timers.delete(output.id)
    }
    return [...timers.values()].find(({ name }) => name.startsWith('poll'))
  }

  answer(answer: PoolAnswer): string[] {
    const outputs = this.talk.rig.input({ kind: 'pool', mint: MINT, answer })
    return this.#keep(outputs).flatMap((output) =>
      output.kind === 'order'
        ? [`${output.order.size.kind} ${output.order.reason.split(':')[0]}`]
        : output.kind === 'alarm'
          ? [output.code]
          : [],
    )
  }

  /** Delivers a reading of the pool with this price. Returns the sales and alarms that follow. */
  read(price: number, more: { slot?: number; ageMs?: number } = {}): string[] {
    const { slot = ++this.slot, ageMs = 1_000 } = more
    const time = this.talk.rig.now - ageMs
    return this.answer({
      slot,
      time,
      lamports: BigInt(Math.round(price * 1e15)),
      tokens: 1_000_000_000_000n,
      decimals: 6,
    })
  }

  /** For each price: waits until the engine requests a reading of the pool, and delivers this price as the reading. */
  rounds(...prices: number[]): string[] {
    return prices.flatMap((price) => (this.ask() ? this.read(price) : ['did not ask']))
  }

  #keep(outputs: readonly Output[]): readonly Output[] {
    this.said.push(...outputs)
    return outputs
  }
}

describe('a held token without prints', () => {
  it.each<[what: string, exits: ExitRules, prices: number[], done: string[]]>([
    [
      'a stop-loss sells at the second reading below its level',
      { stopLossPercent: 20 },
      [0.7e-6, 0.7e-6],
      ['all stop-loss'],
    ],
    ['a single reading below the stop sells nothing', { stopLossPercent: 20 }, [0.7e-6, 1e-6, 1e-6, 0.7e-6, 1e-6], []],
    [
      'a take-profit sells at the second reading above its level',
      { takeProfitPercent: 50 },
      [3e-6, 1.6e-6],
      ['all take-profit'],
    ],
    [
      'a trailing stop sells below a high that several readings show',
      { trailingPercent: 20 },
      [2e-6, 2e-6, 1.5e-6, 1.5e-6],
      ['all trailing stop'],
    ],
    [
      'a trailing stop sells nothing below a high that only one reading shows',
      { trailingPercent: 20 },
      [9e-6, 1e-6, 1e-6],
      [],
    ],
    [
      'a take-profit step sells its share at the second reading above its level',
      { takeProfitSteps: [{ atPercent: 20, sellPercent: 50 }] },
      [1.3e-6, 1.3e-6],
      ['percent take-profit step 1 of 1'],
    ],
    [
      'a stop-loss sells nothing if the price fell too little',
      { stopLossPercent: 20 },
      [0.85e-6, 0.85e-6, 0.85e-6],
      [],
    ],
  ])('%s', (_what, exits, prices, done) => {
    expect(new Quiet(exits).rounds(...prices)).toEqual(done)
  })

  it('the pool of a position is read after afterSeconds without a print, then at this interval, and sooner if the next reading can decide', () => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    const { rig } = quiet.talk
    const printedAt = rig.now
    expect([quiet.ask(), rig.now - printedAt]).toEqual([true, EVERY_S * 1000])
    quiet.read(0.9e-6)
    const first = rig.now
    expect(quiet.ask()).toBe(true)
    expect(rig.now - first).toBeLessThanOrEqual(EVERY_S * 1000)
    expect(rig.now % (EVERY_S * 1000)).toBe(0)
    quiet.read(0.5e-6)
    expect((quiet.nextAskAt as number) - rig.now).toBe(1_000)
  })

  it('the pool of a position is read while the feed is down, even if gaps are reported meanwhile', () => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    const { rig } = quiet.talk
    rig.input({ kind: 'feed', status: 'down', confirmed: [] })
    for (let gap = 0; gap < 3; gap++) {
      rig.now += 8_000
      rig.input({ kind: 'gap', from: rig.now - 8_000, to: rig.now, keys: ['trades'] })
    }
    // The gaps have deleted the earlier prices, and a median needs at least three.
    expect([quiet.ask(), quiet.read(0.5e-6), quiet.rounds(0.5e-6, 0.5e-6)]).toEqual([true, [], ['all stop-loss']])
  })

  it('when the token is traded again, its pool is no longer read, and its prints decide', () => {
    const quiet = new Quiet({ trailingPercent: 20, stopLossPercent: 50 })
    const { rig } = quiet.talk
    rig.now += 15_000
    rig.trade(1e-6)
    expect(quiet.fire()).toBe(false)
    // A reading of the pool set the high of the position. Earlier prints must not count as a fall from this high.
    expect(quiet.rounds(2e-6, 2e-6, 2e-6)).toEqual([])
    expect(orders(rig.settle(2e-6))).toEqual([])
    expect(quiet.read(0.1e-6)).toEqual([])
    expect(orders(rig.settle(1.5e-6)).map(({ reason }) => reason.split(':')[0])).toEqual(['trailing stop'])
  })

  it.each([5, 9, 15, 21] as const)(
    'a single print does not discard earlier readings, with a window of %i prints',
    (windowPrints) => {
      const quiet = new Quiet({ trailingPercent: 20, windowPrints })
      expect(quiet.rounds(2e-6, 2e-6, 2e-6)).toEqual([])
      expect(orders(quiet.talk.rig.trade(2e-6))).toEqual([])
    },
  )

  it('a reading that was not requested, or that was requested before the last print, is ignored', () => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    for (let times = 0; times < 3; times++) expect(quiet.read(0.1e-6)).toEqual([])
    quiet.ask()
    quiet.talk.rig.trade(1e-6)
    for (let times = 0; times < 3; times++) expect(quiet.read(0.1e-6)).toEqual([])
  })

  it('a reading of the same Solana slot as before, or of an older one, does not count', () => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    quiet.ask()
    const { slot } = quiet
    for (const again of [slot, slot, slot - 1]) expect(quiet.read(0.5e-6, { slot: again })).toEqual([])
    expect(quiet.read(0.5e-6, { slot: slot + 1 })).toEqual(['all stop-loss'])
  })

  it('after a single reading with an impossible Solana slot, later readings still count', () => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    quiet.ask()
    expect(quiet.read(1e-6, { slot: Number.MAX_SAFE_INTEGER })).toEqual([])
    const from = quiet.talk.rig.now
    const sold: string[] = []
    while (sold.length === 0 && quiet.talk.rig.now - from < 600_000) sold.push(...quiet.rounds(0.5e-6))
    expect(sold).toEqual(['all stop-loss'])
    expect(quiet.talk.rig.now - from).toBeLessThanOrEqual(100_000)
  })

  it('the token counts as silent while it has too few prints since a gap to have a price', () => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    const { rig } = quiet.talk
    rig.input({ kind: 'gap', from: rig.now - 1, to: rig.now, keys: ['trades'] })
    rig.now += 15_000
    rig.trade(0.5e-6)
    expect([quiet.ask(), quiet.read(0.5e-6), quiet.rounds(0.5e-6)]).toEqual([true, [], []])
    rig.trade(0.5e-6)
    expect(quiet.rounds(0.5e-6)).toEqual(['all stop-loss'])
  })

  it.each([
    ['a reading that is older than the last print is refused', 20_000 + 6_000, ['POOL_BEHIND']],
    ['a reading that is an hour old is refused', 3_600_000, ['POOL_BEHIND']],
    ['a reading is accepted if the clock of the chain is a little behind ours', 20_000 + 4_000, []],
    ['a reading is accepted if the clock of the chain is ahead of ours', -30_000, []],
  ])('%s', (_what, ageMs, said) => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    quiet.ask()
    expect(quiet.read(0.5e-6, { ageMs })).toEqual(said)
  })

  it('a position without a price stays open, each reason is reported once, and the readings continue', () => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    const silent = { code: 'POOL_SILENT', reason: 'RPC 1: no answer' } as const
    const unreadable = { code: 'POOL_UNREADABLE', reason: 'none' } as const
    const answers = [silent, silent, unreadable, unreadable].map((answer) =>
      quiet.ask() ? quiet.answer(answer) : 'not asked',
    )
    expect(answers).toEqual([['POOL_SILENT'], [], ['POOL_UNREADABLE'], []])
    quiet.talk.rig.trade(1e-6)
    expect([quiet.ask(), quiet.answer(unreadable)], 'the next time without an answer is not reported again').toEqual([
      true,
      [],
    ])
    expect(quiet.rounds(0.5e-6, 0.5e-6)).toEqual(['all stop-loss'])
  })

  it('an exit by time sells the position without a reading of its pool', () => {
    const quiet = new Quiet({ maxHoldSeconds: 30 })
    quiet.ask()
    const { rig } = quiet.talk
    rig.now += 30_000
    const hold = rig.outputs.findLast((output) => output.kind === 'timer' && output.timer.name.startsWith('hold'))
    const sold = orders(rig.input({ kind: 'timer', id: (hold as Extract<Output, { kind: 'timer' }>).timer.id }))
    expect(sold.map(({ reason }) => reason)).toEqual(['held for 30 s'])
    expect([quiet.read(0.1e-6), quiet.ask()]).toEqual([[], false])
  })

  it('after a restart, the pool of a position that was restored from the journal is read', () => {
    const before = new Quiet({ stopLossPercent: 20 })
    const recorded = new RecordedMoney()
    for (const output of before.talk.rig.outputs) recorded.output(output)
    const quiet = new Quiet({}, recorded.money())
    expect(quiet.rounds(0.5e-6, 0.5e-6)).toEqual([])
    expect(quiet.rounds(0.5e-6)).toEqual(['all stop-loss'])
  })

  it('readings of the pool trigger a stop order of the strategy', () => {
    const quiet = new Quiet({})
    quiet.talk.ask((bot, token) => bot.stopSell(token, { atPrice: 0.8e-6, percent: 50, reason: 'half' }))
    expect(quiet.rounds(0.7e-6, 0.7e-6)).toEqual(['percent c1 at 7.00000e-7'])
  })

  it('without trades, the value of the position comes from its pool, and is 0 without readings', () => {
    const quiet = new Quiet({})
    const { rig } = quiet.talk
    const profit = (): number | undefined => {
      let sol: number | undefined
      quiet.talk.next = (bot) => {
        sol = bot.budget().profitTodaySol
      }
      rig.trade(1e-6, { mint: MINT_2 })
      return sol
    }
    const before = profit() as number
    quiet.rounds(0.6e-6, 0.6e-6, 0.6e-6)
    expect((profit() as number) - before).toBeCloseTo(-0.04, 2)
    rig.now += 700_000
    expect((profit() as number) - before).toBeLessThan(-0.09)
    expect([quiet.rounds(0.6e-6), ((profit() as number) - before).toFixed(2)]).toEqual([[], '-0.04'])
  })

  it('the stop-loss sells at the price of the readings', () => {
    const quiet = new Quiet({ stopLossPercent: 20 })
    quiet.rounds(0.7e-6, 0.6e-6)
    expect(orders(quiet.said).map(({ price }) => price)).toEqual([0.7e-6])
  })
})

it('positions without the policy `poll` request no readings', () => {
  for (const policy of ['hold', 'flatten'] as const)
    expect(new Quiet({ whenStale: { policy, afterSeconds: 10 } }).nextAskAt).toBeUndefined()
})
