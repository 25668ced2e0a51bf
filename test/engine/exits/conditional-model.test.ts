import { expect, it } from 'vitest'
import { z } from 'zod'
import { decodeJson, encodeJson } from '../../../src/base/json.ts'
import { type Random, seededRandom } from '../../../src/base/random.ts'
import type { Output } from '../../../src/engine/messages.ts'
import { isFullExit, type Order } from '../../../src/engine/order.ts'
import type { Timer } from '../../../src/engine/recovered-money.ts'
import { defineStrategy } from '../../../src/engine/strategy.ts'
import type { ReferenceExits, Wish } from '../../support/conditional-reference.ts'
import { botSettings, EngineRig, fillOf, orders } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { type Expected, ReferenceRun } from '../../support/reference-run.ts'
import { runs } from '../../support/runs.ts'
import type { Answers } from '../../support/sales-model.ts'

const RUNS = runs(100)
const SEED = Number(process.env.SLUICE_SEED ?? 1)

const LADDER = { slippageLadder: [5, 15, 30, 50], retryMs: 3_000 } as const
/** The ways in which a sale can end without a fill. */
const FAILURES = [
  ['refused', 'RATE_LIMIT_EXCEEDED'],
  ['expired', 'TTL'],
  ['failed', 'SLIPPAGE_EXCEEDED'],
  ['failed', 'REVERTED'],
  ['not_executed', 'ABSENT'],
] as const

/**
 * Returns exits with odd shares and times, so that no price equals a level exactly and no two timers are due at the
 * same time.
 */
function exitsOf(random: Random): ReferenceExits {
  const one = (most: number): number => 3.7 + Math.floor(random.next() * most) * 1.37
  const step = one(15)
  return {
    ...{ stopLossPercent: one(20), trailingPercent: one(20), trailingArmPercent: one(15), breakEvenAtPercent: one(15) },
    ...{
      takeProfitPercent: 61.3,
      maxHoldSeconds: 20.011 + random.integer(60),
      idleSeconds: 4.003 + random.integer(20),
    },
    takeProfitByAge: { 0: 58.3, [2 + random.integer(6)]: one(30), [10 + random.integer(9)]: 0.37 },
    takeProfitSteps: [
      { atPercent: step, sellPercent: 20 + Math.floor(random.next() * 20) },
      { atPercent: step + 10.9, sellPercent: 20 + Math.floor(random.next() * 40) },
    ],
  }
}

function wishOf(random: Random, price: number): Wish {
  const kind = (['limitBuy', 'limitBuy', 'limitSell', 'stopSell'] as const)[
    Math.floor(random.next() * 4)
  ] as Wish['kind']
  const atPrice = (Math.floor(price * 1e8 * (0.8 + random.next() * 0.4)) + 0.5) * 1e-8
  const percent = random.next() < 0.2 ? 100 : 5 + Math.floor(random.next() * 90)
  const forSeconds = random.next() < 0.3 ? 1.017 + random.integer(30) : undefined
  return { kind, atPrice, percent, forSeconds, group: ['', 'one', 'two'][Math.floor(random.next() * 3)] as string }
}

/** An engine, and a chain that executes its orders immediately. */
class Played {
  readonly recorded = new RecordedMoney()
  readonly exits: ReferenceExits
  rig: EngineRig
  wish: Wish | undefined
  #failures = 0

  constructor(exits: ReferenceExits) {
    this.exits = exits
    this.rig = this.#start()
  }

