import type { Veto } from './limits/order-bounds.ts'
import type { GateCode, Input } from './messages.ts'
import type { Order } from './order.ts'

type GateInput = Extract<Input, { kind: 'gate' }>

/** External conditions that stop entries. Each is lifted only by its own input: `resume` does not lift it, and a
 *  restart forgets it. */
export class EntryGates {
  /** Reasons for the stop, by account ('' for all accounts) and code. */
  readonly #closed = new Map<string, Map<GateCode, string>>()

  /** Accounts in which only one entry may go for now, with the id of that entry ('' before it). */
  readonly #singles = new Map<string, string>()

  take({ account, open, code = 'CHAIN_UNREAD', reason = '', single = false }: GateInput): void {
    if (code === 'CHAIN_UNREAD') this.#setSingle(account, single)
    const reasons = this.#closed.get(account) ?? new Map<GateCode, string>()
    if (open) reasons.delete(code)
    else reasons.set(code, reason === '' ? REASONS[code] : reason)
    this.#closed.set(account, reasons)
  }

  /** Why entries of this account are stopped. */
  veto(account: string): Veto | undefined {
    for (const one of [account, '']) for (const [code, reason] of this.#closed.get(one) ?? []) return { code, reason }
    return undefined
  }

  /** Why another entry has to wait for the result of the first one. */
  alone(account: string): Veto | undefined {
    const first = this.#singles.get(account) ?? ''
    return first === ''
      ? undefined
      : { code: 'FIRST_BUY', reason: `order ${first}, the first since the start, is still pending` }
  }

  entered({ id, account }: Pick<Order, 'id' | 'account'>): void {
    if (this.#singles.has(account)) this.#singles.set(account, id)
  }

  /** Gives the place of the single entry free. */
  notExecuted({ id, account }: Pick<Order, 'id' | 'account'>): void {
    if (this.#singles.get(account) === id) this.#singles.set(account, '')
  }

  #setSingle(account: string, single: boolean): void {
    if (!single) this.#singles.delete(account)
    else if (!this.#singles.has(account)) this.#singles.set(account, '')
  }
}

/** Reasons used when the input contains none. */
const REASONS: Readonly<Record<GateCode, string>> = {
  CHAIN_UNREAD: 'the chain has not been read yet',
  DISK_LOW: 'the disk that holds the journal is nearly full',
  UNIT_CONTRADICTED: 'the amounts of the feed are not in SOL',
}
