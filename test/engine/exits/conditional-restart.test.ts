import { describe, expect, it } from 'vitest'
import { decodeJson, encodeJson } from '../../../src/base/json.ts'
import { seededRandom } from '../../../src/base/random.ts'
import type { Output } from '../../../src/engine/messages.ts'
import { isOpen, type Order } from '../../../src/engine/order.ts'
import type { RecoveredMoney } from '../../../src/engine/recovered-money.ts'
import type { Bot } from '../../../src/engine/strategy.ts'
import { type BotOptions, type EngineRig, fillOf, MINT, MINT_2 as OTHER, orders } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

// Tests of conditional orders across a restart at any moment. The new process knows only the rows of the journal.

const BUY = { sol: 0.1, reason: 'told to' }
const UNKNOWN = { code: 'ANSWER_LOST', reason: 'ECONNRESET' } as const

function settled(): TalkingBot {
  const talk = new TalkingBot()
  talk.rig.settle(1e-6)
  return talk
}

/** For each process: `recorded`: what its journal contains. `taken`: the number of outputs in its journal. */
const journals = new WeakMap<EngineRig, { recorded: RecordedMoney; taken: number }>()

function journalOf(rig: EngineRig, recorded = new RecordedMoney()): RecordedMoney {
  const known = journals.get(rig) ?? { recorded, taken: 0 }
  journals.set(rig, known)
  for (; known.taken < rig.outputs.length; known.taken++) known.recorded.output(rig.outputs[known.taken] as Output)
  return known.recorded
}

function moneyOf(rig: EngineRig): RecoveredMoney {
  return decodeJson<RecoveredMoney>(encodeJson(journalOf(rig).money()))
}

/** Returns the same bot in a new process on the same journal, `afterMs` later. */
function restarted({ rig }: TalkingBot, afterMs = 0, options: BotOptions = {}): TalkingBot {
  const again = new TalkingBot({ ...options, money: moneyOf(rig), now: rig.now + afterMs })
  journalOf(again.rig, journalOf(rig))
  return again
}

const states = (outputs: readonly Output[]): string[] =>
  outputs.flatMap((output) => (output.kind === 'conditional' ? [`${output.order.id} ${output.order.state}`] : []))

/** Fires the timers of the next `ms` milliseconds in order, and returns the outputs. */
function pass({ rig }: TalkingBot, ms: number): Output[] {
  const until = rig.now + ms
  const given: Output[] = []
  for (;;) {
    const [next] = [...journalOf(rig).timers.values()].sort((one, other) => one.at - other.at)
    if (next === undefined || next.at > until) break
    rig.now = Math.max(rig.now, next.at)
    given.push(...rig.input({ kind: 'timer', id: next.id }))
  }
  rig.now = until
  return given
}

/** Leaves out refusals of waiting orders, because they are reported once, and once more after a restart. */
function acted(output: Output): Output[] {
  if (output.kind === 'refused') return []
  return [output.kind === 'conditional' ? { ...output, order: { ...output.order, code: '' } } : output]
}

