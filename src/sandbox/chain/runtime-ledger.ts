import { encodeBase58 } from '../../solana/base58.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { decodeTokenAccount } from '../../solana/token-account.ts'
import { decodeTransaction, keyBytes, type Message, type TransactionBytes } from '../../solana/transaction.ts'
import type { Secret } from '../keys.ts'
import type { Change } from '../records.ts'
import { ChainLedger, type ChainOptions } from './chain-ledger.ts'
import type {
  AccountUse,
  InnerInstruction,
  LandedInstruction,
  Landing,
  Machine,
  Pending,
  Place,
  TokenUse,
} from './ledger.ts'
import {
  type Account,
  BadTransaction,
  type LandedTransaction,
  type SimulatedTransaction,
  type SimulationOptions,
  type Transaction,
  type TransactionError,
} from './ledger.ts'
import { budgetCalls, type Call, compileMessage, isSigned, namedAddresses, signMessage, type Table } from './message.ts'
import { FIRST_AVAILABLE_SLOT } from './slots.ts'
import {
  errorOf,
  fromNative,
  isSameAccount,
  isTokenProgram,
  type LiteSvm,
  type Native,
  type Outside,
  SvmAccounts,
  type TransactionMetadata,
} from './svm.ts'

/** Creates the instructions of one kind of transaction that the sandbox itself sends. A transaction names its builder
 *  in `Transaction.instruction.program`. */
export interface Builder<Data = never> {
  calls(data: Data): Call[]
}

/** The part of the market that is visible on the chain as accounts. */
export interface Venue extends Outside {
  /** Called for every executed transaction when it is durable. `after`: states of the accounts of the transaction after
   *  its execution. `order`: data of the trade, if the sandbox itself built the transaction. */
  landed(transaction: LandedTransaction, after: ReadonlyMap<string, Account | undefined>, order: unknown): void
}

export interface RuntimeLedgerOptions extends ChainOptions {
  native: Native
  /** Binaries of the programs to install, by address. */
  programs: Readonly<Record<string, Uint8Array>>
  builders: Readonly<Record<string, Builder>>
  venue: Venue
  /** Key pairs of the wallets for which the sandbox signs, by address. */
  secrets: ReadonlyMap<string, Secret>
  /** Lookup tables for the sandbox's own transactions. */
  tables?: readonly Table[]
  /** Initial balances in lamports by address, for accounts that do not exist yet. */
  funds: Readonly<Record<string, number>>
}

/** A chain on LiteSVM, in which Solana's own runtime executes real transactions. */
export class RuntimeLedger extends ChainLedger {
  constructor(options: RuntimeLedgerOptions) {
    super(options, new RuntimeMachine(options))
  }
}

const UNIT_LIMIT = 200_000
/** Number of different compute unit limits. The limit varies, so that two equal requests result in different bytes. */
const UNIT_LIMITS = 100_000

class RuntimeMachine implements Machine {
  readonly name = 'runtime'
  readonly runsBytes = true
  readonly #options: RuntimeLedgerOptions
  readonly #vm: LiteSvm
  readonly #accounts: SvmAccounts
  /** Accounts after the last transaction, kept until the transaction is durable. */
  #after = new Map<string, Account | undefined>()

  constructor(options: RuntimeLedgerOptions) {
    const { native, programs, records, venue } = options
    this.#options = options
    const vm = new native.LiteSvm()
    // Turns off the runtime's checks of signatures, blockhashes and repeated transactions, because the runtime
    // remembers only one blockhash and 32 transactions. The sandbox's own code makes these checks.
    vm.setSigverify(false)
    vm.setBlockhashCheck(false)
    vm.setTransactionHistory(0n)
    vm.withNativeMints()
    for (const [address, binary] of Object.entries(programs)) vm.addProgram(keyBytes(address), binary)
    this.#vm = vm
    this.#accounts = new SvmAccounts(native, vm, records, venue)
  }

  fund(): Change[] {
    return Object.entries(this.#options.funds).flatMap(([address, lamports]) => {
      if (this.#accounts.has(address)) return []
      const account = { lamports, owner: PROGRAMS.system, executable: false, data: new Uint8Array(0) }
      this.#accounts.write(address, account)
      const change = this.#accounts.keep(address, undefined, account, FIRST_AVAILABLE_SLOT, FIRST_AVAILABLE_SLOT)
      return change ? [change] : []
    })
  }

  account(address: string, slot: number): Account | undefined {
    return this.#accounts.at(address, slot)
  }

  tokenAccounts(owner: string, slot: number): string[] {
    return this.#accounts.tokenAccounts(owner, slot)
  }

