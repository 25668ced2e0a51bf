/** The sandbox's chain. The RPC endpoint reads it, and the trading desk submits to it. There are two implementations:
 *  `runtime-ledger.ts` on Solana's runtime (LiteSVM), and `small-ledger.ts` in plain TypeScript if the runtime is not
 *  installed. Both pass test/contracts/ledger.contract.ts. Lamports are safe integers, token amounts are base units as
 *  bigint, times are ms since the epoch, and addresses and signatures are base58. */

import type { Change } from '../records.ts'

/** Commitment of a block. processed: the newest block. confirmed: at least two slots old. finalized: at least 32 slots
 *  old. */
export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** Newest block at a commitment. The height counts blocks. It grows more slowly than the slot, because some slots have
 *  no block. */
export interface Head {
  slot: number
  height: number
}

export interface Blockhash {
  blockhash: string
  /** Last height at which a transaction with this blockhash may land: 150 above the height of the hash's block. */
  lastValidBlockHeight: number
}

export interface Account {
  lamports: number
  /** Address of the program that owns the account. Token accounts and mints belong to a token program, and `data` has
   *  the layout of that program. */
  owner: string
  executable: boolean
  data: Uint8Array
}

/** Action of a transaction, as data that can be saved and read again after a restart. `program` is the name of a
 *  program that the ledger received when it was opened. */
export interface Instruction {
  program: string
  data: unknown
}

export interface Transaction {
  /** Wallet that signs, and pays the base fee and the priority fee. */
  payer: string
  instruction: Instruction
  /** Fee in addition to the base fee of 5,000 lamports. Both fees are paid even if the instruction fails. */
  priorityFeeLamports: number
}

/** Error in Solana's JSON format, for example {InstructionError: [2, {Custom: 6042}]}. */
export type TransactionError = string | { readonly [kind: string]: unknown }

export interface AccountUse {
  address: string
  signer: boolean
  writable: boolean
  /** Where the address comes from. Addresses from a lookup table come after the message's keys, the writable ones
   *  first. */
  source: 'transaction' | 'lookupTable'
  preLamports: number
  postLamports: number
}

/** Balance of a token account before and after the transaction; undefined while the account does not exist. */
export interface TokenUse {
  account: string
  mint: string
  owner: string
  /** Address of the token program: Token or Token-2022. */
  program: string
  decimals: number
  pre: bigint | undefined
  post: bigint | undefined
}

export interface LandedInstruction {
  program: string
  accounts: string[]
  /** Data of the instruction, hex. */
  data: string
}

/** Instruction by which one program called another. Account indexes refer to the transaction's accounts; `data` is
 *  hex. */
export interface InnerInstruction {
  program: number
  accounts: number[]
  data: string
  /** Depth of the call: 2 if an instruction of the transaction itself made it. */
  stackHeight: number
}

export interface LandedTransaction {
  signature: string
  slot: number
  /** Number of transactions that had landed on the chain before this one. It gives the order of the transactions in a
   *  slot. */
  position: number
  /** Time of the block, seconds since the epoch. */
  blockTime: number
  error: TransactionError | null
  feeLamports: number
  recentBlockhash: string
  /** Accounts in the order of Solana's balances: the message's keys, then the writable and the read-only keys from
   *  lookup tables. */
  accounts: AccountUse[]
  tokens: TokenUse[]
  instructions: LandedInstruction[]
  /** For each instruction that called other programs: its index, and the instructions that it called (inner
   *  instructions). */
  inner: [place: number, called: InnerInstruction[]][]
  computeUnits: number
  logs: string[]
  /** Signed bytes of the transaction, base64; absent on the small ledger, whose transactions have no bytes. */
  bytes?: string
}

export interface SimulationOptions {
  commitment: Commitment
  /** Whether signatures are verified; if they are not, they may be empty. */
  verifySignatures: boolean
  /** Whether the newest blockhash replaces the blockhash of the transaction. */
  replaceBlockhash: boolean
}

/** Result of a simulation, as if the transaction had landed in the newest block at a commitment. */
export interface SimulatedTransaction
  extends Pick<LandedTransaction, 'error' | 'feeLamports' | 'accounts' | 'tokens' | 'inner' | 'computeUnits' | 'logs'> {
  /** Accounts after the transaction, by address; undefined for an account that does not exist. Empty if the transaction
   *  fails. */
  after: Map<string, Account | undefined>
  /** Blockhash that replaced the blockhash of the transaction; undefined if it was not replaced. */
  replacement: Blockhash | undefined
  /** Return data, base64; undefined if the transaction returned none. */
  returned: { program: string; data: string } | undefined
}

/** Error of a ledger that cannot execute signed bytes. */
export class Unsupported extends Error {
  constructor() {
    super('this sandbox has no Solana runtime; install litesvm to execute transactions')
  }
}

/** Error for bytes that no validator accepts. */
export class BadTransaction extends Error {
  readonly kind: 'malformed' | 'unsigned'

