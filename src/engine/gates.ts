import type { Veto } from './limits/order-bounds.ts'
import type { GateCode, Input } from './messages.ts'
import type { Order } from './order.ts'

type GateInput = Extract<Input, { kind: 'gate' }>

/** Conditions outside of the engine that stop entries for as long as they last. Each ends only with the input that says
 *  so: no command of an operator lifts one, and none is remembered over a restart. */
export class Gates {
  /** By account, '' for all accounts: why entries are stopped. */
  readonly #closed = new Map<string, Map<GateCode, string>>()

  /** Accounts of which one entry may go for now, and that entry; '' where none is out. */
  readonly #singles = new Map<string, string>()

  take({ account, open, code = 'CHAIN_UNREAD', reason = '', single = false }: GateInput): void {
    if (code === 'CHAIN_UNREAD') this.#setSingle(account, single)
    const reasons = this.#closed.get(account) ?? new Map<GateCode, string>()
    if (open) reasons.delete(code)
    else reasons.set(code, reason === '' ? REASONS[code] : reason)
    this.#closed.set(account, reasons)
  }

  /** Why this account may buy nothing. */
  veto(account: string): Veto | undefined {
    for (const one of [account, '']) for (const [code, reason] of this.#closed.get(one) ?? []) return { code, reason }
    return undefined
  }

  /** Why the first entry of this account has to be the only one for now. */
  alone(account: string): Veto | undefined {
    const first = this.#singles.get(account) ?? ''
    return first === '' ? undefined : { code: 'FIRST_BUY', reason: `${first} is the first since the start` }
  }

  entered({ id, account }: Pick<Order, 'id' | 'account'>): void {
    if (this.#singles.has(account)) this.#singles.set(account, id)
  }

  /** Another one may go in its place. */
  notExecuted({ id, account }: Pick<Order, 'id' | 'account'>): void {
    if (this.#singles.get(account) === id) this.#singles.set(account, '')
  }

  #setSingle(account: string, single: boolean): void {
    if (!single) this.#singles.delete(account)
    else if (!this.#singles.has(account)) this.#singles.set(account, '')
  }
}

/** Where the input gives none. */
const REASONS: Readonly<Record<GateCode, string>> = {
  CHAIN_UNREAD: 'the chain has not been read up to now',
  DISK_LOW: 'the disk that holds the journal is nearly full',
}
