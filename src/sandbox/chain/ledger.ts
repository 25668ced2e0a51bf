/** The sandbox's chain: the RPC endpoint reads it, and the trading desk submits to it. Two implementations:
 *  `runtime-ledger.ts` on Solana's runtime (LiteSVM), and `small-ledger.ts` in plain TypeScript if the runtime is not
 *  installed. Both pass test/contracts/ledger.contract.ts. Lamports are safe integers, token amounts bigint base
 *  units, times ms since the epoch, addresses and signatures base58. */

import type { Change } from '../records.ts'

/** processed: the newest block; confirmed: two slots behind; finalized: 32 slots behind. */
export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** Newest block at a commitment. Height counts blocks and grows slower than the slot, because some slots have no
 *  block. */
export interface Head {
  slot: number
  height: number
}

export interface Blockhash {
  blockhash: string
  /** Last height, inclusive, at which a transaction with this blockhash may land: 150 above the height of its block. */
  lastValidBlockHeight: number
}

export interface Account {
  lamports: number
  /** Owner program. Token accounts and mints are owned by a token program, and `data` has its layout. */
  owner: string
  executable: boolean
  data: Uint8Array
}

/** Action of a transaction, as data that survives a restart. `program` names a program that the ledger was opened
 *  with. */
export interface Instruction {
  program: string
  data: unknown
}

export interface Transaction {
  /** Signs, and pays the base fee and the priority fee. */
  payer: string
  instruction: Instruction
  /** In addition to the base fee of 5,000 lamports. Both are paid even if the instruction fails. */
  priorityFeeLamports: number
}

/** Solana's JSON format, for example {InstructionError: [2, {Custom: 6042}]}. */
export type TransactionError = string | { readonly [kind: string]: unknown }

export interface AccountUse {
  address: string
  signer: boolean
  writable: boolean
  /** Addresses from a lookup table follow the message's keys, writable ones first. */
  source: 'transaction' | 'lookupTable'
  preLamports: number
  postLamports: number
}

/** Token account before and after the transaction; undefined if it did not exist. */
export interface TokenUse {
  account: string
  mint: string
  owner: string
  /** Token or Token-2022. */
  program: string
  decimals: number
  pre: bigint | undefined
  post: bigint | undefined
}

export interface LandedInstruction {
  program: string
  accounts: string[]
  /** Hex. */
  data: string
}

/** Instruction that a program called. Account indexes refer to the transaction's accounts; `data` is hex. */
export interface InnerInstruction {
  program: number
  accounts: number[]
  data: string
  /** 2 if an instruction of the transaction itself made the call. */
  stackHeight: number
}

export interface LandedTransaction {
  signature: string
  slot: number
  /** Number of transactions that landed before; orders the transactions of a slot. */
  position: number
  /** Seconds since the epoch. */
  blockTime: number
  error: TransactionError | null
  feeLamports: number
  recentBlockhash: string
  /** In the order of the balances: the message's keys, then writable and read-only keys of lookup tables. */
  accounts: AccountUse[]
  tokens: TokenUse[]
  instructions: LandedInstruction[]
  /** By the index of the calling instruction. */
  inner: [place: number, called: InnerInstruction[]][]
  computeUnits: number
  logs: string[]
  /** Signed bytes, base64; absent on the small ledger, which has no bytes. */
  bytes?: string
}

export interface SimulationOptions {
  commitment: Commitment
  /** Whether signatures are verified; if not, they may be empty. */
  verifySignatures: boolean
  /** Replaces the transaction's blockhash with the newest one. */
  replaceBlockhash: boolean
}

/** Result of a simulation, as if the transaction landed in the newest block at a commitment. */
export interface SimulatedTransaction
  extends Pick<LandedTransaction, 'error' | 'feeLamports' | 'accounts' | 'tokens' | 'inner' | 'computeUnits' | 'logs'> {
  /** Accounts after the transaction by address; undefined if the account does not exist. Empty if the transaction
   *  fails. */
  after: Map<string, Account | undefined>
  /** Blockhash that replaced the transaction's own. */
  replacement: Blockhash | undefined
  /** Return data, base64; absent if the transaction returned none. */
  returned: { program: string; data: string } | undefined
}

/** Thrown by a ledger that cannot execute signed bytes. */
export class Unsupported extends Error {
  constructor() {
    super('this sandbox has no Solana runtime; install litesvm to execute transactions')
  }
}