describe('1,000 conditional orders', () => {
  const MINTS = Array.from({ length: 25 }, (_none, index) => {
    const letter = 'ABCDEFGHJKLMNPQRSTUVWXYZa'.charAt(index)
    return `6${letter}zphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump`
  })

  /** Places conditional orders of every kind. None is due at a price of 1e-6. */
  function place(bot: Bot<unknown>, count: number, random: () => number): void {
    for (let index = 0; index < count; index++) {
      const mint = MINTS[index % MINTS.length] as string
      const below = { atPrice: (0.8 + random() * 0.15) * 1e-6 }
      const above = { atPrice: (1.05 + random() * 0.15) * 1e-6 }
      const more = {
        ...(random() < 0.3 && { forSeconds: 60 + Math.floor(random() * 600) }),
        ...(random() < 0.3 && { oneCancelsOther: `one ${Math.floor(random() * 200)}` }),
      }
      const isHeld = bot.position(mint) !== undefined
      const placed =
        index % 20 === 19
          ? bot.dca(mint, { ...BUY, everySeconds: 30 + Math.floor(random() * 60), times: 3 })
          : index % 3 === 0 && isHeld
            ? bot.limitSell(mint, { percent: 10, reason: 'a part', ...above, ...more })
            : index % 3 === 1 && isHeld
              ? bot.stopSell(mint, { percent: 10, reason: 'a part', ...below, ...more })
              : bot.limitBuy(mint, { ...BUY, ...below, ...more, scaleIn: true })
      expect(placed.ok).toBe(true)
    }
  }

  /** Plays a random market with a chain that answers every order immediately. Returns the engine's outputs. */
  function live({ rig }: TalkingBot, random: () => number, rows: number): Output[] {
    const given: Output[] = []
    for (let row = 0; row < rows; row++) {
      const mint = MINTS[Math.floor(random() * MINTS.length)] as string
      const price = (0.8 + random() * 0.4) * 1e-6
      const [fills, share] = [random() < 0.8, random()]
      const outputs = [1, 2, 3].flatMap(() => rig.trade(price, { mint }))
      given.push(...outputs)
      for (let out = orders(outputs); out.length > 0; ) {
        const order = out.shift() as Order
        const tokens = BigInt(Math.round(1e10 * (0.2 + share)))
        const fill = fillOf(order, price, rig.now, order.side === 'sell' ? { tokens } : {})
        const proved = order.size.kind === 'all' ? { unproved: 0 } : {}
        const told = fills
          ? rig.report(order, 'filled', { fill, ...proved })
          : rig.report(order, 'expired', { code: 'TTL', ...proved })
        given.push(...told)
        out = [...out, ...orders(told)]
      }
    }
    return given
  }

  it.each([1, 2])('conditional orders act in the same way after a restart at any moment (seed %i)', (seed) => {
    const { next } = seededRandom(seed)
    const options: BotOptions = { paperSol: 1_000, exits: { windowPrints: 5, stopLossPercent: 25 } }
    const talk = new TalkingBot(options)
    for (const mint of MINTS) talk.rig.settle(1e-6, mint)
    for (const mint of MINTS.slice(0, 12)) {
      const [order] = orders(ordered(talk, mint)) as [Order]
      talk.rig.fill(order, 1e-6)
    }
    talk.ask((bot) => place(bot, 1_000, next))
    live(talk, next, Math.floor(next() * 60))
    pass(talk, Math.floor(next() * 90_000))
    for (const mint of MINTS) talk.rig.settle(1e-6, mint)
    for (const { order, state } of moneyOf(talk.rig).orders)
      if (isOpen(state)) talk.rig.report(order, 'expired', { code: 'TTL' })
    const before = moneyOf(talk.rig)
    const again = restarted(talk, 0, options)
    again.rig.seq = talk.rig.seq
    const after = moneyOf(again.rig)
    expect(after).toEqual(before)
    expect(before.conditionals.length).toBeGreaterThan(800)
    // Both engines first receive prices at which nothing is due, and then the same inputs.
    for (const one of [talk, again]) for (const mint of MINTS) one.rig.settle(1e-6, mint)
    const shown = [talk, again].map((one) => one.ask((bot) => bot.orders().map((order) => ({ ...order, code: '' }))))
    expect(shown[1]).toEqual(shown[0])
    const seen = [talk, again].map((one) => live(one, seededRandom(seed + 100).next, 60).flatMap(acted))
    expect(seen[1]).toEqual(seen[0])
    expect(orders(seen[0] ?? []).length).toBeGreaterThan(20)
  })

  function ordered(talk: TalkingBot, mint: string): Output[] {
    const from = talk.rig.outputs.length
    talk.ask((bot) => bot.buy(mint, BUY))
    return talk.rig.outputs.slice(from)
  }
})

