import { TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { TokenState } from '../../solana/token-account.ts'
import { tokenAccountAddress } from '../keys.ts'

export interface AccountState {
  lamports: number
  token?: TokenState
}

/** Error of a program, in Solana's format: {Custom: 1} or a name. The transaction is reverted, but its fee is still
 *  paid. */
export class ProgramFailure extends Error {
  readonly detail: string | { Custom: number }

  constructor(detail: string | { Custom: number }, message: string) {
    super(message)
    this.detail = detail
  }
}

/** Error for insufficient funds: number 1 in both the system program and the token program. */
const INSUFFICIENT = { Custom: 1 }

/** Account balances at every slot that is not finalized. At most one transaction is open at a time. */
export class Bank {
  readonly versions: Versions<AccountState>
  readonly #open = new Map<string, AccountState | undefined>()

  constructor(saved: Map<string, Version<AccountState>[]>) {
    this.versions = new Versions(saved)
  }

  /** State of an account inside the open transaction. */
  read(address: string): AccountState | undefined {
    return this.#open.has(address) ? this.#open.get(address) : this.versions.newest(address)
  }

  lamports(address: string): number {
    return this.read(address)?.lamports ?? 0
  }

  token(address: string): TokenState | undefined {
    return this.read(address)?.token
  }

  set(address: string, state: AccountState | undefined): void {
    this.#open.set(address, state)
  }

  transfer(from: string, to: string, lamports: number): void {
    const source = this.read(from)
    if (!source || source.lamports < lamports) {
      throw new ProgramFailure(
        INSUFFICIENT,
        `Transfer: insufficient lamports ${source?.lamports ?? 0}, need ${lamports}`,
      )
    }
    this.set(from, { ...source, lamports: source.lamports - lamports })
    this.set(to, { ...this.read(to), lamports: this.lamports(to) + lamports })
  }

  /** Address of the owner's associated token account. If the account does not exist, the payer opens it and pays its
   *  rent. */
  openTokenAccount(payer: string, owner: string, mint: string): string {
    const address = tokenAccountAddress(owner, mint)
    if (this.token(address)) return address
    this.transfer(payer, address, TOKEN_ACCOUNT_RENT)
    this.set(address, { lamports: this.lamports(address), token: { mint, owner, amount: 0n } })
    return address
  }

  /** Closes an empty token account and returns its rent to the owner. */
  closeTokenAccount(address: string): void {
    const state = this.read(address)
    if (!state?.token || state.token.amount > 0n)
      throw new ProgramFailure({ Custom: 11 }, 'Non-native account can only be closed if its balance is zero')
    this.transfer(address, state.token.owner, state.lamports)
    this.set(address, undefined)
  }

  moveTokens(from: string, to: string, amount: bigint): void {
    const source = this.read(from)
    const target = this.read(to)
    if (!source?.token || !target?.token) throw new ProgramFailure('InvalidAccountData', 'not a token account')
    if (source.token.amount < amount) throw new ProgramFailure(INSUFFICIENT, 'Error: insufficient funds')
    this.set(from, { ...source, token: { ...source.token, amount: source.token.amount - amount } })
    this.set(to, { ...target, token: { ...target.token, amount: target.token.amount + amount } })
  }

  rollback(): void {
    this.#open.clear()
  }

  /** Commits the open transaction at a slot. Returns the changed accounts. */
  commit(slot: number, finalSlot: number): string[] {
    const changed = [...this.#open.keys()]
    for (const [address, state] of this.#open) this.versions.put(address, state, slot, finalSlot)
    this.#open.clear()
    return changed
  }
}

/** Address of the program that owns an account. */
export function ownerOf(state: AccountState): string {
  return state.token ? PROGRAMS.token : PROGRAMS.system
}

/** State of an account from a slot on; undefined if the account was closed at that slot. */
export interface Version<State> {
  slot: number
  state: State | undefined
}

/** States of every account at all slots that are not finalized. */
export class Versions<State> {
  readonly #versions: Map<string, Version<State>[]>

  constructor(saved: Map<string, Version<State>[]>) {
    this.#versions = saved
  }

  at(address: string, slot: number): State | undefined {
    return this.#versions.get(address)?.findLast((version) => version.slot <= slot)?.state
  }

  newest(address: string): State | undefined {
    return this.#versions.get(address)?.at(-1)?.state
  }

  has(address: string): boolean {
    return this.#versions.has(address)
  }

  addresses(): IterableIterator<string> {
    return this.#versions.keys()
  }

  /** Sets an account's state from a slot on. Discards versions older than the newest finalized one. */
  put(address: string, state: State | undefined, slot: number, finalSlot: number): void {
    const versions = (this.#versions.get(address) ?? []).filter((version) => version.slot < slot)
    const oldest = versions.findLastIndex((version) => version.slot <= finalSlot)
    this.#versions.set(address, [...versions.slice(Math.max(0, oldest)), { slot, state }])
  }

  /** Reverts all changes from a slot on. Returns the changed accounts. */
  rewind(slot: number): string[] {
    const changed: string[] = []
    for (const [address, versions] of this.#versions) {
      const kept = versions.filter((version) => version.slot < slot)
      if (kept.length === versions.length) continue
      if (kept.length > 0) this.#versions.set(address, kept)
      else this.#versions.delete(address)
      changed.push(address)
    }
    return changed
  }

  /** Versions of an account to save; undefined if the account has none. */
  saved(address: string): readonly Version<State>[] | undefined {
    return this.#versions.get(address)
  }
}
