import type { Account, LandedTransaction, SimulatedTransaction, SimulationOptions, Transaction } from './ledger.ts'
import type { Change } from './records.ts'

/** A transaction on its way. */
export interface Pending {
  signature: string
  recentBlockhash: string
  landSlot: number
  /** As it was ordered; absent where somebody sent his own bytes. */
  transaction?: Transaction
  /** Base64, signed; absent on a machine that knows no bytes. */
  bytes?: string
}

/** Where a transaction lands. */
export type Place = Pick<LandedTransaction, 'slot' | 'position' | 'blockTime'>

export interface Landing {
  /** Undefined: it could not even pay its fee, and never lands. */
  landed: LandedTransaction | undefined
  /** Accounts to be saved. */
  changes: Change[]
}

/** What holds the accounts of a chain and runs its transactions; blocks, time, forks and history are the chain's own (`chain-ledger.ts`). */
export interface Machine {
  /** A chain keeps to one. */
  readonly name: string
  /** Runs signed bytes; where it does not, `read` and `simulate` throw Unsupported. */
  readonly runsBytes: boolean
  /** Makes those of a chain's first accounts that are not there yet; returns them to be saved. */
  fund(): Change[]
  account(address: string, slot: number): Account | undefined
  /** Addresses of the token accounts of an owner as of a slot. */
  tokenAccounts(owner: string, slot: number): string[]
  /** `number` is of no other transaction of this chain: the same request twice is two transactions. */
  prepare(transaction: Transaction, recentBlockhash: string, number: number): Pick<Pending, 'signature' | 'bytes'>
  /** Throws BadTransaction. */
  read(bytes: Uint8Array): Pick<Pending, 'signature' | 'recentBlockhash'>
  execute(pending: Pending, place: Place, finalSlot: number): Landing
  /** Once a landed transaction is on disk. */
  told(pending: Pending, landed: LandedTransaction): void
  /** Takes back everything from a slot on. */
  rewind(slot: number): Change[]
  simulate(bytes: Uint8Array, place: Place, options: SimulationOptions): SimulatedTransaction
}
