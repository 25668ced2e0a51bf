import type { Millis, TokenAmount } from '../../base/units.ts'
import { isPublicKey, isSignature } from '../../solana/base58.ts'

/** What Solana has of transaction versions: a lower number makes getTransaction refuse the newer ones. */
export const HIGHEST_TRANSACTION_VERSION = 1

/** A transaction of the chain, as far as money goes. */
export interface LandedTransaction {
  readonly signature: string
  readonly slot: number
  /** Of the block, whole seconds as ms; null where the node does not know. */
  readonly time: Millis | null
  /** null: it succeeded. */
  readonly error: unknown
  readonly feeLamports: number
  /** The first so many accounts signed; the very first paid the fee. */
  readonly signers: number
  /** In the order of the balances: those of the message, then the looked-up writable and readonly ones. */
  readonly accounts: readonly string[]
  readonly lamportsBefore: readonly number[]
  readonly lamportsAfter: readonly number[]
  readonly before: readonly TokenBalance[]
  readonly after: readonly TokenBalance[]
  /** What it called; undefined where that cannot be read. Only the parts of a fill's costs rest on it. */
  readonly calls?: Calls | undefined
}

export interface TokenBalance {
  /** Place in `accounts`. */
  readonly account: number
  readonly mint: string
  readonly owner: string
  readonly tokens: TokenAmount
  readonly decimals: number
}

/** The answer of getTransaction with encoding `json`; undefined where anything that money depends on is missing or not
 *  what it should be. A node is a stranger: its numbers become money. */
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
    owner: typeof owner === 'string' ? owner : '', // nodes of long ago left it out
    tokens: BigInt(must(uiTokenAmount.amount, isDigits)),
    decimals: must(uiTokenAmount.decimals, isWhole),
  }
}

function must<T>(value: unknown, is: (value: unknown) => value is T): T {
  if (!is(value)) throw new TypeError('not what a node answers')
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

/** An instruction of a transaction that landed, called by the message itself or from inside another one. */
export interface Call {
  readonly program: string
  readonly accounts: readonly string[]
  /** Base58, as the node tells it. */
  readonly data: string
  /** Who called it; undefined: the message. */
  readonly parent: Call | undefined
}

/** What a transaction called, in order. */
export interface Calls {
  readonly all: readonly Call[]
  /** Whether the node recorded what was called from inside; else `all` are those of the message. */
  readonly hasInner: boolean
}

interface RawCall {
  programIdIndex: unknown
  accounts: unknown
  data: unknown
  stackHeight?: unknown
}

/** From `message.instructions` and `meta.innerInstructions` of an answer of getTransaction, encoding json; undefined
 *  where they are not what a node answers. Nothing but the parts of a fill rests on them. */
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
      // 1 is the message's own instruction. Nodes of long ago do not say how deep: then it is taken for its direct
      // call.
      const height = one.stackHeight ?? 2
      if (!isPlace(height, open.length + 2) || height < 2) throw new TypeError('a call of nobody')
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
    if (!isPlace(place, keys.length)) throw new TypeError('an account that is not there')
    return keys[place] as string
  }
  return { program: key(programIdIndex), accounts: accounts.map(key), data, parent }
}

function isPlace(value: unknown, length: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < length
}
