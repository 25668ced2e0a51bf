import type { Millis, TokenAmount } from '../../base/units.ts'
import { isPublicKey, isSignature } from '../../solana/base58.ts'

/** Highest transaction version of Solana. getTransaction rejects a transaction whose version is above the number that
 *  the caller names. */
export const HIGHEST_TRANSACTION_VERSION = 1

/** The parts of a transaction that concern balances. */
export interface LandedTransaction {
  readonly signature: string
  readonly slot: number
  /** Block time in ms, exact to a second; null if the node does not know it. */
  readonly time: Millis | null
  /** Error as the node reports it; null if the transaction succeeded. */
  readonly error: unknown
  readonly feeLamports: number
  /** Number of signers. They are the first accounts; the first one is the fee payer. */
  readonly signers: number
  /** Addresses in the order of the balances: first the accounts of the message, then the writable and the readonly
   *  accounts from lookup tables. */
  readonly accounts: readonly string[]
  readonly lamportsBefore: readonly number[]
  readonly lamportsAfter: readonly number[]
  readonly before: readonly TokenBalance[]
  readonly after: readonly TokenBalance[]
  /** Instructions; undefined if they cannot be read. They are used only to split the costs of a fill. */
  readonly calls?: Calls | undefined
}

export interface TokenBalance {
  /** Index of the token account in `accounts`. */
  readonly account: number
  readonly mint: string
  readonly owner: string
  readonly tokens: TokenAmount
  readonly decimals: number
}

/** Reads an answer of getTransaction with encoding `json`. Returns undefined if a field that amounts depend on is
 *  missing or invalid. The answer is checked this strictly because its numbers are booked. */
export function readTransaction(answer: unknown): LandedTransaction | undefined {
  try {
    return transactionOf(answer as RawTransaction)
  } catch {
    return undefined
  }
}

interface RawTransaction {
  slot: unknown
  blockTime?: unknown
  meta: {
    err: unknown
    fee: unknown
    preBalances: unknown[]
    postBalances: unknown[]
    preTokenBalances?: RawBalance[] | null
    postTokenBalances?: RawBalance[] | null
    innerInstructions?: unknown
    loadedAddresses?: { writable: unknown[]; readonly: unknown[] } | null
  }
  transaction: {
    signatures: unknown[]
    message: { accountKeys: unknown[]; instructions?: unknown; header: { numRequiredSignatures: unknown } }
  }
}

interface RawBalance {
  accountIndex: unknown
  mint: unknown
  owner: unknown
  uiTokenAmount: { amount: unknown; decimals: unknown }
}

function transactionOf({ slot, blockTime, meta, transaction }: RawTransaction): LandedTransaction {
  const { message } = transaction
  const looked = meta.loadedAddresses ?? { writable: [], readonly: [] }
  const accounts = [...message.accountKeys, ...looked.writable, ...looked.readonly].map((key) => must(key, isPublicKey))
  const lamportsBefore = meta.preBalances.map((value) => must(value, isWhole))
  const lamportsAfter = meta.postBalances.map((value) => must(value, isWhole))
  must(lamportsBefore.length === accounts.length && lamportsAfter.length === accounts.length, isTrue)
  return {
    signature: must(transaction.signatures[0], isSignature),
    slot: must(slot, isWhole),
    time: isWhole(blockTime) ? blockTime * 1_000 : null,
    error: meta.err ?? null,
    feeLamports: must(meta.fee, isWhole),
    signers: must(message.header.numRequiredSignatures, isWhole),
    accounts,
    lamportsBefore,
    lamportsAfter,
    before: (meta.preTokenBalances ?? []).map(balanceOf),
    after: (meta.postTokenBalances ?? []).map(balanceOf),
    calls: readCalls(message.instructions, meta.innerInstructions, accounts),
  }
}

function balanceOf({ accountIndex, mint, owner, uiTokenAmount }: RawBalance): TokenBalance {
  return {
    account: must(accountIndex, isWhole),
    mint: must(mint, isPublicKey),
    owner: typeof owner === 'string' ? owner : '', // old nodes omit the owner
    tokens: BigInt(must(uiTokenAmount.amount, isDigits)),
    decimals: must(uiTokenAmount.decimals, isWhole),
  }
}

function must<T>(value: unknown, is: (value: unknown) => value is T): T {
  if (!is(value)) throw new TypeError('invalid field in the transaction')
  return value
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value)
}

function isTrue(value: unknown): value is true {
  return value === true
}

/** An instruction of a landed transaction, called by the message or by another instruction. */
export interface Call {
  readonly program: string
  readonly accounts: readonly string[]
  /** Instruction data in base58, as the node reports it. */
  readonly data: string
  /** The calling instruction; undefined for a top-level instruction. */
  readonly parent: Call | undefined
}

/** Instructions of a transaction, in order. */
export interface Calls {
  readonly all: readonly Call[]
  /** Whether the node recorded inner instructions. If not, `all` has only top-level instructions. */
  readonly hasInner: boolean
}

interface RawCall {
  programIdIndex: unknown
  accounts: unknown
  data: unknown
  stackHeight?: unknown
}

/** Reads `message.instructions` and `meta.innerInstructions` of an answer of getTransaction with encoding `json`. If
 *  the instructions are invalid, returns undefined and does not throw, because they are needed only to split the costs
 *  of a fill. */
function readCalls(outer: unknown, inner: unknown, accounts: readonly string[]): Calls | undefined {
  try {
    return callsOf(outer as RawCall[], inner as { index: unknown; instructions: RawCall[] }[] | null, accounts)
  } catch {
    return undefined
  }
}

function callsOf(
  outer: readonly RawCall[],
  inner: readonly { index: unknown; instructions: readonly RawCall[] }[] | null | undefined,
  keys: readonly string[],
): Calls {
  const groups = new Map((inner ?? []).map(({ index, instructions }) => [index, instructions]))
  const all = outer.flatMap((raw, index) => {
    const open: Call[] = [callOf(raw, undefined, keys)]
    const called = [...open]
    for (const one of groups.get(index) ?? []) {
      // A top-level instruction has stack height 1. Old nodes omit the height; the caller is then assumed to be the
      // top-level instruction.
      const height = one.stackHeight ?? 2
      if (!isPlace(height, open.length + 2) || height < 2)
        throw new TypeError('invalid stack height of an inner instruction')
      open.length = height - 1
      const call = callOf(one, open.at(-1), keys)
      open.push(call)
      called.push(call)
    }
    return called
  })
  return { all, hasInner: Array.isArray(inner) }
}

function callOf({ programIdIndex, accounts, data }: RawCall, parent: Call | undefined, keys: readonly string[]): Call {
  if (typeof data !== 'string' || !Array.isArray(accounts)) throw new TypeError('not an instruction')
  const key = (place: unknown): string => {
    if (!isPlace(place, keys.length)) throw new TypeError('account index out of range')
    return keys[place] as string
  }
  return { program: key(programIdIndex), accounts: accounts.map(key), data, parent }
}

function isPlace(value: unknown, length: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < length
}
