import type { GateCode, Input } from './messages.ts'
import type { Veto } from './risk.ts'

type GateInput = Extract<Input, { kind: 'gate' }>

/** Conditions outside of the engine that stop entries for as long as they last. Each ends only with the input that says so: no command of
 *  an operator lifts one, and none is remembered over a restart. */
export class Gates {
  /** By account, '' for all accounts: why entries are stopped. */
  readonly #closed = new Map<string, Map<GateCode, string>>()

  take({ account, open, code = 'CHAIN_UNREAD', reason = '' }: GateInput): void {
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
}

/** Where the input gives none. */
const REASONS: Readonly<Record<GateCode, string>> = {
  CHAIN_UNREAD: 'the chain has not been read up to now',
  DISK_LOW: 'the disk that holds the journal is nearly full',
}
