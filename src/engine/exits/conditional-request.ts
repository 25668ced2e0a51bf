import { checkRanges, type Veto } from '../limits/order-bounds.ts'
import { readBuy, readText } from '../requests.ts'
import type { BotSettings, Plan } from '../settings.ts'
import type {
  BracketOptions,
  BuyOptions,
  DcaOptions,
  LimitBuyOptions,
  LimitSellOptions,
  SellOptions,
} from '../strategy.ts'
import type { Condition, Consequence } from './conditional.ts'
import { readExits } from './exit-request.ts'
import { describe } from './exit-rows.ts'
import type { ExitRules } from './exit-rules.ts'

// Conditional orders as a strategy asks for them: any value at all.

export interface ConditionalRequest {
  readonly when: Condition
  readonly action: Consequence
  readonly reason: string
  readonly forMs: number | null
  readonly oneCancelsOther: string
}

const MOST_PRICE = 1e9
const MOST_SECONDS = 1e9
const MOST_INSTALMENTS = 10_000
const LONGEST_NAME = 100

export function readLimitBuy(options: LimitBuyOptions, settings: BotSettings, plan: Plan): ConditionalRequest | Veto {
  const buy = readBuyPart(options, settings, plan)
  if ('code' in buy) return buy
  return readPart(options, { kind: 'below', price: options.atPrice }, { side: 'buy', options: buy })
}

/** `kind`: above for a limit, below for a stop. */
export function readPriceSell(options: LimitSellOptions, kind: 'above' | 'below'): ConditionalRequest | Veto {
  const { percent, tokens, all, reason } = options as object as Partial<Record<string, unknown>>
  // What of it is no size is said by `readSell`, which is asked before.
  const size = {
    ...(percent !== undefined && { percent }),
    ...(tokens !== undefined && { tokens }),
    ...(all !== undefined && { all }),
  }
  const sell = { ...size, reason: readText(reason) ?? '' } as SellOptions
  return readPart(options, { kind, price: options.atPrice }, { side: 'sell', options: sell })
}

export function readDca(options: DcaOptions, settings: BotSettings, plan: Plan): ConditionalRequest | Veto {
  const { everySeconds, times, maxPrice } = options
  const buy = readBuyPart({ ...options, scaleIn: true }, settings, plan)
  if ('code' in buy) return buy
  if (!isWithin(everySeconds, MOST_SECONDS) || everySeconds < 1)
    return invalid(`everySeconds is ${describe(everySeconds)}`)
  if (!Number.isInteger(times) || !isWithin(times, MOST_INSTALMENTS)) return invalid(`times is ${describe(times)}`)
  if (maxPrice !== undefined && !isWithin(maxPrice, MOST_PRICE)) return invalid(`maxPrice is ${describe(maxPrice)}`)
  const when = {
    kind: 'every',
    everyMs: Math.round(everySeconds * 1000),
    left: times,
    maxPrice: maxPrice ?? null,
  } as const
  return readPart(options.oneCancelsOther === undefined ? {} : options, when, { side: 'buy', options: buy })
}

/** A bracket as a buy with the exits of its own; a veto where its ends do not lie around the price that it is bought
 *  at. */
export function bracketExits(options: BracketOptions, price: number | undefined): BuyOptions | Veto {
  const { atPrice = price, stopPrice, takeProfitPrice, exits, scaleIn } = options as BracketOptions & BuyOptions
  if (scaleIn === true) return invalid('a bracket opens a position; the exits of one that is held: bot.setExits')
  if (atPrice === undefined) return { code: 'PRICE_UNKNOWN', reason: 'no robust price yet' }
  if (!(stopPrice < atPrice && atPrice < takeProfitPrice))
    return invalid(`stopPrice ${stopPrice} < ${atPrice} < takeProfitPrice ${takeProfitPrice} is not so`)
  return { ...options, exits: { ...exits, stopPrice, takeProfitPrice } }
}

function readPart(
  { forSeconds, oneCancelsOther }: Pick<LimitBuyOptions, 'forSeconds' | 'oneCancelsOther'>,
  when: Condition,
  action: Consequence,
): ConditionalRequest | Veto {
  if (when.kind !== 'every' && !isWithin(when.price, MOST_PRICE)) return invalid(`atPrice is ${describe(when.price)}`)
  if (forSeconds !== undefined && !isWithin(forSeconds, MOST_SECONDS))
    return invalid(`forSeconds is ${describe(forSeconds)}`)
  const name = readText(oneCancelsOther ?? '')
  if (name === undefined || name.length > LONGEST_NAME) return invalid('oneCancelsOther is no text of 100 characters')
  const forMs = forSeconds === undefined ? null : Math.round(forSeconds * 1000)
  return { when, action, reason: action.options.reason, forMs, oneCancelsOther: name }
}

/** What a later buy needs of the options, once they would do for one now. */
function readBuyPart(options: BuyOptions, settings: BotSettings, plan: Plan): BuyOptions | Veto {
  const request = readBuy(options, settings.orders, settings.exits)
  if ('code' in request) return request
  const veto = checkRanges(request.amount, request.orders, plan)
  if (veto !== undefined) return veto
  const { sol, slippagePercent, slippageLadder, priorityFeeSol, ttlSeconds, scaleIn } = options
  const exits: ExitRules | string = readExits(options.exits ?? {})
  return {
    ...{ sol, reason: request.reason },
    ...(slippagePercent !== undefined && { slippagePercent }),
    ...(slippageLadder !== undefined && { slippageLadder: request.slippagePercents }),
    ...(priorityFeeSol !== undefined && { priorityFeeSol }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
    ...(scaleIn === true && { scaleIn }),
    ...(typeof exits === 'object' && Object.keys(exits).length > 0 && { exits }),
  }
}

function isWithin(value: unknown, most: number): value is number {
  return typeof value === 'number' && value > 0 && value <= most
}

function invalid(reason: string): Veto {
  return { code: 'REQUEST_INVALID', reason }
}
