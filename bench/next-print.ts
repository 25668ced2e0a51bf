import type { Clock } from '../src/base/machine.ts'
import { lamports, type Millis, ZERO } from '../src/base/units.ts'
import { NO_COSTS, walletChange } from '../src/engine/accounting/fill-costs.ts'
import type { Fill } from '../src/engine/order.ts'
import type { Attempt } from '../src/orders/attempt.ts'
import type { Executor, Outcome } from '../src/orders/ports.ts'

export interface NextPrintMarket {
  /** Price of the next print after this time, lamports per token; undefined after the last print. */
  readonly priceAfter: (time: Millis) => number | undefined
  /** Size of every order, whole tokens. */
  readonly lot: number
  readonly feeLamports: number
}

/** Fills every order with one lot at the price of the next print, for a fixed fee, as frameworks that work on bars do.
 *  For benchmarks only. */
export class NextPrintExecutor implements Executor {
  readonly #clock: Clock
  readonly #market: NextPrintMarket
  fills = 0

  constructor(clock: Clock, market: NextPrintMarket) {
    this.#clock = clock
    this.#market = market
  }

  execute(attempt: Attempt, done: (outcome: Outcome) => void): void {
    this.#clock.after(0, () => {
      const price = this.#market.priceAfter(this.#clock.now())
      if (price === undefined) done({ kind: 'absent' })
      else done({ kind: 'filled', fill: this.#fill(attempt, price), final: true })
    })
  }

  resume(): void {}

  #fill({ id, orderId, account, bot, mint, side }: Attempt, price: number): Fill {
    const { lot, feeLamports } = this.#market
    const tradeLamports = lamports(lot * price)
    const costs = { ...NO_COSTS, tradeLamports, priorityFeeLamports: lamports(feeLamports) }
    this.fills++
    return {
      ...{ signature: `next-${id}`, orderId, attemptId: id, account, bot, mint, side, slot: this.fills },
      ...{ time: this.#clock.now(), tokens: BigInt(lot) * 1_000_000n, decimals: 6, tradeLamports },
      ...{
        feeLamports: lamports(feeLamports),
        rentLamports: ZERO,
        walletLamports: lamports(walletChange(side, costs)),
      },
      ...{ costs, final: true },
    }
  }
}
