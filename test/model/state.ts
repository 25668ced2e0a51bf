/**
 * The transaction of an attempt. A transaction has the same index as its attempt. Heights count from the finalized
 * block, which has height 0.
 */
export interface Transaction {
  /** Last height at which the transaction may land; 0 if it can no longer land or does not exist. */
  lastHeight: number
  /** Whether the transaction was sent to the network. */
  isOut: boolean
  /** Height at which the transaction landed; 0 if its block is finalized; null if it has not landed. */
  at: number | null
  isOk: boolean
  /** Number of tokens that the transaction sold. */
  sold: number
}

/**
 * A transaction of a third party: a transfer to the wallet, or a transaction that the third party signed with the
 * wallet's key.
 */
export interface Stranger {
  kind: 'inflow' | 'foreign'
  at: number
  /** Whether a person has accepted the transaction. */
  isAccepted: boolean
}

/**
 * The request of an attempt at the service. `refused`: the service has refused it, but may still execute it. `again`:
 * the service may execute it again.
 */
export interface Post {
  request: 'none' | 'out' | 'refused' | 'again' | 'over'
  answer: 'none' | 'signature' | 'again' | 'never'
  /** Whether the client still waits for the answer. */
  isOpen: boolean
}

/** `ended`: failed, not executed, expired or refused. */
export type OrderState = 'none' | 'accepted' | 'working' | 'filled' | 'ended' | 'held'
export type AttemptState =
  | 'armed'
  | 'built'
  | 'unsent'
  | 'refused'
  | 'unknown'
  | 'acked'
  | 'signed'
  | 'landed'
  | 'filled'
  | 'reverted'
  | 'absent'

export interface OrderRow {
  state: OrderState
  /** Whether the engine has processed all reports of the order. */
  isHeard: boolean
  /** Whether the engine's books hold the order's reservation. */
  isReserved: boolean
}

export interface AttemptRow {
  readonly order: number
  state: AttemptState
  /** Transaction of the attempt, once the signature is known; null before. */
  transaction: number | null
  /**
   * The last valid block of the attempt; null if unknown. The attempt is dead once the finalized height has reached
   * this block without an execution. For the cloud executor, the last valid block is only in memory, not in the
   * journal.
   */
  bound: number | null
}

export interface FillRow {
  seen: 'none' | 'provisional' | 'final'
  /** How many times the engine's books contain the fill. */
  booked: number
}

export interface Journal {
  orders: OrderRow[]
  attempts: AttemptRow[]
  /** Index: transaction. */
  fills: FillRow[]
  /**
   * Whether an attempt was seen to execute after it was refused or proved absent. Such an execution raises an alarm,
   * which prevents immediate retries.
   */
  isAlarmed: boolean
  /** Whether buys wait until a person accepts a foreign transaction. */
  isHalted: boolean
}

/** A proof of absence that has begun. Its sets of transactions and attempts are stored as bits. */
export interface Bracket {
  /** Number of reads (of height, balance and signatures) so far. */
  reads: number
  /** The attempts whose last valid block is not above the finalized height. */
  past: number
  /** The transactions that the list of signatures contained when the proof read it first. */
  rows: number
}

/** State in memory, which is lost when the process ends. */
export interface Memory {
  /** Index of the order whose next attempt is recorded for sending, but is not durable yet. */
  arming: number | null
  /** Index of the attempt that is durable but not sent yet. */
  sending: number | null
  /** For each order: whether the gateway keeps other orders out of the order's lane (account, mint and side). */
  lanes: boolean[]
  /** For each order, whether a report waits for the engine. */
  inbox: boolean[]
  bracket: Bracket | null
  mismatches: number
}

/** Remaining faults. */
export interface Faults {
  crashes: number
  forks: number
  tokenDust: number
  lostRows: number
  /** Second executions. */
  secondExecutions: number
}

export interface State {
  /** Number of blocks above the finalized one. */
  head: number
  transactions: Transaction[]
  strangers: Stranger[]
  /** Tokens sent by others. */
  dust: number
  /** Index of the transaction that the node's list of signatures has lost. */
  lostRow: number | null
  posts: Post[]
  journal: Journal
  memory: Memory | null
  faults: Faults
}

