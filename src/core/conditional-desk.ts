import { bracketExits, type ConditionalRequest, readDca, readLimitBuy, readPriceSell } from './conditional-request.ts'
import type { Conditionals } from './conditionals.ts'
import type { Client, Desk } from './desk.ts'
import type { Veto } from './risk.ts'
import type { Session } from './session.ts'
import type { BracketOptions, DcaOptions, LimitBuyOptions, LimitSellOptions, Placed } from './strategy.ts'

/** Where one bot asks for conditional orders: what is no request is refused at once, as the desk does. */
export class ConditionalDesk {
  readonly #session: Session
  readonly #desk: Desk
  readonly #conditionals: Conditionals
  readonly #client: Client

  constructor(session: Session, desk: Desk, conditionals: Conditionals, client: Client) {
    this.#session = session
    this.#desk = desk
    this.#conditionals = conditionals
    this.#client = client
  }

  limitBuy(mint: string, options: LimitBuyOptions): Placed {
    return this.#wait(mint, readLimitBuy(options, this.#client.settings, this.#session.plan))
  }

  /** `kind`: above for a limit, below for a stop. */
  sell(mint: string, options: LimitSellOptions, kind: 'above' | 'below'): Placed {
    const sale = this.#desk.readSale(this.#client, mint, options)
    return this.#wait(mint, 'code' in sale ? sale : readPriceSell(options, kind))
  }

  dca(mint: string, options: DcaOptions): Placed {
    return this.#wait(mint, readDca(options, this.#client.settings, this.#session.plan))
  }

  bracket(mint: string, options: BracketOptions): Placed {
    const bracketed = bracketExits(options, this.#session.price(mint))
    if ('code' in bracketed) return { ok: false, ...bracketed }
    const { atPrice } = options
    if (atPrice === undefined) return this.#desk.buy(this.#client, mint, bracketed)
    return this.limitBuy(mint, { ...bracketed, atPrice })
  }

  #wait(mint: string, request: ConditionalRequest | Veto): Placed {
    return 'code' in request ? { ok: false, ...request } : this.#conditionals.place(this.#client, mint, request)
  }
}
