/**
 * The chain behind the sandbox: what the RPC endpoint reads and what the trading desk submits to. Two adapters:
 * `runtime-ledger.ts`, a real Solana runtime (LiteSVM), and `small-ledger.ts` in plain TypeScript for where that is
 * missing. Both pass test/contracts/ledger.contract.ts.
 * Lamports are safe integers, token amounts bigint base units, times ms since the epoch, addresses and signatures
 * base58.
 */

import type { Change } from '../records.ts'

/** Processed: the newest block; confirmed: two slots behind; finalized: 32 slots behind. */
export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** The newest block at a commitment. Height counts blocks, so it grows slower than the slot: some slots have none. */
export interface Head {
  slot: number
  height: number
}

export interface Blockhash {
  blockhash: string
  /** The last height, inclusive, at which a transaction with this blockhash may land: 150 above its own block. */
  lastValidBlockHeight: number
}

export interface Account {
  lamports: number
  /** The program that owns it; token accounts and mints have the token program and its layout in `data`. */
  owner: string
  executable: boolean
  data: Uint8Array
}

/** What a transaction does, as data that survives the process: `program` names one that the ledger was opened with. */
export interface Instruction {
  program: string
  data: unknown
}

export interface Transaction {
  /** Pays fee and priority fee, signs. */
  payer: string
  instruction: Instruction
  /** On top of the base fee of 5,000 lamports; both are paid even when the instruction fails. */
  priorityFeeLamports: number
}

/** Solana's own shape, e.g. {InstructionError: [2, {Custom: 6042}]}. */
export type TransactionError = string | { readonly [kind: string]: unknown }

export interface AccountUse {
  address: string
  signer: boolean
  writable: boolean
  /** Addresses from a lookup table are not in the message: they come after its keys, writable ones first. */
  source: 'transaction' | 'lookupTable'
  preLamports: number
  postLamports: number
}

/** A token account before and after; undefined where it did not exist. */
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

/** One that a program called. Places count in the transaction's accounts; data is hex. */
export interface InnerInstruction {
  program: number
  accounts: number[]
  data: string
  /** 2: called by the transaction's own instruction. */
  stackHeight: number
}

export interface LandedTransaction {
  signature: string
  slot: number
  /** Transactions that landed before it: orders those of one slot. */
  position: number
  /** Seconds since the epoch. */
  blockTime: number
  error: TransactionError | null
  feeLamports: number
  recentBlockhash: string
  /** In the order of the balances: the message's keys, then writable and readonly ones of lookup tables. */
  accounts: AccountUse[]
  tokens: TokenUse[]
  instructions: LandedInstruction[]
  /** By the place of the instruction that called them. */
  inner: [place: number, called: InnerInstruction[]][]
  computeUnits: number
  logs: string[]
  /** As it was sent, base64; absent on the small ledger, which has only what it did. */
  bytes?: string
}

export interface SimulationOptions {
  commitment: Commitment
  /** Whether signatures count; without, empty ones do. */
  verifySignatures: boolean
  /** Runs it with the newest blockhash instead of its own. */
  replaceBlockhash: boolean
}

/** What a transaction would do: as if it landed in the newest block at a commitment. */
export interface SimulatedTransaction
  extends Pick<LandedTransaction, 'error' | 'feeLamports' | 'accounts' | 'tokens' | 'inner' | 'computeUnits' | 'logs'> {
  /** By address, of everything it names; undefined where there would be nothing. Empty where it fails. */
  after: Map<string, Account | undefined>
  /** The one that stands in for its own. */
  replacement: Blockhash | undefined
  /** Absent where nothing was returned; data is base64. */
  returned: { program: string; data: string } | undefined
}

/** This ledger runs no bytes. */
export class Unsupported extends Error {
  constructor() {
    super('this sandbox has no Solana runtime: install litesvm for one')
  }
}

/** Bytes that no validator takes; never lands. */
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
  /** Rows older than this signature. */
  before?: string | undefined
  /** Rows newer than this signature. */
  until?: string | undefined
  commitment: Commitment
}

export interface Ledger {
  /** The chain's name: new for every new chain, kept by a chain that goes on from its file. */
  readonly genesisHash: string
  readonly slotMs: number
  readonly firstAvailableSlot: number
  /** Runs transactions that somebody else signed; where it does not, `send` and `simulate` throw Unsupported. */
  readonly runsBytes: boolean
  /** Transactions landed since the chain began. */
  readonly transactionCount: number

  head(commitment: Commitment): Head
  /** Ms since the epoch; undefined where the slot has no block. */
  blockTime(slot: number): number | undefined
  latestBlockhash(commitment: Commitment): Blockhash
  isBlockhashValid(blockhash: string, commitment: Commitment): boolean

  account(address: string, commitment: Commitment): Account | undefined
  /** Addresses of the token accounts of an owner, closed ones left out. */
  tokenAccounts(owner: string, commitment: Commitment): string[]
  /** A landed transaction at any commitment: compare its slot with `head`. */
  transaction(signature: string): LandedTransaction | undefined
  /** Newest first. Only transactions that name the address. */
  signatures(query: SignatureQuery): LandedTransaction[]

  /**
   * On disk when it returns. Lands after `afterSlots` (1 to 3 by the seed if left out); Infinity: the network loses it.
   */
  submit(transaction: Transaction, afterSlots?: number): string
  /**
   * A signed transaction from outside; its signature. On disk when it returns, if it lives: what has landed, is under
   * way or has expired changes nothing. `afterSlots` as above. Throws BadTransaction.
   */
  send(bytes: Uint8Array, afterSlots?: number): string
  /** Changes nothing. Throws BadTransaction. */
  simulate(bytes: Uint8Array, options: SimulationOptions): SimulatedTransaction
  /** Whatever `run` reads lies so many slots further back: a node that lags. */
  lagging<T>(slots: number, run: () => T): T
  /**
   * A fork takes back the transaction, which is not finalized, and all that landed in its slot or later; returns the
   * signatures dropped. They land again after `relandAfterSlots`, or never.
   */
  fork(signature: string, relandAfterSlots?: number): string[]
  /** Called after each block, once what landed in it is on disk. */
  onBlock(listener: (slot: number, landed: LandedTransaction[]) => void): void
  close(): void
}

export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const

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

/** What holds the accounts of a chain and runs its transactions; blocks, time, forks and history are the chain's own
 *  (`chain-ledger.ts`). */
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
