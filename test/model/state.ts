/** The transaction of an attempt; both have the same index. Heights count from the finalized block, which is 0. */
export interface Transaction {
  /** Last height in which it may land; 0 if it cannot land any more, or does not exist. */
  lastHeight: number
  /** Whether the transaction was sent to the network. */
  isOut: boolean
  /** Height in which it landed; 0 if that block is finalized. */
  at: number | null
  isOk: boolean
  /** Tokens that it sold. */
  sold: number
}

/** A transaction by others: an inflow that the wallet did not sign, or a transaction that it signed elsewhere. */
export interface Stranger {
  kind: 'inflow' | 'foreign'
  at: number
  /** Whether a person has accepted the transaction. */
  isAccepted: boolean
}

/** The POST of an attempt at the service; `refused` only if the service may execute a refused attempt, `again` only if
 *  it may retry. */
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
   * The attempt's last valid block: the attempt is dead if the finalized height has reached it without an execution;
   * null if unknown. It is not in the journal for a cloud attempt.
   */
  bound: number | null
}

export interface FillRow {
  seen: 'none' | 'provisional' | 'final'
  /** Number of times that the engine's position counts it. */
  booked: number
}

export interface Journal {
  orders: OrderRow[]
  attempts: AttemptRow[]
  /** Index: transaction. */
  fills: FillRow[]
  /** Whether an execution after a refusal or a proof of absence was seen. It raises an alarm and ends immediate
   *  retries. */
  isAlarmed: boolean
  /** Whether buys wait until a person accepts a foreign transaction. */
  isHalted: boolean
}

/** A proof of absence in progress: sets of transactions and attempts as bits. */
export interface Bracket {
  /** Number of reads so far. */
  reads: number
  /** The attempts whose last valid block is below the finalized height. */
  past: number
  /** The transactions that the wallet had at the second read. */
  rows: number
}

/** State in memory, lost with the process. */
export interface Memory {
  /** The order whose next attempt is recorded for sending, but not yet durable. */
  arming: number | null
  /** Durable attempt that is not sent yet. */
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
  /** Blocks above the finalized one. */
  head: number
  transactions: Transaction[]
  strangers: Stranger[]
  /** Tokens sent by others. */
  dust: number
  /** Transaction that the signature index has lost. */
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
 * Returns the order to which a transaction is booked: the order of the attempt with its signature, otherwise of the
 * attempt that made the transaction.
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