export function isOpen({ state }: Pick<OrderRow, 'state'>): boolean {
  return state === 'accepted' || state === 'working' || state === 'held'
}

/** Returns whether the attempt may still execute. A built attempt cannot execute before it is signed. */
export function isUndecided({ state }: Pick<AttemptRow, 'state'>): boolean {
  return state === 'armed' || state === 'unknown' || state === 'acked' || state === 'signed' || state === 'landed'
}

export function isExecuted({ at, isOk }: Transaction): boolean {
  return at !== null && isOk
}

export function isFinal({ at }: Transaction): boolean {
  return at === 0
}

/**
 * Returns the order in which a transaction is booked. It is the order of the attempt with this signature, or else of
 * the attempt with this index.
 */
export function orderOfRow({ attempts }: Journal, row: number): number {
  const owner = attempts.find((attempt) => attempt.transaction === row) ?? attempts[row]
  return owner?.order ?? 0
}

export function clone(state: State): State {
  const { journal, memory } = state
  return {
    ...state,
    transactions: state.transactions.map((one) => ({ ...one })),
    strangers: state.strangers.map((one) => ({ ...one })),
    posts: state.posts.map((one) => ({ ...one })),
    journal: {
      ...journal,
      orders: journal.orders.map((one) => ({ ...one })),
      attempts: journal.attempts.map((one) => ({ ...one })),
      fills: journal.fills.map((one) => ({ ...one })),
    },
    memory: memory === null ? null : { ...memory, lanes: [...memory.lanes], inbox: [...memory.inbox] },
    faults: { ...state.faults },
  }
}

const WORDS = [
  ...['none', 'accepted', 'working', 'filled', 'ended', 'held', 'armed', 'unsent', 'refused', 'unknown', 'acked'],
  ...['signed', 'landed', 'reverted', 'absent', 'out', 'over', 'signature', 'again', 'never', 'provisional', 'final'],
  ...['inflow', 'foreign', 'built'],
]
const CODES: Readonly<Record<string, number>> = Object.fromEntries(WORDS.map((word, index) => [word, index]))

/** Returns a state as a short string, with one character for each record. */
export function keyOf(state: State): string {
  const { journal, memory, faults } = state
  let key = packed(state.head, state.dust, optional(state.lostRow), journal.attempts.length)
  key += packed(Number(journal.isAlarmed), Number(journal.isHalted), state.strangers.length, faults.crashes)
  key += packed(faults.forks, faults.tokenDust, faults.lostRows, faults.secondExecutions)
  for (const { lastHeight, isOut, at, isOk, sold } of state.transactions)
    key += packed(lastHeight, Number(isOut) + 2 * Number(isOk), optional(at), sold)
  for (const { kind, at, isAccepted } of state.strangers)
    key += packed(kind === 'foreign' ? 1 : 0, at, Number(isAccepted))
  for (const { request, answer, isOpen } of state.posts) key += word(request, Number(isOpen)) + word(answer)
  for (const { state, isHeard, isReserved } of journal.orders)
    key += word(state, Number(isHeard) + 2 * Number(isReserved))
  for (const { order, state, transaction, bound } of journal.attempts)
    key += word(state, order) + packed(optional(transaction), optional(bound))
  for (const { seen, booked } of journal.fills) key += word(seen, booked)
  if (memory === null) return key
  const { arming, sending, bracket, mismatches } = memory
  key += packed(optional(arming), optional(sending), mismatches, bracket?.reads ?? 0)
  key += String.fromCharCode(bitsOf(memory.lanes), bitsOf(memory.inbox), bracket?.past ?? 0, bracket?.rows ?? 0)
  return key
}

/** Packs up to four numbers below 16 into one character. */
function packed(one: number, two = 0, three = 0, four = 0): string {
  return String.fromCharCode(one | (two << 4) | (three << 8) | (four << 12))
}

function optional(value: number | null): number {
  return value === null ? 15 : value
}

function word(text: string, flags = 0): string {
  return String.fromCharCode((CODES[text] as number) | (flags << 5))
}

function bitsOf(flags: readonly boolean[]): number {
  let bits = 0
  for (let index = 0; index < flags.length; index++) if (flags[index]) bits |= 1 << index
  return bits
}
