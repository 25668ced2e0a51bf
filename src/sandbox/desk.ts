import { solToLamports } from '../core/units.ts'
import type { Faults } from './faults.ts'
import { savePool } from './pools.ts'
import { type Priced, Pricing, type PricingOptions, type Refused } from './pricing.ts'
import type { Records } from './records.ts'
import type { BuyRequest, SellRequest } from './requests.ts'
import { TRADE_PROGRAM, type TradeData } from './trade-program.ts'

export type TradeResult = { ok: true; signature: string } | Refused

export interface DeskOptions extends PricingOptions {
  records: Records
  faults: Faults
  /** Wallets whose keys the service holds. */
  wallets: readonly string[]
}

/**
 * The service behind its endpoints: builds, signs and sends trades of the wallets that it holds. Nothing is idempotent.
 */
export class Desk {
  readonly #options: DeskOptions
  readonly #pricing: Pricing

  constructor(options: DeskOptions) {
    this.#options = options
    this.#pricing = new Pricing(options)
  }

  buy(request: BuyRequest): TradeResult {
    return this.#stranger(request) ?? this.#send(this.#pricing.buy(request))
  }

  sell(request: SellRequest): TradeResult {
    return this.#stranger(request) ?? this.#send(this.#pricing.sell(request))
  }

  #stranger({ publicKey }: BuyRequest | SellRequest): Refused | undefined {
    if (this.#options.wallets.includes(publicKey)) return undefined
    return { ok: false, code: 'INVALID_PARAMETERS', message: 'publicKey is no wallet of this account' }
  }

  #send(priced: Priced | Refused): TradeResult {
    if (!priced.ok) return priced
    const { token, trade } = priced
    const { ledger, records, faults } = this.#options
    savePool(records, token)
    const data: TradeData = { ...trade, fails: faults.strike('reverted', trade.side) !== undefined }
    const transaction = {
      payer: trade.wallet,
      instruction: { program: TRADE_PROGRAM, data },
      priorityFeeLamports: solToLamports(trade.priorityFeeSol),
    }
    const lost = faults.strike('notLanded', trade.side) !== undefined
    return { ok: true, signature: ledger.submit(transaction, lost ? Number.POSITIVE_INFINITY : undefined) }
  }
}
