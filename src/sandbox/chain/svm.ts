import type {
  FailedTransactionMetadata,
  LiteSvm,
  Account as NativeAccount,
  TransactionMetadata,
} from 'litesvm/dist/internal.js'
import { encodeBase58 } from '../../solana/base58.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { decodeTokenAccount } from '../../solana/token-account.ts'
import { keyBytes } from '../../solana/transaction.ts'
import type { Change, Records } from '../records.ts'
import type { AccountState } from './bank.ts'
import { type Version, Versions } from './bank.ts'
import type { Account, TransactionError } from './ledger.ts'
import { stateAccount } from './small-ledger.ts'

/** Native part of LiteSVM. Its usual JavaScript interface is not used: it needs @solana/kit, which takes 250 ms to load
 *  and parses every transaction twice. */
export type Native = typeof import('litesvm/dist/internal.js')
export type { LiteSvm, NativeAccount, TransactionMetadata }

/** Loads the runtime; undefined if the optional package is not installed, or has no binary for this machine. */
export async function loadNative(): Promise<Native | undefined> {
  try {
    const module = (await import('litesvm/dist/internal.js')) as Native & { default?: Native }
    return module.default ?? module
  } catch {
    return undefined
  }
}

// Names of errors in the order of their numbers in LiteSVM. The names are those of Solana (solana-transaction-error,
// solana-instruction).

const TRANSACTION_ERRORS =
  'AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled'.split(
    ' ',
  )

const INSTRUCTION_ERRORS =
  'GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded BuiltinProgramsMustConsumeComputeUnits BorshIoError'.split(
    ' ',
  )

/** Converts an error to the JSON format of a Solana node. */
export function errorOf(failed: FailedTransactionMetadata): TransactionError {
  const error = failed.err()
  if (typeof error === 'number') return TRANSACTION_ERRORS[error] ?? 'ClusterMaintenance'
  if ('err' in error) return { InstructionError: [error.index, instructionError(error.err())] }
  if ('accountIndex' in error) return { InsufficientFundsForRent: { account_index: error.accountIndex } }
  return { DuplicateInstruction: error.index }
}

function instructionError(error: number | { code: number } | { msg: string }): string | { Custom: number } {
  if (typeof error === 'number') return INSTRUCTION_ERRORS[error] ?? 'GenericError'
  return 'code' in error ? { Custom: error.code } : 'BorshIoError'
}

/** Accounts whose state is outside of the chain and changes without transactions: the market's pools. */
export interface Outside {
  /** Called with the addresses of a transaction before it uses them. If a mint is among them, it identifies the
   *  pool. */
  meet(addresses: readonly string[]): void
  account(address: string): Account | undefined
}

/** Saved form of an account. On a chain that began on the small ledger, some accounts still have the form of that
 *  ledger. */
type SavedState = { lamports: number; owner: string; executable: boolean; data: string } | AccountState

/** Accounts of a chain: the runtime's present copies, and their states at every slot that is not finalized. */
export class SvmAccounts {
  readonly #native: Native
  readonly #vm: LiteSvm
  readonly #versions: Versions<Account>
  readonly #outside: Outside
  /** Addresses of the accounts whose copy in the runtime is older than their newest state. */
  readonly #behind = new Set<string>()

  constructor(native: Native, vm: LiteSvm, records: Records, outside: Outside) {
    this.#native = native
    this.#vm = vm
    this.#outside = outside
    const saved = [...records.read<Version<SavedState>[]>('account')]
    this.#versions = new Versions(new Map(saved.map(([address, versions]) => [address, versions.map(fromSaved)])))
    for (const address of this.#versions.addresses()) this.write(address, this.#versions.newest(address))
  }

  /** The runtime's copy of an account; undefined if it has none. */
  read(address: string): Account | undefined {
    const account = this.#vm.getAccount(keyBytes(address))
    return account === null ? undefined : fromNative(account)
  }

  /** Changes only the runtime's copy of an account, not its stored states. */
  write(address: string, account: Account | undefined): void {
    const { lamports, owner, executable, data } = account ?? NOTHING
    const native = new this.#native.Account(BigInt(lamports), data, keyBytes(owner), executable, 0n)
    this.#vm.setAccount(keyBytes(address), native)
  }

  /** Updates the runtime's copies: accounts outside of the chain to their present state, the others to their state at a
   *  slot. */
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

  /** Stores the state of an account after a block. Returns the change that must be saved; undefined for an account that
   *  the chain does not store. */
  keep(
    address: string,
    before: Account | undefined,
    account: Account | undefined,
    slot: number,
    finalSlot: number,
  ): Change | undefined {
    if (this.#outside.account(address)) return undefined
    if (before && before.lamports > 0 && !this.#versions.has(address)) {
      // This is a built-in account of the runtime, such as a program. Transfers to such an account are undone.
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

/** Contents that the runtime shows for an address without an account. */
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