describe('a restart in the middle of a schedule', () => {
  const schedule = (): TalkingBot => {
    const talk = settled()
    talk.ask((bot, token) => bot.dca(token, { ...BUY, everySeconds: 60, times: 3 }))
    return talk
  }

  it('a schedule buys the remaining installments after a restart, each at its time, and no others', () => {
    const talk = schedule()
    const [first] = orders(pass(talk, 0)) as [Order]
    talk.rig.fill(first, 1e-6)
    const again = restarted(talk, 20_000)
    again.rig.settle(1e-6)
    const [second] = orders(pass(again, 39_500)) as [Order]
    expect(second.time - first.time).toBe(60_000)
    again.rig.fill(second, 1e-6)
    const last = restarted(again)
    last.rig.settle(1e-6)
    const outputs = pass(last, 600_000)
    expect([orders(outputs).length, states(outputs)]).toEqual([1, ['c1 done']])
  })

  it('a schedule skips all but one of the installments that became due while no process ran', () => {
    const talk = schedule()
    const [first] = orders(pass(talk, 0)) as [Order]
    talk.rig.fill(first, 1e-6)
    const again = restarted(talk, 86_400_000)
    again.rig.settle(1e-6)
    expect(orders(pass(again, 0))).toHaveLength(1)
    expect(orders(pass(again, 50_000))).toEqual([])
  })

  it('after a restart, a schedule does not repeat an installment whose order is undecided', () => {
    const talk = schedule()
    const [first] = orders(pass(talk, 0)) as [Order]
    talk.rig.report(first, 'working', UNKNOWN)
    const again = restarted(talk, 30_000)
    again.rig.settle(1e-6)
    expect(orders(pass(again, 29_000))).toEqual([])
    // The order is still open, so the next installment is skipped.
    expect(orders(pass(again, 2_000))).toEqual([])
    again.rig.fill(first, 1e-6)
    const outputs = pass(again, 600_000)
    expect([orders(outputs).length, states(outputs)]).toEqual([1, ['c1 done']])
  })
})

describe('a restart while one order of a pair is undecided', () => {
  /** Two limit buys in different tokens, which could both buy if they were not in one group. */
  const doubted = (): { again: TalkingBot; order: Order } => {
    const talk = settled()
    talk.rig.settle(1e-6, OTHER)
    const either = { ...BUY, oneCancelsOther: 'either', atPrice: 0.8e-6 }
    talk.ask((bot) => [bot.limitBuy(MINT, either), bot.limitBuy(OTHER, either)])
    const [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    talk.rig.report(order, 'working', UNKNOWN)
    const again = restarted(talk, 5_000)
    expect(again.ask((bot) => bot.orders().map(({ id, state }) => `${id} ${state}`))).toEqual([
      'o1 working',
      'c1 working',
      'c2 waiting',
    ])
    again.rig.settle(0.7e-6, OTHER)
    expect(orders(again.rig.outputs)).toEqual([])
    return { again, order }
  }

  it('the second order of the pair buys once it is proved that the first did not execute', () => {
    const { again, order } = doubted()
    again.rig.report(order, 'not_executed', { code: 'ABSENT' })
    expect(orders(again.rig.settle(0.7e-6, OTHER)).map(({ mint }) => mint)).toEqual([OTHER])
  })

  it('the fill of the first order ends the second one', () => {
    const { again, order } = doubted()
    expect(states(again.rig.fill(order, 0.7e-6))).toEqual(['c1 done', 'c2 cancelled'])
    expect(orders(again.rig.settle(0.6e-6, OTHER))).toEqual([])
  })
})

describe('a restart while the entry of a bracket is undecided', () => {
  const doubted = (): { again: TalkingBot; order: Order } => {
    const talk = settled()
    const ends = { stopPrice: 0.6e-6, takeProfitPrice: 2e-6 }
    talk.ask((bot, token) => bot.bracket(token, { ...BUY, ...ends, atPrice: 0.8e-6, exits: { windowPrints: 5 } }))
    const [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    talk.rig.report(order, 'working', UNKNOWN)
    const again = restarted(talk, 5_000)
    // The price is below the stop, and no position is known.
    again.rig.settle(0.5e-6)
    expect(orders(again.rig.outputs)).toEqual([])
    return { again, order }
  }

  it("the fill of a bracket's entry brings both exits, and an exit that is due sells at the next price", () => {
    const { again, order } = doubted()
    again.rig.fill(order, 0.7e-6)
    const [sale] = orders(again.rig.trade(0.5e-6)) as [Order]
    expect([sale.side, sale.size.kind, sale.reason.split(':')[0]]).toEqual(['sell', 'all', 'stop'])
  })

  it('once it is proved that the entry did not execute, the bracket buys again at its price, with both exits', () => {
    const { again, order } = doubted()
    expect(states(again.rig.report(order, 'not_executed', { code: 'ABSENT' }))).toEqual(['c1 waiting'])
    const [second] = orders([1, 2, 3].flatMap(() => again.rig.trade(0.7e-6, { ms: 2_000 }))) as [Order]
    again.rig.fill(second, 0.7e-6)
    again.rig.settle(2.1e-6)
    expect(orders(again.rig.outputs).at(-1)?.reason).toMatch(/^take-profit/)
  })
})