  prepare({ payer, instruction, priorityFeeLamports }: Transaction, blockhash: string, number: number) {
    const { builders, secrets, tables = [] } = this.#options
    const builder = builders[instruction.program]
    if (!builder) throw new Error(`unknown program: ${instruction.program}`)
    const budget = budgetCalls(UNIT_LIMIT + (number % UNIT_LIMITS), priorityFeeLamports)
    const calls = [...budget, ...builder.calls(instruction.data as never)]
    const bytes = signMessage(compileMessage({ payer, blockhash, calls, tables }), secrets)
    const { signature } = this.read(bytes)
    return { signature, bytes: Buffer.from(bytes).toString('base64') }
  }

  read(bytes: Uint8Array): Pick<Pending, 'signature' | 'recentBlockhash'> {
    const { signatures, message } = decoded(bytes)
    return { signature: encodeBase58(signatures[0]!), recentBlockhash: message.blockhash }
  }

  execute(pending: Pending, place: Place, finalSlot: number): Landing {
    const nothing = { landed: undefined, changes: [] }
    // The transaction was submitted on the small ledger, before the chain moved to the runtime, and has no bytes.
    if (pending.bytes === undefined) return nothing
    const bytes = Buffer.from(pending.bytes, 'base64')
    const transaction = decoded(bytes)
    const addresses = this.#open(transaction.message, place)
    if (typeof addresses === 'string' || !isSigned(transaction)) return nothing
    const before = addresses.map((address) => this.#accounts.read(address))
    const result = this.#vm.sendVersionedTransaction(bytes)
    const after = addresses.map((address) => this.#accounts.read(address))
    const feeLamports = sum(before) - sum(after)
    const isFailed = result instanceof this.#options.native.FailedTransactionMetadata
    if (isFailed && feeLamports === 0) return nothing
    this.#after = new Map(addresses.map((address, index) => [address, after[index]]))
    const changes = addresses.flatMap((address, index) => {
      if (isSameAccount(before[index], after[index])) return []
      return this.#accounts.keep(address, before[index], after[index], place.slot, finalSlot) ?? []
    })
    const meta = isFailed ? result.meta() : result
    const landed: LandedTransaction = {
      signature: pending.signature,
      ...place,
      error: isFailed ? errorOf(result) : null,
      feeLamports,
      recentBlockhash: pending.recentBlockhash,
      accounts: accountUses(transaction.message, addresses, before, after),
      tokens: tokenUses(addresses, before, after, (mint) => this.account(mint, place.slot)),
      instructions: landedInstructions(transaction.message, addresses),
      inner: innerInstructions(meta),
      computeUnits: Number(meta.computeUnitsConsumed()),
      logs: meta.logs(),
      bytes: bytes.toString('base64'),
    }
    return { landed, changes }
  }

  recorded({ transaction }: Pending, landed: LandedTransaction): void {
    if (landed.error === null) this.#options.venue.landed(landed, this.#after, transaction?.instruction.data)
  }

  rewind(slot: number): Change[] {
    return this.#accounts.rewind(slot)
  }

  simulate(bytes: Uint8Array, place: Place, { verifySignatures }: SimulationOptions): SimulatedTransaction {
    const transaction = decoded(bytes)
    if (verifySignatures && !isSigned(transaction))
      throw new BadTransaction('unsigned', 'Transaction signature verification failure')
    const { message } = transaction
    const addresses = this.#open(message, place)
    if (typeof addresses === 'string') return refused(addresses)
    const before = addresses.map((address) => this.#accounts.read(address))
    const result = this.#vm.simulateVersionedTransaction(bytes)
    this.#accounts.open(addresses, Number.POSITIVE_INFINITY)
    const isFailed = result instanceof this.#options.native.FailedTransactionMetadata
    const meta = result.meta()
    const changed = new Map<string, Account | undefined>()
    if (!isFailed)
      for (const one of result.postAccounts()) changed.set(encodeBase58(one.address), fromNative(one.account()))
    const after = addresses.map((address, index) =>
      changed.has(address) ? existing(changed.get(address)) : before[index],
    )
    const returned = meta.returnData()
    return {
      error: isFailed ? errorOf(result) : null,
      feeLamports: sum(before) - sum(after),
      accounts: accountUses(message, addresses, before, after),
      tokens: tokenUses(addresses, before, after, (mint) => this.account(mint, place.slot)),
      inner: innerInstructions(meta),
      computeUnits: Number(meta.computeUnitsConsumed()),
      logs: meta.logs(),
      after: new Map(isFailed ? [] : addresses.map((address, index) => [address, after[index]])),
      replacement: undefined,
      returned:
        returned.data().length === 0
          ? undefined
          : { program: encodeBase58(returned.programId()), data: Buffer.from(returned.data()).toString('base64') },
    }
  }

  /** Returns the addresses of a message's accounts, or an error if a lookup table or its entry is missing. Sets the
   *  runtime's clock, and its copies of these accounts, to the slot at which the message is executed. */
  #open(message: Message, { slot, blockTime }: Place): string[] | Extract<TransactionError, string> {
    const addresses = namedAddresses(message, (table) => this.#accounts.at(table, slot))
    if (typeof addresses === 'string') return addresses
    const { Clock } = this.#options.native
    this.#vm.setClock(new Clock(BigInt(slot), BigInt(blockTime), 0n, 1n, BigInt(blockTime)))
    this.#accounts.open([...addresses, ...message.lookups.map(({ table }) => table)], slot)
    return addresses
  }
}

function decoded(bytes: Uint8Array): TransactionBytes {
  const result = decodeTransaction(bytes)
  if (!result.ok) throw new BadTransaction('malformed', result.reason)
  return result.transaction
}

function sum(accounts: readonly (Account | undefined)[]): number {
  return accounts.reduce((lamports, account) => lamports + (account?.lamports ?? 0), 0)
}

/** Returns undefined for an empty account: the runtime keeps a closed account for a short time as an empty one. */
function existing(account: Account | undefined): Account | undefined {
  return account && account.lamports > 0 ? account : undefined
}

/** Result of a simulated transaction whose accounts cannot be loaded. */
function refused(error: TransactionError): SimulatedTransaction {
  const nothing = { accounts: [], tokens: [], inner: [], logs: [], after: new Map(), computeUnits: 0, feeLamports: 0 }
  return { error, ...nothing, replacement: undefined, returned: undefined }
}

/** States of accounts, in the order of the transaction's addresses. */
type Snapshot = readonly (Account | undefined)[]
const MINT_DECIMALS_AT = 44

function accountUses(message: Message, addresses: readonly string[], before: Snapshot, after: Snapshot): AccountUse[] {
  return addresses.map((address, index) => ({
    address,
    signer: index < message.signers,
    writable: isWritable(message, index),
    source: index < message.keys.length ? 'transaction' : 'lookupTable',
    preLamports: before[index]?.lamports ?? 0,
    postLamports: after[index]?.lamports ?? 0,
  }))
}

function isWritable({ keys, signers, readonlySigners, readonlyOthers, lookups }: Message, index: number): boolean {
  if (index < signers) return index < signers - readonlySigners
  if (index < keys.length) return index < keys.length - readonlyOthers
  return index < keys.length + lookups.reduce((sum, { writable }) => sum + writable.length, 0)
}

/** Changes of the token accounts of a transaction. `mint` reads the account of a mint. */
function tokenUses(
  addresses: readonly string[],
  before: Snapshot,
  after: Snapshot,
  mint: (address: string) => Account | undefined,
): TokenUse[] {
  return addresses.flatMap((account, index) => {
    const [was, is] = [tokenOf(before[index]), tokenOf(after[index])]
    const token = is ?? was
    if (!token) return []
    const { program, state } = token
    const decimals = mint(state.mint)?.data[MINT_DECIMALS_AT] ?? 0
    const amounts = { pre: was?.state.amount, post: is?.state.amount }
    return [{ account, mint: state.mint, owner: state.owner, program, decimals, ...amounts }]
  })
}

function tokenOf(account: Account | undefined) {
  const state = account && isTokenProgram(account.owner) ? decodeTokenAccount(account.data) : undefined
  return account && state ? { program: account.owner, state } : undefined
}

function landedInstructions({ instructions }: Message, addresses: readonly string[]): LandedInstruction[] {
  return instructions.map(({ program, accounts, data }) => ({
    program: addresses[program]!,
    accounts: accounts.map((place) => addresses[place]!),
    data: Buffer.from(data).toString('hex'),
  }))
}

function innerInstructions(meta: TransactionMetadata): [number, InnerInstruction[]][] {
  return meta.innerInstructions().flatMap((called, index): [number, InnerInstruction[]][] => {
    if (called.length === 0) return []
    const inner = called.map((one) => {
      const instruction = one.instruction()
      return {
        program: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: Buffer.from(instruction.data()).toString('hex'),
        stackHeight: one.stackHeight(),
      }
    })
    return [[index, inner]]
  })
}
