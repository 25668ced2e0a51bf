import { expect, it } from 'vitest'
import { z } from 'zod'
import { decodeJson, encodeJson } from '../../src/core/json.ts'
import type { Output } from '../../src/core/messages.ts'
import type { Order } from '../../src/core/order.ts'
import { type Random, seededRandom } from '../../src/core/random.ts'
import { defineStrategy } from '../../src/core/strategy.ts'
import {
  ConditionalReference,
  type Expected,
  type ReferenceExits,
  type Wish,
} from '../support/conditional-reference.ts'
import { botSettings, EngineRig, fillOf, orders } from '../support/engine-rig.ts'
import { RecordedMoney } from '../support/recorded-money.ts'

// The long form: SLUICE_CONDITIONAL_RUNS=10000 npm test -- test/core/conditional-model.test.ts
const RUNS = Number(process.env.SLUICE_CONDITIONAL_RUNS ?? 400)
const SEED = Number(process.env.SLUICE_SEED ?? 1)

/** Odd shares, so that no price lies exactly on a level. */
function exitsOf(random: Random): ReferenceExits {
  const one = (most: number): number => 3.7 + Math.floor(random.next() * most) * 1.37
  const step = one(15)
  return {
    ...{ stopLossPercent: one(20), trailingPercent: one(20), trailingArmPercent: one(15), breakEvenAtPercent: one(15) },
    takeProfitPercent: 61.3,
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
  return { kind, atPrice, percent, group: ['', 'one', 'two'][Math.floor(random.next() * 3)] as string }
}

/** The engine with a chain that answers at once. */
class Played {
  readonly recorded = new RecordedMoney()
  readonly exits: ReferenceExits
  rig: EngineRig
  wish: Wish | undefined

  constructor(exits: ReferenceExits) {
    this.exits = exits
    this.rig = this.#start()
  }

  #start(): EngineRig {
    const strategy = defineStrategy({
      ...{ name: 'told', about: '', params: z.object({}), keys: ['trades'] },
      start: (_params, bot) => ({
        onTrade: (_trade, token) => {
          const { wish } = this
          this.wish = undefined
          if (wish !== undefined) {
            const { kind, atPrice, percent, group: oneCancelsOther } = wish
            const more = { atPrice, oneCancelsOther, reason: 'told to' }
            if (kind === 'limitBuy') bot.limitBuy(token, { ...more, sol: 0.1 })
            else bot[kind](token, { ...more, percent })
          }
        },
      }),
    })
    const settings = botSettings('told', { exits: this.exits, paperSol: 1_000 })
    return new EngineRig([strategy as never], [settings], decodeJson(encodeJson(this.recorded.money())))
  }

  restart(): void {
    const { now } = this.rig
    this.#keep(this.rig.outputs)
    for (const position of this.rig.engine.takeMarks()) this.recorded.mark(position)
    this.rig = this.#start()
    this.rig.now = now
  }

  print(price: number, ms: number, buysFill: boolean): Expected[] {
    const found: Expected[] = []
    let out = orders(this.rig.trade(price, { ms }))
    while (out.length > 0) {
      const [order] = out as [Order]
      // A full exit overtakes what goes out beside it in the same print.
      const isOvertaken = order.size.kind === 'percent' && out.some(({ size }) => size.kind === 'all')
      const rest = out.slice(1)
      out = [...rest, ...orders(this.#answer(order, isOvertaken, buysFill))]
      if (isOvertaken) continue
      found.push(order.size.kind === 'sol' ? 'buy' : order.size.kind === 'percent' ? order.size.percent : 100)
    }
    return found
  }

  #answer(order: Order, isOvertaken: boolean, buysFill: boolean): Output[] {
    if (isOvertaken) return this.rig.report(order, 'cancelled', { code: 'CANCELLED' })
    if (order.side === 'buy') {
      return buysFill ? this.rig.fill(order, order.price as number) : this.rig.report(order, 'expired', { code: 'TTL' })
    }
    const said = this.rig.outputs.findLast((output) => output.kind === 'position')
    const held = said?.kind === 'position' ? said.position.tokens : 0n
    const tokens =
      order.size.kind === 'percent' ? (held * BigInt(Math.round(order.size.percent * 100))) / 10_000n : held
    return this.rig.report(order, 'filled', {
      fill: fillOf(order, 1e-6, this.rig.now, { tokens }),
      ...(order.size.kind === 'all' && { unproved: 0 }),
    })
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
      return one === 'buy' || other === 'buy' ? one === other : Math.abs(one - other) < 0.05
    })
  if (!isSame) expect.fail(`${about}: ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`)
}

it(`exits and conditional orders do what a plain list of rules does (${RUNS} scenarios)`, { timeout: 600_000 }, () => {
  let wished = 0
  let made = 0
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const random = seededRandom(seed)
    const exits = exitsOf(random)
    const [played, reference] = [new Played(exits), new ConditionalReference(exits)]
    let level = 100
    for (let step = 0; step < 60; step++) {
      const about = `seed ${seed}, step ${step}`
      if (random.next() < 0.02) {
        played.restart()
        reference.restart()
      }
      level = Math.max(20, Math.min(400, Math.round(level * (0.88 + random.next() * 0.25))))
      const price = random.next() < 0.05 ? level * 5e-8 : level * 1e-8
      const ms = 200 + Math.floor(random.next() * 1_500)
      const buysFill = random.next() < 0.7
      const wish = random.next() < 0.15 ? wishOf(random, price) : undefined
      if (wish !== undefined) wished++
      played.wish = wish
      const got = played.print(price, ms, buysFill)
      expectSame(got, reference.print(price, ms, buysFill, wish), about)
      made += got.length
    }
  }
  expect(wished).toBeGreaterThan(RUNS)
  expect(made).toBeGreaterThan(RUNS)
})
