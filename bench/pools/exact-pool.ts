import type { Millis } from '../../src/base/units.ts'
import { Curve, type Reserves, type Swap } from '../../src/solana/bonding-curve.ts'
import { CURVE_FEE_BPS, POOL_START } from '../../src/solana/constants.ts'

/** A change of a pool. `amount`: for a buy, the lamports that the pool received, without the venue's fee; for a sale,
 *  the base units that it received; for a withdrawal of liquidity, the thousandths that remain. */
export interface PoolEvent {
  readonly kind: 'buy' | 'sell' | 'withdraw'
  readonly time: Millis
  readonly amount: bigint
  /** Exact state of the pool after the event. */
  readonly after: Reserves
}

/** The exact history of a token's pool. */
export interface ExactPool {
  readonly mint: string
  /** Whether only the owner can sell. */
  readonly isHoneypot: boolean
  readonly start: Reserves
  readonly events: PoolEvent[]
}

/** Sells `tokens` base units to the pool. If the pool has too little SOL, the seller receives all of it. */
export function sellInto(curve: Curve, tokens: bigint): Swap {
  const swap = curve.quoteSell(tokens)
  const most = curve.realSol
  if (swap.sol <= most) {
    curve.applySell(swap)
    return swap
  }
  const paid = { ...swap, sol: most, fee: (swap.fee * most) / swap.sol }
  curve.applySell(paid)
  return paid
}

/** Withdraws liquidity from a pool without a trade, so that its depth falls and its price stays the same. */
export function withdraw(curve: Curve, stayingPermille: bigint): void {
  const { virtualSol, virtualTokens, realTokens } = curve.reserves
  const left = (amount: bigint): bigint => (amount * stayingPermille) / 1_000n
  curve.settle({ virtualSol: left(virtualSol), virtualTokens: left(virtualTokens), realTokens: left(realTokens) })
}

/** A pool whose price a bot's own trades have moved. Every later event of the recorded history is applied to the moved
 *  pool: a recorded buy pays the same SOL, and a recorded sale the same tokens. */
export class DisplacedPool {
  readonly #pool: ExactPool
  readonly #curve: Curve
  /** Index of the next recorded event. */
  #next: number

  /** `time`: the pool starts in its recorded state after the last event at or before this time. */
  constructor(pool: ExactPool, time: Millis) {
    this.#pool = pool
    this.#next = firstAfter(pool.events, time)
    this.#curve = new Curve({ ...(pool.events[this.#next - 1]?.after ?? pool.start) })
  }

  get reserves(): Reserves {
    return this.#curve.reserves
  }

  /** Applies the recorded events up to `time`. */
  advance(time: Millis): void {
    const { events } = this.#pool
    for (let event = events[this.#next]; event !== undefined && event.time <= time; event = events[this.#next]) {
      this.#apply(event)
      this.#next++
    }
  }

  /** Spends at most `lamports`, including the venue's fee; less if a curve sells out. */
  buy(lamports: bigint): Swap {
    const swap = this.#curve.quoteBuy(lamports)
    this.#curve.applyBuy(swap)
    return swap
  }

  /** Sells tokens. Returns undefined if the token cannot be sold. */
  sell(tokens: bigint): Swap | undefined {
    return this.#pool.isHoneypot ? undefined : sellInto(this.#curve, tokens)
  }

  #apply({ kind, amount, after }: PoolEvent): void {
    const curve = this.#curve
    if (kind === 'withdraw') withdraw(curve, amount)
    else if (kind === 'sell') sellInto(curve, amount)
    else curve.applyBuy(curve.quoteBuy(spendFor(amount)))
    // The trade that sold out the curve in the recording also completes this curve, even if the bot's orders left
    // tokens in it.
    if (after.complete && !curve.reserves.complete)
      curve.reserves = { ...POOL_START, realTokens: POOL_START.virtualTokens, complete: true }
  }
}

/** The smallest amount with which `Curve.quoteBuy` moves exactly `lamports` into the pool. */
function spendFor(lamports: bigint): bigint {
  return lamports + (lamports * CURVE_FEE_BPS + 9_999n) / 10_000n + 1n
}

/** Index of the first event that is later than `time`. */
function firstAfter(events: readonly PoolEvent[], time: Millis): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((events[middle] as PoolEvent).time <= time) low = middle + 1
    else high = middle
  }
  return low
}