/** Thrown for bytes that no validator accepts. */
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
  /** Only rows older than this signature. */
  before?: string | undefined
  /** Only rows newer than this signature. */
  until?: string | undefined
  commitment: Commitment
}

export interface Ledger {
  /** Identity of the chain: unique for every new chain, kept across restarts. */
  readonly genesisHash: string
  readonly slotMs: number
  readonly firstAvailableSlot: number
  /** Whether signed transactions from clients are executed; if not, `send` and `simulate` throw Unsupported. */
  readonly runsBytes: boolean
  /** Number of transactions landed since the chain began. */
  readonly transactionCount: number

  head(commitment: Commitment): Head
  /** Ms since the epoch; undefined if the slot has no block. */
  blockTime(slot: number): number | undefined
  latestBlockhash(commitment: Commitment): Blockhash
  isBlockhashValid(blockhash: string, commitment: Commitment): boolean

  account(address: string, commitment: Commitment): Account | undefined
  /** Token accounts of an owner, without closed ones. */
  tokenAccounts(owner: string, commitment: Commitment): string[]
  /** A landed transaction at any commitment; compare its slot with `head`. */
  transaction(signature: string): LandedTransaction | undefined
  /** Transactions that name the address, newest first. */
  signatures(query: SignatureQuery): LandedTransaction[]

  /** Submits a transaction of the service. Durable when it returns. The transaction lands after `afterSlots`
   *  (default: 1 to 3, by the seed); Infinity: the network loses it. */
  submit(transaction: Transaction, afterSlots?: number): string
  /** Accepts a client's signed transaction and returns its signature. Durable when it returns. A transaction that has
   *  landed, is pending or has expired is ignored. `afterSlots` as above. Throws BadTransaction. */
  send(bytes: Uint8Array, afterSlots?: number): string
  /** Has no side effects. Throws BadTransaction. */
  simulate(bytes: Uint8Array, options: SimulationOptions): SimulatedTransaction
  /** Runs `run` with all reads `slots` further back, like a node that lags. */
  lagging<T>(slots: number, run: () => T): T
  /** Reverts a transaction that is not finalized, and all that landed in its slot or later. Returns the reverted
   *  signatures. They land again after `relandAfterSlots`, or never. */
  fork(signature: string, relandAfterSlots?: number): string[]
  /** Registers a listener that is called after each block is durable. */
  onBlock(listener: (slot: number, landed: LandedTransaction[]) => void): void
  close(): void
}

export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const

/** A transaction that was sent and has not landed. */
export interface Pending {
  signature: string
  recentBlockhash: string
  landSlot: number
  /** Order of the service; absent if a client sent signed bytes. */
  transaction?: Transaction
  /** Signed bytes, base64; absent on a machine without the runtime. */
  bytes?: string
}

/** Position at which a transaction lands. */
export type Place = Pick<LandedTransaction, 'slot' | 'position' | 'blockTime'>

export interface Landing {
  /** Undefined if the payer cannot pay the fee; such a transaction never lands. */
  landed: LandedTransaction | undefined
  /** Accounts to save. */
  changes: Change[]
}

/** Holds the accounts of a chain and executes its transactions. Blocks, time, forks and history belong to the chain
 *  (`chain-ledger.ts`). */
export interface Machine {
  /** A chain always runs on the same machine. */
  readonly name: string
  /** Whether the machine executes signed bytes; if not, `read` and `simulate` throw Unsupported. */
  readonly runsBytes: boolean
  /** Creates the missing initial accounts of a chain. Returns them to be saved. */
  fund(): Change[]
  account(address: string, slot: number): Account | undefined
  /** Token accounts of an owner at a slot. */
  tokenAccounts(owner: string, slot: number): string[]
  /** `number` is unique on this chain, so that two equal requests give two transactions. */
  prepare(transaction: Transaction, recentBlockhash: string, number: number): Pick<Pending, 'signature' | 'bytes'>
  /** Throws BadTransaction. */
  read(bytes: Uint8Array): Pick<Pending, 'signature' | 'recentBlockhash'>
  execute(pending: Pending, place: Place, finalSlot: number): Landing
  /** Called when a landed transaction is durable. */
  recorded(pending: Pending, landed: LandedTransaction): void
  /** Reverts all changes from a slot on. */
  rewind(slot: number): Change[]
  simulate(bytes: Uint8Array, place: Place, options: SimulationOptions): SimulatedTransaction
}
