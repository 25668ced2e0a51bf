import fc from 'fast-check'
import { lamports } from '../../src/base/units.ts'
import { type FillCosts, NO_COSTS, networkFee, tradeOf, walletChange } from '../../src/engine/accounting/fill-costs.ts'
import { type ExecutionReport, type Fill, orderNumber } from '../../src/engine/order.ts'
import type { TradeSide } from '../../src/market/block.ts'
import type { WalletTransaction } from '../../src/orders/audit-records.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { fill, keyOf } from './journal-values.ts'

/** An event in the random history of a wallet. */
export type Happening =
  | {
      readonly kind: 'trade'
      readonly side: TradeSide
      readonly mint: number
      readonly tokens: number
      readonly parts: readonly number[]
    }
  /** A fork removes the n-th provisional fill. `again`: the amounts with which the transaction lands in another block;
   *  null if it does not land again. */
  | { readonly kind: 'fork'; readonly n: number; readonly again: readonly number[] | null }
  | { readonly kind: 'final'; readonly n: number }
  | { readonly kind: 'failed'; readonly fee: number }
  | {
      readonly kind: 'other'
      readonly class: 'inflow' | 'housekeeping' | 'foreign'
      readonly change: number
      readonly fee: number
    }
  /** A transaction that no node lists yet; if `listed`, a node lists it later. */
  | { readonly kind: 'opaque'; readonly change: number; readonly listed: boolean }
  | { readonly kind: 'audit' }
  | { readonly kind: 'restart' }

const amount = fc.integer({ min: 0, max: 3_000_000 })
const parts = fc.array(amount, { minLength: 10, maxLength: 10 })
const n = fc.nat(5)

export const happenings = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({
        kind: fc.constant('trade' as const),
        side: fc.constantFrom('buy' as const, 'sell' as const),
        mint: fc.nat(2),
        tokens: fc.integer({ min: 1, max: 12 }),
        parts,
      }),
      weight: 6,
    },
    fc.record({ kind: fc.constant('fork' as const), n, again: fc.option(parts) }),
    { arbitrary: fc.record({ kind: fc.constant('final' as const), n }), weight: 2 },
    fc.record({ kind: fc.constant('failed' as const), fee: fc.integer({ min: 5_000, max: 900_000 }) }),
    fc.record({
      kind: fc.constant('other' as const),
      class: fc.constantFrom('inflow' as const, 'housekeeping' as const, 'foreign' as const),
      change: fc.integer({ min: -2_000_000, max: 2_000_000 }),
      fee: fc.nat(5_000),
    }),
    fc.record({
      kind: fc.constant('opaque' as const),
      change: fc.integer({ min: -9_999, max: 9_999 }),
      listed: fc.boolean(),
    }),
    { arbitrary: fc.constant({ kind: 'audit' as const }), weight: 2 },
    fc.constant({ kind: 'restart' as const }),
  ),
  { minLength: 1, maxLength: 40 },
)

const FUNDS = 10_000_000_000

/** A wallet on a chain, and a journal that receives the same records as from the gateway and the audit. */
export class LedgerModel {
  /** The transactions that are on the chain, by signature. */
  readonly fills = new Map<string, Fill>()
  readonly others = new Map<string, WalletTransaction>()
  readonly account: string
  readonly #journal: () => Journal
  #slot = 100
  #seq: number
  #number: number
  #unaudited: WalletTransaction[] = []

  /** `run` is the index of this history if a journal has several histories. Each has its own account and orders. */
  constructor(journal: () => Journal, run: number) {
    this.#journal = journal
    this.account = `live|host|genesis|wallet${run}`
    this.#number = run * 1_000
    this.#seq = run * 1_000
    this.audit()
  }

  /** The finalized balance of the wallet, lamports, computed by addition and without the ledger. */
  get lamports(): number {
    let sum = FUNDS
    for (const { walletLamports, final } of this.fills.values()) if (final) sum += walletLamports
    for (const { lamports: change } of this.others.values()) sum += change
    return sum
  }