  constructor(kind: BadTransaction['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export interface SignatureQuery {
  address: string
  limit: number
  /** Only transactions older than this signature are returned. */
  before?: string | undefined
  /** Only transactions newer than this signature are returned. */
  until?: string | undefined
  commitment: Commitment
}

export interface Ledger {
  /** Identity of the chain. It is unique for every new chain and kept over restarts. */
  readonly genesisHash: string
  readonly slotMs: number
  readonly firstAvailableSlot: number
  /** Whether signed transactions from clients are executed; if not, `send` and `simulate` throw Unsupported. */
  readonly runsBytes: boolean
  /** Number of transactions that have landed since the chain began. */
  readonly transactionCount: number

  head(commitment: Commitment): Head
  /** Time of a slot's block, ms since the epoch; undefined if the slot has no block. */
  blockTime(slot: number): number | undefined
  latestBlockhash(commitment: Commitment): Blockhash
  isBlockhashValid(blockhash: string, commitment: Commitment): boolean

  account(address: string, commitment: Commitment): Account | undefined
  /** Addresses of an owner's token accounts, without closed ones. */
  tokenAccounts(owner: string, commitment: Commitment): string[]
  /** A landed transaction. To know its commitment, compare its slot with `head`. */
  transaction(signature: string): LandedTransaction | undefined
  /** Transactions that name the address, newest first. */
  signatures(query: SignatureQuery): LandedTransaction[]

  /** Submits a transaction of the service. It is durable when the method returns. It lands after `afterSlots` slots
   *  (default: 1 to 3, drawn from the seed); Infinity means that the network loses it. */
  submit(transaction: Transaction, afterSlots?: number): string
  /** Accepts a client's signed transaction and returns its signature. The transaction is durable when the method
   *  returns. A transaction that has landed, is pending or has expired is ignored. `afterSlots`: as for `submit`.
   *  Throws BadTransaction. */
  send(bytes: Uint8Array, afterSlots?: number): string
  /** Simulates a transaction without side effects. Throws BadTransaction. */
  simulate(bytes: Uint8Array, options: SimulationOptions): SimulatedTransaction
  /** Calls `run` so that its reads see the state of the chain `slots` slots ago, like a node that lags. */
  lagging<T>(slots: number, run: () => T): T
  /** Reverts a transaction that is not finalized, and all transactions in its slot or later. Returns the reverted
   *  signatures. The reverted transactions land again after `relandAfterSlots` slots, or never if `relandAfterSlots` is
   *  absent. */
  fork(signature: string, relandAfterSlots?: number): string[]
  /** Registers a listener, which is called for each block once the block is durable. */
  onBlock(listener: (slot: number, landed: LandedTransaction[]) => void): void
  close(): void
}

export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const

/** A transaction that was sent but has not landed. */
export interface Pending {
  signature: string
  recentBlockhash: string
  landSlot: number
  /** The service's own record of the transaction; absent if a client sent signed bytes. */
  transaction?: Transaction
  /** Signed bytes, base64; absent on the small ledger, whose transactions have no bytes. */
  bytes?: string
}

/** Slot and position at which a transaction lands. */
export type Place = Pick<LandedTransaction, 'slot' | 'position' | 'blockTime'>

export interface Landing {
  /** The landed transaction; undefined if the payer cannot pay the fee, so that it never lands. */
  landed: LandedTransaction | undefined
  /** Changes of accounts, which the caller must save. */
  changes: Change[]
}

/** Holds the accounts of a chain and executes its transactions. The chain (`chain-ledger.ts`) manages blocks, time,
 *  forks and history. */
export interface Machine {
  /** `small` or `runtime`. A chain that began on the small ledger may move to the runtime, but never back. */
  readonly name: string
  /** Whether the machine executes signed bytes; if not, `read` and `simulate` throw Unsupported. */
  readonly runsBytes: boolean
  /** Creates the initial accounts that do not exist yet. Returns their states, which the caller must save. */
  fund(): Change[]
  account(address: string, slot: number): Account | undefined
  /** Addresses of an owner's token accounts at a slot. */
  tokenAccounts(owner: string, slot: number): string[]
  /** Gives a transaction its signature, and its bytes if it has any. `number` is unique on this chain, so that two
   *  equal requests give two transactions. */
  prepare(transaction: Transaction, recentBlockhash: string, number: number): Pick<Pending, 'signature' | 'bytes'>
  /** Reads the signature and the blockhash of signed bytes. Throws BadTransaction. */
  read(bytes: Uint8Array): Pick<Pending, 'signature' | 'recentBlockhash'>
  execute(pending: Pending, place: Place, finalSlot: number): Landing
  /** Called when a landed transaction has become durable. */
  recorded(pending: Pending, landed: LandedTransaction): void
  /** Reverts all changes from a slot on. Returns the affected accounts, which the caller must save. */
  rewind(slot: number): Change[]
  simulate(bytes: Uint8Array, place: Place, options: SimulationOptions): SimulatedTransaction
}
