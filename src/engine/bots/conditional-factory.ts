import {
  bracketExits,
  type ConditionalRequest,
  readDca,
  readLimitBuy,
  readPriceSell,
} from '../exits/conditional-request.ts'
import { LEAST_PART_PERCENT } from '../exits/take-profit-steps.ts'
import type { Veto } from '../limits/order-bounds.ts'
import type { Client, Sale } from '../order-factory.ts'
import type { BracketOptions, DcaOptions, LimitBuyOptions, LimitSellOptions, Placed } from '../strategy.ts'
import type { BotContext } from './bot-context.ts'

/** Turns requests into conditional orders, or refuses them with a reason. */
export class ConditionalFactory {
  readonly #context: BotContext
  readonly #client: Client

  constructor(context: BotContext, client: Client) {
    this.#context = context
    this.#client = client
  }

  limitBuy(mint: string, options: LimitBuyOptions): Placed {
    return this.#wait(mint, readLimitBuy(options, this.#client.settings, this.#context.state.plan))
  }

  /** `kind`: `above` for a limit order, `below` for a stop. */
  sell(mint: string, options: LimitSellOptions, kind: 'above' | 'below'): Placed {
    const sale = this.#context.factory.readSale(this.#client, mint, options)
    return this.#wait(mint, 'code' in sale ? sale : (tooSmall(sale) ?? readPriceSell(options, kind)))
  }

  dca(mint: string, options: DcaOptions): Placed {
    return this.#wait(mint, readDca(options, this.#client.settings, this.#context.state.plan))
  }

  bracket(mint: string, options: BracketOptions): Placed {
    const bracketed = bracketExits(options, this.#context.state.price(mint))
    if ('code' in bracketed) return { ok: false, ...bracketed }
    const { atPrice } = options
    if (atPrice === undefined) return this.#context.factory.buy(this.#client, mint, bracketed)
    return this.limitBuy(mint, { ...bracketed, atPrice })
  }

  #wait(mint: string, request: ConditionalRequest | Veto): Placed {
    return 'code' in request ? { ok: false, ...request } : this.#context.conditionals.place(this.#client, mint, request)
  }
}

/** Refuses the sale of a part that is so small that rounding would count it as sold already. Returns undefined if the
 *  part is large enough. */
function tooSmall({ position, request: { size } }: Sale): Veto | undefined {
  if (size.kind !== 'percent' && size.kind !== 'tokens') return undefined
  const percent = size.kind === 'percent' ? size.percent : (Number(size.tokens) / Number(position.tokens)) * 100
  if (percent > LEAST_PART_PERCENT) return undefined
  return { code: 'REQUEST_INVALID', reason: `the sale must be more than ${LEAST_PART_PERCENT} % of the position` }
}
