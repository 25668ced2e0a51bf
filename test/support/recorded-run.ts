import { createHash } from 'node:crypto'
import { encodeJson } from '../../src/base/json.ts'
import { seededRandom } from '../../src/base/random.ts'
import type { Output } from '../../src/engine/messages.ts'
import type { Strategy } from '../../src/engine/strategy.ts'
import dipBuyer from '../../strategies/dip-buyer.ts'
import momentum from '../../strategies/momentum.ts'
import { botSettings, EngineRig, fillOf, orders } from './engine-rig.ts'

const MINTS = Array.from(
  { length: 40 },
  (_, index) => `${'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefgh'[index]}zphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump`,
)

/** Runs two shipped strategies over a seeded market of `rows` rows, answers their orders, and returns the hash of all
 *  outputs. */
export function runHash(rows: number, seed: number): { hash: string; orders: number; fills: number } {
  const random = seededRandom(seed)
  const hash = createHash('sha256')
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, trailingPercent: 15, maxHoldSeconds: 600 }
  const bots = [dipBuyer, momentum].map((strategy) => {
    const params = (strategy as unknown as Strategy).params.parse({}) as never
    return botSettings(strategy.name, { params, exits, paperSol: 1000 })
  })
  const rig = new EngineRig([dipBuyer as never, momentum as never], bots)
  const prices = MINTS.map(() => 1e-7 * (1 + random.next()))
  const held = new Map<string, bigint>()
  let placed = 0
  let filled = 0
  const answer = (outputs: Output[]): void => {
    for (const output of outputs) hash.update(`${rig.seq} ${encodeJson(output)}\n`)
    for (const order of orders(outputs)) {
      placed++
      const key = `${order.bot} ${order.mint}`
      if (random.next() < 0.1) {
        answer(rig.report(order, 'refused', { code: 'LIMIT_WAIT' }))
        continue
      }
      const fill = fillOf(order, order.price ?? 1e-7, rig.now, {
        tokens: order.side === 'sell' ? (held.get(key) ?? 0n) : undefined,
      } as never)
      held.set(key, order.side === 'buy' ? (held.get(key) ?? 0n) + fill.tokens : 0n)
      filled++
      answer(rig.report(order, 'filled', { fill }))
    }
  }
  for (let row = 0; row < rows; row++) {
    const index = random.integer(MINTS.length)
    const noisy = random.next() < 0.15 ? 0.1 + 10 * random.next() : 1
    prices[index] = Math.max(
      1e-9,
      (prices[index] as number) * (0.9 + 0.2 * random.next() + (random.next() < 0.002 ? -0.4 : 0)),
    )
    if (rig.block.length === rig.block.capacity) rig.nextBlock()
    answer(
      rig.trade((prices[index] as number) * noisy, {
        mint: MINTS[index] as string,
        sol: noisy === 1 ? random.next() : 0.02,
        ms: 30,
      }),
    )
  }
  return { hash: hash.digest('hex'), orders: placed, fills: filled }
}
