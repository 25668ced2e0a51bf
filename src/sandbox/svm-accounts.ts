import { encodeBase58 } from '../core/base58.ts'
import { PROGRAMS } from '../core/programs.ts'
import { keyBytes } from '../core/transaction-bytes.ts'
import type { AccountState } from './bank.ts'
import type { Account } from './ledger.ts'
import type { Change, Records } from './records.ts'
import { stateAccount } from './small-ledger.ts'
import type { LiteSvm, Native, NativeAccount } from './svm.ts'
import { decodeTokenAccount } from './token-layout.ts'
import { type Version, Versions } from './versions.ts'

/** Accounts that live outside the chain and change without its transactions: the market's pools. */
export interface Outside {
  /** A transaction is about to use these together: a pool is known by its mint. */
  meet(addresses: readonly string[]): void
  account(address: string): Account | undefined
}

/** As it is saved; the small ledger saves its own kind, which a chain that goes on here brings with it. */
type SavedState = { lamports: number; owner: string; executable: boolean; data: string } | AccountState

/** The accounts of a chain: those that the runtime works on, and what they were at every slot that is not final yet. */
export class SvmAccounts {
  readonly #native: Native
  readonly #vm: LiteSvm
  readonly #versions: Versions<Account>
  readonly #outside: Outside
  /** Of which the runtime's copy is as it was at some slot before. */
  readonly #behind = new Set<string>()

  constructor(native: Native, vm: LiteSvm, records: Records, outside: Outside) {
    this.#native = native
    this.#vm = vm
    this.#outside = outside
    const saved = [...records.read<Version<SavedState>[]>('account')]
    this.#versions = new Versions(new Map(saved.map(([address, versions]) => [address, versions.map(fromSaved)])))
    for (const address of this.#versions.addresses()) this.write(address, this.#versions.newest(address))
  }

  /** As the runtime has it now. */
  read(address: string): Account | undefined {
    const account = this.#vm.getAccount(keyBytes(address))
    return account === null ? undefined : fromNative(account)
  }

  /** Changes the runtime's copy and nothing else. */
  write(address: string, account: Account | undefined): void {
    const { lamports, owner, executable, data } = account ?? NOTHING
    const native = new this.#native.Account(BigInt(lamports), data, keyBytes(owner), executable, 0n)
    this.#vm.setAccount(keyBytes(address), native)
  }

  /** Brings the runtime's copy of what lives outside up to date; the others to what they were at a slot. */
  open(addresses: readonly string[], slot: number): void {
    this.#outside.meet(addresses)
    for (const address of addresses) {
      const outside = this.#outside.account(address)
      if (outside) this.write(address, outside)
      else this.#turnTo(address, slot)
    }
  }

  #turnTo(address: string, slot: number): void {
    const version = this.#versions.at(address, slot)
    const isNewest = version === this.#versions.newest(address)
    if (isNewest && !this.#behind.has(address)) return
    this.write(address, version)
    if (isNewest) this.#behind.delete(address)
    else this.#behind.add(address)
  }

  at(address: string, slot: number): Account | undefined {
    const outside = this.#outside.account(address)
    if (outside) return outside
    return this.#versions.has(address) ? this.#versions.at(address, slot) : this.read(address)
  }

  /** Keeps what a block has made of an account; undefined where it is not the chain's to keep. */
  keep(
    address: string,
    before: Account | undefined,
    account: Account | undefined,
    slot: number,
    finalSlot: number,
  ): Change | undefined {
    if (this.#outside.account(address)) return undefined
    if (before && before.lamports > 0 && !this.#versions.has(address)) {
      // The runtime brought it along, a program for one: whatever is sent there, it stays as it is.
      this.write(address, before)
      return undefined
    }
    this.#versions.put(address, account, slot, finalSlot)
    return this.#change(address)
  }

  has(address: string): boolean {
    return this.#versions.has(address)
  }

  tokenAccounts(owner: string, slot: number): string[] {
    return [...this.#versions.addresses()].filter((address) => {
      const account = this.#versions.at(address, slot)
      return account && isTokenProgram(account.owner) && decodeTokenAccount(account.data)?.owner === owner
    })
  }

  rewind(slot: number): Change[] {
    return this.#versions.rewind(slot).map((address) => {
      this.write(address, this.#versions.newest(address))
      return this.#change(address)
    })
  }

  #change(address: string): Change {
    const body = this.#versions.saved(address)?.map(({ slot, state }) => ({ slot, state: state && toSaved(state) }))
    return { kind: 'account', key: address, body }
  }
}

/** What an address without an account reads as to the runtime. */
const NOTHING: Account = { lamports: 0, owner: PROGRAMS.system, executable: false, data: new Uint8Array(0) }

export function isTokenProgram(program: string): boolean {
  return program === PROGRAMS.token || program === PROGRAMS.token2022
}

export function isSameAccount(a: Account | undefined, b: Account | undefined): boolean {
  if (!a || !b) return a === b
  return a.lamports === b.lamports && a.owner === b.owner && Buffer.compare(a.data, b.data) === 0
}

export function fromNative(account: NativeAccount): Account {
  return {
    lamports: Number(account.lamports()),
    owner: encodeBase58(account.owner()),
    executable: account.executable(),
    data: account.data(),
  }
}

function toSaved({ data, ...rest }: Account): SavedState {
  return { ...rest, data: Buffer.from(data).toString('base64') }
}

function fromSaved({ slot, state }: Version<SavedState>): Version<Account> {
  if (!state) return { slot, state: undefined }
  if (!('owner' in state)) return { slot, state: stateAccount(state) }
  return { slot, state: { ...state, data: Buffer.from(state.data, 'base64') } }
}