  #start(now?: number): EngineRig {
    const strategy = defineStrategy({
      ...{ name: 'told', about: '', params: z.object({}), keys: ['trades'] },
      start: (_params, bot) => ({
        onTrade: (_trade, token) => {
          const { wish } = this
          this.wish = undefined
          if (wish !== undefined) {
            const { kind, atPrice, percent, forSeconds, group: oneCancelsOther } = wish
            const more = {
              atPrice,
              oneCancelsOther,
              reason: 'told to',
              ...(forSeconds !== undefined && { forSeconds }),
            }
            if (kind === 'limitBuy') bot.limitBuy(token, { ...more, sol: 0.1 })
            else bot[kind](token, { ...more, percent })
          }
        },
      }),
    })
    const settings = botSettings('told', { exits: this.exits, paperSol: 1_000 })
    return new EngineRig([strategy as never], [settings], decodeJson(encodeJson(this.recorded.money())), now)
  }

  restart(): void {
    const { now } = this.rig
    this.#keep(this.rig.outputs.splice(0))
    for (const position of this.rig.engine.takeMarks()) this.recorded.mark(position)
    this.rig = this.#start(now)
  }

  /** Fires the timers of the next `ms` milliseconds, each at its time, and then prints a trade. */
  print(price: number, ms: number, answers: Answers): Expected[] {
    const until = this.rig.now + ms
    const found: Expected[] = []
    this.#keep(this.rig.outputs.splice(0))
    for (let timer = this.#nextTimer(); timer !== undefined && timer.at <= until; timer = this.#nextTimer()) {
      this.rig.now = Math.max(this.rig.now, timer.at)
      found.push(...this.#carryOut(this.rig.input({ kind: 'timer', id: timer.id }), answers))
    }
    found.push(...this.#carryOut(this.rig.trade(price, { ms: until - this.rig.now }), answers))
    return found
  }

  #nextTimer(): Timer | undefined {
    this.#keep(this.rig.outputs.splice(0))
    return [...this.recorded.timers.values()].sort((one, other) => one.at - other.at || one.id - other.id)[0]
  }

  /** Executes all orders, including the orders that follow from their reports. */
  #carryOut(outputs: readonly Output[], answers: Answers): Expected[] {
    const found: Expected[] = []
    let out = orders(outputs)
    while (out.length > 0) {
      const [order] = out as [Order]
      // A full exit takes the place of the other sales that the same print triggers.
      const isOvertaken = order.size.kind === 'percent' && out.some(({ size }) => size.kind === 'all')
      const executed = isOvertaken ? 0 : answers()
      const rest = out.slice(1)
      out = [...rest, ...orders(isOvertaken ? this.#calledOff(order) : this.#answer(order, executed))]
      if (isOvertaken) continue
      const share = order.size.kind === 'percent' ? order.size.percent : 100
      found.push(order.side === 'buy' ? 'buy' : { share, slippage: order.slippagePercents[0] as number })
    }
    return found
  }

  #calledOff(order: Order): Output[] {
    return this.rig.report(order, 'cancelled', { code: 'CANCELLED' })
  }

  #answer(order: Order, executed: number): Output[] {
    const proved = isFullExit(order) ? { unproved: 0 } : {}
    if (executed === 0) {
      const [state, code] = FAILURES[this.#failures++ % FAILURES.length] as (typeof FAILURES)[number]
      if (state !== 'refused' && state !== 'expired') this.rig.report(order, 'working')
      return this.rig.report(order, state, { code, ...proved })
    }
    if (order.side === 'buy') return this.rig.fill(order, order.price as number)
    this.#keep(this.rig.outputs.splice(0))
    const held = this.recorded.positions.get(`${order.account}|${order.mint}`)?.tokens ?? 0n
    const asked = order.size.kind === 'percent' ? (held * BigInt(Math.round(order.size.percent * 100))) / 10_000n : held
    const tokens = executed === 1 ? asked : (asked * BigInt(Math.round(executed * 1_000))) / 1_000n
    return this.rig.report(order, 'filled', { fill: fillOf(order, 1e-6, this.rig.now, { tokens }), ...proved })
  }

  #keep(outputs: readonly Output[]): void {
    for (const output of outputs) this.recorded.output(output)
  }
}

function expectSame(got: readonly Expected[], expected: readonly Expected[], about: string): void {
  const isSame =
    got.length === expected.length &&
    got.every((one, at) => {
      const other = expected[at] as Expected
      if (one === 'buy' || other === 'buy') return one === other
      return Math.abs(one.share - other.share) < 0.05 && one.slippage === other.slippage
    })
  if (!isSame) expect.fail(`${about}: ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`)
}

it(`exits and conditional orders act like a simple reference implementation (${RUNS} scenarios)`, {
  timeout: 600_000,
}, () => {
  const counts = { wishes: 0, buys: 0, parts: 0, all: 0, again: 0 }
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const random = seededRandom(seed)
    const exits = exitsOf(random)
    const [played, reference] = [new Played(exits), new ReferenceRun(exits, LADDER)]
    let level = 100
    for (let step = 0; step < 60; step++) {
      if (random.next() < 0.02) {
        played.restart()
        reference.restart()
      }
      level = Math.max(20, Math.min(400, Math.round(level * (0.88 + random.next() * 0.25))))
      const price = random.next() < 0.05 ? level * 5e-8 : level * 1e-8
      const ms = random.next() < 0.05 ? random.integer(90_000) : 200 + random.integer(1_500)
      const answers = answersOf(random)
      const wish = random.next() < 0.15 ? wishOf(random, price) : undefined
      if (wish !== undefined) counts.wishes++
      played.wish = wish
      const got = played.print(price, ms, answers())
      expectSame(got, reference.print(price, ms, answers(), wish), `seed ${seed}, step ${step}`)
      for (const one of got) {
        if (one === 'buy') counts.buys++
        else counts[one.share === 100 ? 'all' : 'parts']++
        if (one !== 'buy' && one.slippage > 5) counts.again++
      }
    }
  }
  for (const [what, count] of Object.entries(counts))
    expect({ what, isEnough: count > RUNS / 2 }).toEqual({ what, isEnough: true })
})

/**
 * Returns a function that gives the outcomes of the orders of one step: filled, failed or partly filled. Engine and
 * reference get the same outcomes.
 */
function answersOf(random: Random): () => Answers {
  const seed = random.integer(2 ** 31)
  return () => {
    const { next } = seededRandom(seed)
    return () => {
      const chance = next()
      return chance < 0.6 ? 1 : chance < 0.85 ? 0 : Math.round(100 + next() * 800) / 1_000
    }
  }
}