  happen(what: Exclude<Happening, { kind: 'restart' }>): void {
    this.#slot++
    if (what.kind === 'trade') this.#trade(what)
    else if (what.kind === 'fork') this.#fork(what)
    else if (what.kind === 'final') this.#final(this.#provisional(what.n))
    else if (what.kind === 'audit') this.audit()
    else if (what.kind === 'failed') this.#land({ class: 'ours', lamports: lamports(-what.fee), failed: true })
    else if (what.kind === 'other')
      this.#land({
        class: what.class,
        lamports: lamports(what.change - what.fee),
        costs: { ...NO_COSTS, baseFeeLamports: lamports(what.fee) },
      })
    else this.#opaque(what.change, what.listed)
  }

  /**
   * Decides every second provisional fill, or each one if `all` is set: it becomes final, or becomes final in another
   * block with other amounts, or fails and has no effect on the wallet. Then the engine receives the reports.
   */
  audit(all = false): void {
    const open = [...this.fills.values()].filter(({ final }) => !final)
    const untold: ExecutionReport[] = []
    for (const [index, one] of open.entries()) {
      if (!all && index % 2 === 1) continue
      if (one.tokens % 5n === 0n) {
        untold.push(reportOf({ orderId: one.orderId, reversed: one.signature, code: 'REVERSED' }))
        this.#failedAfterAll(one)
        continue
      }
      const isOther = one.tokens % 3n === 0n
      const parts = [one.walletLamports, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((part) => Math.abs(part) % 1_000_000)
      const found = isOther
        ? this.#fillOf(orderNumber({ id: one.orderId }), one.side, one.mint, one.tokens, parts)
        : one
      if (isOther) untold.push(reportOf({ orderId: one.orderId, reversed: one.signature, code: 'REVERSED' }))
      const fill = { ...found, final: true }
      untold.push(reportOf({ orderId: one.orderId, fill }))
      this.#landed(fill)
      this.#journal().write({ kind: 'fill', fill })
    }
    const numbered = untold.map((report) => ({ kind: 'report', id: this.#seq++, report }) as const)
    for (const one of numbered) this.#journal().write(one)
    const cursor = { account: this.account, genesis: 'g', slot: this.#slot, height: this.#slot, signature: '' }
    const transactions = this.#unaudited
    this.#unaudited = []
    this.#journal().write({ kind: 'wallet', cursor: { ...cursor, lamports: lamports(this.lamports) }, transactions })
    this.#journal().commit(() => {})
    for (const one of numbered) this.#journal().input(one.id, this.#slot * 400, one)
  }

  /** Records that a fill failed on the fork that became final. */
  #failedAfterAll({ signature, slot, attemptId, time }: Fill): void {
    this.fills.delete(signature)
    const about = { account: this.account, signature, slot: slot + 1, attemptId, time, after: slot }
    const row = { ...about, class: 'ours', lamports: lamports(-6_000), failed: true } as const
    this.others.set(signature, row)
    this.#unaudited.push(row)
  }

  #landed(fill: Fill): void {
    this.fills.set(fill.signature, fill)
    const { signature, slot, attemptId, time, walletLamports } = fill
    const about = { account: this.account, signature, slot, attemptId, time, after: slot - 1, failed: false }
    this.#unaudited.push({ ...about, class: 'ours', lamports: walletLamports })
  }

  #trade({ side, mint, tokens, parts: [...numbers] }: Extract<Happening, { kind: 'trade' }>): void {
    this.#number++
    this.#book(this.#fillOf(this.#number, side, keyOf(mint), BigInt(tokens), numbers))
  }

  #fork({ n: place, again }: Extract<Happening, { kind: 'fork' }>): void {
    const one = this.#provisional(place)
    if (one === undefined) return
    this.fills.delete(one.signature)
    this.#report({ orderId: one.orderId, reversed: one.signature, code: 'REVERSED' })
    if (again === null) return
    const number = Number(one.orderId.slice(1))
    this.#book(this.#fillOf(number, one.side, one.mint, one.tokens + 1n, again))
  }

  #final(one: Fill | undefined): void {
    if (one === undefined) return
    const fill = { ...one, final: true }
    this.#landed(fill)
    this.#book(fill)
  }

  #provisional(place: number): Fill | undefined {
    const open = [...this.fills.values()].filter(({ final }) => !final)
    return open[place % Math.max(1, open.length)]
  }

  #book(one: Fill): void {
    this.fills.set(one.signature, one)
    this.#journal().write({ kind: 'fill', fill: one })
    this.#report({ orderId: one.orderId, fill: one })
    // Repeated reports are booked once.
    this.#journal().write({ kind: 'fill', fill: one })
  }

  #report(more: Partial<ExecutionReport>): void {
    const seq = this.#seq++
    this.#journal().input(seq, this.#slot * 400, { kind: 'report', id: seq, report: reportOf(more) })
  }

  #land(more: Pick<WalletTransaction, 'class' | 'lamports'> & Partial<WalletTransaction>): WalletTransaction {
    const slot = this.#slot
    const row = {
      ...{
        account: this.account,
        signature: keyOf(1_000_000 + this.#number * 1_000 + slot, 64),
        slot,
        attemptId: '',
        time: slot * 400,
      },
      ...{ after: slot - 1, failed: false, ...more },
    }
    this.others.set(row.signature, row)
    this.#unaudited.push(row)
    return row
  }

  #opaque(change: number, listed: boolean): void {
    const row = this.#land({ class: 'opaque', lamports: lamports(change), signature: `?${this.#slot}` })
    this.audit()
    if (!listed) return
    // Later, a node lists an inflow of 7 lamports. It explains a part of the unexplained change of the balance, and the
    // unexplained change becomes 7 lamports smaller.
    this.#land({ class: 'inflow', lamports: lamports(7) })
    const explained = { ...row, lamports: lamports(change - 7) }
    this.others.set(row.signature, explained)
    this.#unaudited.push(explained)
  }

  #fillOf(number: number, side: TradeSide, mint: string, tokens: bigint, parts: readonly number[]): Fill {
    const costs = costsOf(parts)
    return fill(number, {
      ...{
        account: this.account,
        side,
        mint,
        tokens,
        decimals: 6,
        slot: this.#slot,
        time: this.#slot * 400,
        costs,
        signature: keyOf(number, 64),
      },
      ...{ tradeLamports: tradeOf(side, costs), feeLamports: networkFee(costs) },
      rentLamports: lamports(costs.rentPaidLamports - costs.rentReturnedLamports),
      walletLamports: lamports(walletChange(side, costs)),
    })
  }
}

function reportOf(more: Partial<ExecutionReport>): ExecutionReport {
  return { orderId: '', attemptId: '', state: 'filled', code: '', reason: '', ...more }
}

function costsOf([trade = 0, ...rest]: readonly number[]): FillCosts {
  const [venueFee, serviceFee, baseFee, priorityFee, tip, rentPaid, rentReturned, wrapped, remainder] =
    rest.map(lamports)
  return {
    ...{ tradeLamports: lamports(trade + 20_000_000), venueFeeLamports: venueFee ?? lamports(0) },
    ...{ serviceFeeLamports: serviceFee ?? lamports(0), baseFeeLamports: baseFee ?? lamports(0) },
    ...{ priorityFeeLamports: priorityFee ?? lamports(0), tipLamports: tip ?? lamports(0) },
    ...{ rentPaidLamports: rentPaid ?? lamports(0), rentReturnedLamports: rentReturned ?? lamports(0) },
    ...{ wrappedLamports: wrapped ?? lamports(0), remainderLamports: remainder ?? lamports(0) },
    withheldTokens: 3n,
    unknown: [],
  }
}
