import { encodeBase58 } from '../core/base58.ts'
import { digest } from './addresses.ts'
import { type AccountState, Bank, ownerOf } from './bank.ts'
import { ChainLedger, type ChainOptions } from './chain-ledger.ts'
import { executeTransaction } from './execution.ts'
import { type Account, type LandedTransaction, type Transaction, Unsupported } from './ledger.ts'
import type { Landing, Machine, Pending, Place } from './machine.ts'
import type { Program } from './program.ts'
import type { Change, Records } from './records.ts'
import { FIRST_AVAILABLE_SLOT } from './slots.ts'
import { encodeTokenAccount } from './token-layout.ts'

export interface SmallLedgerOptions extends ChainOptions {
  programs: Record<string, Program>
  /** Lamports by address, where there is no such account yet. */
  funds?: Record<string, number>
}

/** The chain in plain TypeScript: transactions of our own wallets only. */
export class SmallLedger extends ChainLedger {
  constructor(options: SmallLedgerOptions) {
    super(options, new SmallMachine(options.records, options.programs, options.funds ?? {}))
  }
}

class SmallMachine implements Machine {
  readonly name = 'small'
  readonly runsBytes = false
  readonly #programs: Record<string, Program>
  readonly #funds: Record<string, number>
  readonly #bank: Bank

  constructor(records: Records, programs: Record<string, Program>, funds: Record<string, number>) {
    this.#programs = programs
    this.#funds = funds
    this.#bank = new Bank(records.read('account'))
  }

  fund(): Change[] {
    for (const [address, lamports] of Object.entries(this.#funds))
      if (!this.#bank.versions.has(address)) this.#bank.set(address, { lamports })
    return this.#bank.commit(FIRST_AVAILABLE_SLOT, FIRST_AVAILABLE_SLOT).map((address) => this.#change(address))
  }

  account(address: string, slot: number): Account | undefined {
    // The market's pools move without a transaction.
    for (const program of Object.values(this.#programs)) {
      const account = program.account?.(address)
      if (account) return account
    }
    const state = this.#bank.versions.at(address, slot)
    return state && stateAccount(state)
  }

  tokenAccounts(owner: string, slot: number): string[] {
    const { versions } = this.#bank
    return [...versions.addresses()].filter((address) => versions.at(address, slot)?.token?.owner === owner)
  }

  prepare({ instruction }: Transaction, recentBlockhash: string, number: number): { signature: string } {
    if (!this.#programs[instruction.program]) throw new Error(`no program ${instruction.program}`)
    const halves = ['a', 'b'].map((half) => digest(recentBlockhash, ` signature ${number} ${half}`))
    return { signature: encodeBase58(Buffer.concat(halves)) }
  }

  read(): never {
    throw new Unsupported()
  }

  simulate(): never {
    throw new Unsupported()
  }

  execute(pending: Pending, place: Place, finalSlot: number): Landing {
    const { program: id, data } = pending.transaction!.instruction
    const program = this.#programs[id]!
    program.load?.(data, this.#bank)
    const loaded = this.#bank.commit(place.slot, finalSlot)
    const landed = executeTransaction(this.#bank, program, pending, place)
    const changed = new Set([...loaded, ...this.#bank.commit(place.slot, finalSlot)])
    return { landed, changes: [...changed].map((address) => this.#change(address)) }
  }

  told({ transaction }: Pending, landed: LandedTransaction): void {
    const { program, data } = transaction!.instruction
    this.#programs[program]!.landed?.(data, landed)
  }

  rewind(slot: number): Change[] {
    return this.#bank.versions.rewind(slot).map((address) => this.#change(address))
  }

  #change(address: string): Change {
    return { kind: 'account', key: address, body: this.#bank.versions.saved(address) }
  }
}

/** An account as the chain knows it. */
export function stateAccount(state: AccountState): Account {
  const data = state.token ? encodeTokenAccount(state.token) : new Uint8Array(0)
  return { lamports: state.lamports, owner: ownerOf(state), executable: false, data }
}
