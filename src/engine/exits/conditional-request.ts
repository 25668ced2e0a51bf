import { readBuy, readText } from '../buy-and-sell-options.ts'
import { checkRanges, type Veto } from '../limits/order-bounds.ts'
import type { BotSettings, Plan } from '../settings.ts'
import type {
  BracketOptions,
  BuyOptions,
  DcaOptions,
  LimitBuyOptions,
  LimitSellOptions,
  SellOptions,
} from '../strategy.ts'
import type { Condition, Consequence } from './conditional-order.ts'
import { readExits } from './exit-request.ts'
import { describe } from './exit-rules.ts'
import type { ExitRules } from './exit-settings.ts'

// Reads conditional orders of a strategy. Their values may be of any type.

export interface ConditionalRequest {
  readonly when: Condition
  readonly action: Consequence
  readonly reason: string
  readonly forMs: number | null
  readonly oneCancelsOther: string
}

const MOST_PRICE = 1e9
const MOST_SECONDS = 1e9
const MOST_INSTALLMENTS = 10_000
const LONGEST_NAME = 100

export function readLimitBuy(options: LimitBuyOptions, settings: BotSettings, plan: Plan): ConditionalRequest | Veto {
  const buy = readBuyPart(options, settings, plan)
  if ('code' in buy) return buy
  return readPart(options, { kind: 'below', price: options.atPrice }, { side: 'buy', options: buy })
}

/** `kind`: `above` for a limit sell, `below` for a stop. */
export function readPriceSell(options: LimitSellOptions, kind: 'above' | 'below'): ConditionalRequest | Veto {
  const { percent, tokens, all, reason, tag } = options as object as Partial<Record<string, unknown>>
  // `readSell` has refused an invalid size or tag before.
  const size = {
    ...(percent !== undefined && { percent }),
    ...(tokens !== undefined && { tokens }),
    ...(all !== undefined && { all }),
    ...(tag !== undefined && tag !== '' && { tag }),
  }
  const sell = { ...size, reason: readText(reason) ?? '' } as SellOptions
  return readPart(options, { kind, price: options.atPrice }, { side: 'sell', options: sell })
}

export function readDca(options: DcaOptions, settings: BotSettings, plan: Plan): ConditionalRequest | Veto {
  const { everySeconds, times, maxPrice } = options
  const buy = readBuyPart({ ...options, scaleIn: true }, settings, plan)
  if ('code' in buy) return buy
  if (!isWithin(everySeconds, MOST_SECONDS) || everySeconds < 1)
    return invalid(`everySeconds: expected 1 to ${MOST_SECONDS}, found ${describe(everySeconds)}`)
  if (!Number.isInteger(times) || !isWithin(times, MOST_INSTALLMENTS))
    return invalid(`times: expected a whole number from 1 to ${MOST_INSTALLMENTS}, found ${describe(times)}`)
  if (maxPrice !== undefined && !isWithin(maxPrice, MOST_PRICE))
    return invalid(`maxPrice: expected a price above 0, found ${describe(maxPrice)}`)
  const when = {
    kind: 'every',
    everyMs: Math.round(everySeconds * 1000),
    left: times,
    maxPrice: maxPrice ?? null,
  } as const
  return readPart(options.oneCancelsOther === undefined ? {} : options, when, { side: 'buy', options: buy })
}

/** Returns a bracket as a buy with its own exits. Refuses the bracket unless stop price < price of the buy <
 *  take-profit price. */
export function bracketExits(options: BracketOptions, price: number | undefined): BuyOptions | Veto {
  const { atPrice = price, stopPrice, takeProfitPrice, exits, scaleIn } = options as BracketOptions & BuyOptions
  if (scaleIn === true) return invalid('a bracket opens a position; use bot.setExits for a position that is open')
  if (atPrice === undefined)
    return {
      code: 'PRICE_UNKNOWN',
      reason: 'the token has too few prints for a robust price yet, or the unit of the feed is not proved',
    }
  if (!(stopPrice < atPrice && atPrice < takeProfitPrice))
    return invalid(`expected stopPrice (${stopPrice}) < price (${atPrice}) < takeProfitPrice (${takeProfitPrice})`)
  return { ...options, exits: { ...exits, stopPrice, takeProfitPrice } }
}

function readPart(
  { forSeconds, oneCancelsOther }: Pick<LimitBuyOptions, 'forSeconds' | 'oneCancelsOther'>,
  when: Condition,
  action: Consequence,
): ConditionalRequest | Veto {
  if (when.kind !== 'every' && !isWithin(when.price, MOST_PRICE))
    return invalid(`atPrice: expected a price above 0, found ${describe(when.price)}`)
  if (forSeconds !== undefined && !isWithin(forSeconds, MOST_SECONDS))
    return invalid(`forSeconds: expected seconds above 0, found ${describe(forSeconds)}`)
  const name = readText(oneCancelsOther ?? '')
  if (name === undefined || name.length > LONGEST_NAME)
    return invalid(`oneCancelsOther: expected text of at most ${LONGEST_NAME} characters`)
  const forMs = forSeconds === undefined ? null : Math.round(forSeconds * 1000)
  return { when, action, reason: action.options.reason, forMs, oneCancelsOther: name }
}

/** Returns the options of a buy that a conditional order places later. Options that are invalid or out of range are
 *  refused now. */
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
    ...(request.tag !== undefined && { tag: request.tag }),
    ...(typeof exits === 'object' && Object.keys(exits).length > 0 && { exits }),
  }
}

function isWithin(value: unknown, most: number): value is number {
  return typeof value === 'number' && value > 0 && value <= most
}

function invalid(reason: string): Veto {
  return { code: 'REQUEST_INVALID', reason }
}
