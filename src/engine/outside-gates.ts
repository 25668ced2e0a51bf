import type { Veto } from './limits/order-bounds.ts'
import type { GateCode, Input } from './messages.ts'
import type { Order } from './order.ts'

type GateInput = Extract<Input, { kind: 'gate' }>

/** Stops entries because of a condition outside of the engine, such as a full disk. Only an input ends a condition; the
 *  command `resume` does not. A restart forgets all conditions. */
export class EntryGates {
  /** The reasons why entries are stopped now, by account ('' for all accounts) and by code. */
  readonly #closed = new Map<string, Map<GateCode, string>>()

  /** Accounts in which only one entry may be sent for now, with the order id of that entry ('' until it is sent). */
  readonly #singles = new Map<string, string>()

  take({ account, open, code = 'CHAIN_UNREAD', reason = '', single = false }: GateInput): void {
    if (code === 'CHAIN_UNREAD') this.#setSingle(account, single)
    const reasons = this.#closed.get(account) ?? new Map<GateCode, string>()
    if (open) reasons.delete(code)
    else reasons.set(code, reason === '' ? REASONS[code] : reason)
    this.#closed.set(account, reasons)
  }

  /** Returns why entries of this account are stopped; undefined if they are not. */
  veto(account: string): Veto | undefined {
    for (const one of [account, '']) for (const [code, reason] of this.#closed.get(one) ?? []) return { code, reason }
    return undefined
  }

  /** Returns why an entry must wait for the result of the account's first entry; undefined if it need not wait. */
  alone(account: string): Veto | undefined {
    const first = this.#singles.get(account) ?? ''
    return first === ''
      ? undefined
      : {
          code: 'FIRST_BUY',
          reason: `order ${first}, the first buy since the start, is still pending; other buys wait for its result`,
        }
  }

  entered({ id, account }: Pick<Order, 'id' | 'account'>): void {
    if (this.#singles.has(account)) this.#singles.set(account, id)
  }

  /** Allows one more entry, because the first one was not executed. */
  notExecuted({ id, account }: Pick<Order, 'id' | 'account'>): void {
    if (this.#singles.get(account) === id) this.#singles.set(account, '')
  }

  #setSingle(account: string, single: boolean): void {
    if (!single) this.#singles.delete(account)
    else if (!this.#singles.has(account)) this.#singles.set(account, '')
  }
}

/** For each gate, the reason that is shown if the input that closed the gate gives no reason. */
const REASONS: Readonly<Record<GateCode, string>> = {
  CHAIN_UNREAD: 'the wallet has not been read from the chain yet',
  DISK_LOW: 'the disk that holds the journal is nearly full',
  UNIT_CONTRADICTED: 'the amounts of the feed are not in SOL: run `sluice doctor`',
}
