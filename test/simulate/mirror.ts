import type { Output } from '../../src/engine/messages.ts'
import { isOpen, laneOf, type Order, type OrderState, sharesLane } from '../../src/engine/order.ts'
import { isStopped } from '../../src/engine/recovered-money.ts'
import type { Recovered } from '../../src/journal/reader/recovery.ts'
import { type Attempt, isUndecided } from '../../src/orders/attempt.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { walletIn } from './ledger.ts'
import { Standing } from './standing.ts'
import { TimerWatch } from './timer-watch.ts'

/** The state of a process, computed only from the records that the process writes into its journal. */
export class Mirror {
  readonly orders = new Map<string, { readonly order: Order; state: OrderState }>()
  readonly attempts = new Map<string, Attempt['state']>()
  /** Attempts that Sluice signed itself, by signature. */
  readonly signed = new Map<string, Attempt>()
  /** Whether the engine has received the report that the disk is short of space. */
  isDiskLow = false
  /** Balance of each wallet at its last audit. */
  readonly audited = new Map<string, number>()
  /** Signatures of foreign transactions that the operator has not accepted yet. */
  readonly foreign = new Set<string>()
  readonly complaints: string[] = []
  readonly standing: Standing
  readonly timers = new TimerWatch((what) => this.complaints.push(what))
  /** Ids of the written reports that the engine has not taken yet. */
  readonly #untaken = new Set<number>()
  /** For each account, whether the process may buy. */
  readonly #gates = new Map<string, boolean>()
  /** Accounts whose entries are halted until the operator resumes them. */
  readonly #halted = new Set<string>()
  readonly #note: (what: string) => void
  readonly #attempt: (attempt: Attempt) => void

  /** `attempt` is called with each attempt that the process writes. */
  constructor(past: Recovered, note: (what: string) => void, attempt: (attempt: Attempt) => void) {
    const { orders, attempts, money, wallets, untaken } = past
    this.#note = note
    this.#attempt = attempt
    this.standing = new Standing(past)
    for (const account of money.accounts) if (isStopped(account)) this.#halted.add(account.account)
    for (const { order, state } of orders) this.orders.set(order.id, { order, state })
    for (const attempt of attempts) this.#attempted(attempt)
    for (const { id } of untaken) this.#untaken.add(id)
    for (const { cursor } of wallets) this.#audited(cursor)
    for (const account of money.accounts) for (const signature of account.foreign ?? []) this.foreign.add(signature)
  }

  /** Returns whether the process has the state of exactly `wallets` wallets, and may buy with each of them. */
  isOpenFor(wallets: number): boolean {
    return this.#gates.size === wallets && [...this.#gates.values()].every((isOpen) => isOpen)
  }

  isHalted(account: string): boolean {
    return this.#halted.has(account)
  }

  get open(): { readonly order: Order; state: OrderState }[] {
    return [...this.orders.values()].filter(({ state }) => isOpen(state))
  }

  get isIdle(): boolean {
    for (const { state } of this.orders.values()) if (isOpen(state)) return false
    for (const state of this.attempts.values()) if (isUndecided(state)) return false
    return this.#untaken.size === 0
  }

  watch(journal: Journal): Journal {
    return {
      rows: (...row) => journal.rows(...row),
      input: (seq, time, input) => {
        if (input.kind === 'gate' && input.code === undefined) this.#gates.set(input.account, input.open)
        if (input.kind === 'gate' && input.code === 'DISK_LOW') this.isDiskLow = !input.open
        if (input.kind === 'foreign' && input.attemptId === undefined) this.foreign.add(input.signature)
        if (input.kind === 'report') this.#untaken.delete(input.id)
        this.timers.input(input, time)
        journal.input(seq, time, input)
      },
      output: (seq, time, index, output) => {
        this.#take(output)
        journal.output(seq, time, index, output)
      },
      write: (record) => {
        if (record.kind === 'wallet') this.#audited(record.cursor)
        if (record.kind === 'report') this.#untaken.add(record.id)
        if (record.kind === 'attempt') {
          this.#attempted(record.attempt)
          this.#attempt(record.attempt)
          this.#note(`journal: ${record.attempt.id} is ${record.attempt.state}`)
        }
        journal.write(record)
      },
      commit: (then) => journal.commit(then),
    }
  }

  #attempted(attempt: Attempt): void {
    this.attempts.set(attempt.id, attempt.state)
    if (attempt.executor === 'local' && attempt.signature !== '') this.signed.set(attempt.signature, attempt)
  }

  #take(output: Output): void {
    this.standing.take(output)
    this.timers.output(output)
    if (output.kind === 'order') this.#ordered(output.order)
    else if (output.kind === 'account') this.#account(output.money)
    else if (output.kind === 'orderState') {
      const known = this.orders.get(output.orderId)
      if (known !== undefined) known.state = output.state
      this.#note(`engine: ${output.orderId} is ${output.state} ${output.code}`)
    } else if (output.kind === 'conditional') {
      const { id, state, code, orderId, action, when } = output.order
      this.#note(`engine: ${id} to ${action.side}, ${when.kind}, is ${state} ${code} ${orderId}`)
    }
  }

  #account(money: Extract<Output, { kind: 'account' }>['money']): void {
    if (isStopped(money)) this.#halted.add(money.account)
    else this.#halted.delete(money.account)
  }

  #audited({ account, lamports }: { readonly account: string; readonly lamports: number }): void {
    this.audited.set(walletIn(account), lamports)
  }

  #ordered(order: Order): void {
    const { id, side, size, mint } = order
    if (this.isHalted(order.account) && order.class === 'entry')
      this.complaints.push(`${id} is accepted although entries are halted`)
    for (const { order: held } of this.open)
      if (laneOf(held) === laneOf(order) && !sharesLane(order, held))
        this.complaints.push(`${id} is accepted although its lane is held by ${held.id}`)
    this.orders.set(id, { order, state: 'accepted' })
    this.#note(`engine: ${id} ${side} ${size.kind} of ${mint.slice(0, 4)}`)
  }
}
