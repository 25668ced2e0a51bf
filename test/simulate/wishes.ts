import type { ExitRules, TakeProfitStep } from '../../src/engine/exits/exit-settings.ts'
import type { Bot, PositionView, SellOptions, Token } from '../../src/engine/strategy.ts'
import { MINTS } from './market.ts'

const WINDOW = { windowPrints: 5 } as const

/** Every kind of exit, alone or together with another exit that can affect it. */
const EXITS: readonly ExitRules[] = [
  { ...WINDOW, maxHoldSeconds: 10, stopLossPercent: 3 },
  { ...WINDOW, maxHoldSeconds: 30, trailingPercent: 2, trailingArmPercent: 2 },
  { ...WINDOW, maxHoldSeconds: 30, breakEvenAtPercent: 1, takeProfitPercent: 6 },
  { ...WINDOW, maxHoldSeconds: 25, takeProfitSteps: stepsOf([0.3, 30], [1, 30], [3, 40]) },
  { ...WINDOW, maxHoldSeconds: 20, takeProfitSteps: stepsOf([0.5, 10], [1.5, 20]), trailingPercent: 3 },
  { ...WINDOW, maxHoldSeconds: 60, idleSeconds: 2 },
  { ...WINDOW, maxHoldSeconds: 60, idleSeconds: 9, whenStale: { policy: 'hold', afterSeconds: 5 } },
  { ...WINDOW, maxHoldSeconds: 60, whenStale: { policy: 'flatten', afterSeconds: 4 } },
  { whenStale: { policy: 'flatten', afterSeconds: 15 }, breakEvenAtPercent: 2, takeProfitSteps: stepsOf([1, 50]) },
]

type Act = (bot: Bot<undefined>, token: Token<undefined>, price: number, held: PositionView | undefined) => void

/** Requests of a bot without a position in the token. */
const OPENING: readonly Act[] = [
  (bot, token, price) =>
    bot.limitBuy(token, { ...buyOf(bot), ...timeOf(bot), atPrice: price * between(bot, 0.985, 1) }),
  (bot, token, price) => bot.bracket(token, { ...buyOf(bot), ...ends(bot, price) }),
  (bot, token, price) => {
    const atPrice = price * between(bot, 0.98, 1)
    bot.bracket(token, { ...buyOf(bot), ...timeOf(bot), ...ends(bot, atPrice), atPrice })
  },
  (bot, token, price) => schedule(bot, token, price, {}),
  // Two limit buys in one group (`oneCancelsOther`), of the same token or of two tokens.
  (bot, token, price) => {
    const name = { oneCancelsOther: `one ${bot.now()}` }
    const other = MINTS.find((mint) => mint !== token.mint && bot.token(mint)?.price !== undefined) ?? token.mint
    const otherPrice = bot.token(other)?.price ?? price
    const second = bot.random() < 0.3 ? token.mint : other
    bot.limitBuy(token, { ...buyOf(bot), ...timeOf(bot), ...name, atPrice: price * between(bot, 0.99, 1.01) })
    const atPrice = (second === token.mint ? price : otherPrice) * between(bot, 0.99, 1.01)
    bot.limitBuy(second, { ...buyOf(bot), ...timeOf(bot), ...name, atPrice })
    if (bot.random() < 0.3) schedule(bot, token, price, name)
  },
]

/** Requests of a bot with a position in the token. */
const HOLDING: readonly Act[] = [
  (bot, token, price, held) =>
    bot.limitSell(token, { ...saleOf(bot, held), ...timeOf(bot), atPrice: price * between(bot, 1, 1.02) }),
  (bot, token, price, held) =>
    bot.stopSell(token, { ...saleOf(bot, held), ...timeOf(bot), atPrice: price * between(bot, 0.97, 1) }),
  (bot, token, price, held) => {
    const more = { ...saleOf(bot, held), ...timeOf(bot), oneCancelsOther: `both ${bot.now()}` }
    bot.limitSell(token, { ...more, atPrice: price * between(bot, 1.002, 1.02) })
    bot.stopSell(token, { ...more, atPrice: price * between(bot, 0.98, 0.998) })
    if (bot.random() < 0.3)
      bot.limitBuy(token, { ...buyOf(bot), ...more, scaleIn: true, atPrice: price * between(bot, 0.98, 1) })
  },
  (bot, token, price) =>
    bot.limitBuy(token, { ...buyOf(bot), ...timeOf(bot), scaleIn: true, atPrice: price * between(bot, 0.97, 1) }),
  (bot, token, price) => schedule(bot, token, price, {}),
  (bot, token) => bot.setExits(token, pick(bot, EXITS)),
  (bot, token) => bot.setExits(token, pick(bot, EXITS)),
  (bot) => {
    const waiting = bot.orders().filter(({ id }) => id.startsWith('c'))
    if (waiting.length > 0) bot.cancel(pick(bot, waiting).id)
  },
]

/** Requests a random conditional order, or other exits. */
export function ask(bot: Bot<undefined>, token: Token<undefined>): void {
  const { price, position } = token
  if (price === undefined) return
  const isHeld = position !== undefined && position.tokens > 0
  pick(bot, isHeld ? HOLDING : OPENING)(bot, token, price, position)
}

function schedule(bot: Bot<undefined>, token: Token<undefined>, price: number, name: { oneCancelsOther?: string }) {
  const maxPrice = bot.random() < 0.5 ? { maxPrice: price * between(bot, 0.99, 1.03) } : {}
  const often = { everySeconds: 1 + Math.floor(bot.random() * 6), times: 1 + Math.floor(bot.random() * 5) }
  return bot.dca(token, { ...buyOf(bot), ...often, ...maxPrice, ...name })
}

function buyOf(bot: Bot<undefined>) {
  const exits = bot.random() < 0.7 ? { exits: pick(bot, EXITS) } : {}
  return { sol: 0.01 + Number((bot.random() * 0.1).toFixed(4)), reason: 'once it is due', ...exits }
}

function saleOf(bot: Bot<undefined>, held: PositionView | undefined): SellOptions {
  const chance = bot.random()
  const reason = 'once it is due'
  if (chance < 0.3) return { all: true, reason }
  if (chance < 0.5) return { tokens: (held?.tokens ?? 1) * between(bot, 0.1, 1), reason }
  return { percent: 5 + Math.floor(bot.random() * 95), reason }
}

/** Returns a time to live; some requests have none. */
function timeOf(bot: Bot<undefined>): { forSeconds?: number } {
  return bot.random() < 0.75 ? { forSeconds: 1 + Math.floor(bot.random() * 40) } : {}
}

function ends(bot: Bot<undefined>, price: number): { stopPrice: number; takeProfitPrice: number } {
  return { stopPrice: price * between(bot, 0.95, 0.99), takeProfitPrice: price * between(bot, 1.01, 1.05) }
}

function stepsOf(...steps: readonly (readonly [number, number])[]): TakeProfitStep[] {
  return steps.map(([atPercent, sellPercent]) => ({ atPercent, sellPercent }))
}

function between(bot: Bot<undefined>, from: number, to: number): number {
  return from + bot.random() * (to - from)
}

function pick<T>(bot: Bot<undefined>, list: readonly T[]): T {
  return list[Math.floor(bot.random() * list.length)] as T
}
