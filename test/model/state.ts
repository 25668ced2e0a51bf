/** A transaction of ours, by the number of the attempt that it belongs to. Heights count from the finalized block,
 *  which is 0. */
export interface Transaction {
  /** Last height in which it may land; 0 where it can not land any more, or does not exist. */
  lastHeight: number
  /** Somebody handed it to the network. */
  isOut: boolean
  /** Height in which it landed; 0 is finalized. */
  at: number | null
  isOk: boolean
  /** Tokens that it took out of the wallet. */
  sold: number
}

/** What others do with the wallet: an inflow that it did not sign, or a transaction that it signed elsewhere. */
export interface Stranger {
  kind: 'inflow' | 'foreign'
  at: number
  /** A person has accepted it. */
  isAccepted: boolean
}

/** A POST at the service, by attempt; `refused` only where the service may execute after saying no, `again` where it
 *  may try again. */
export interface Post {
  request: 'none' | 'out' | 'refused' | 'again' | 'over'
  answer: 'none' | 'signature' | 'again' | 'never'
  /** The client still reads. */
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
  /** The engine has taken all reports. */
  isHeard: boolean
  /** The engine's book holds money back for it. */
  isReserved: boolean
}

export interface AttemptRow {
  readonly order: number
  state: AttemptState
  /** Its transaction, once the signature is known; null before. */
  transaction: number | null
  /** Dead when the finalized height is there and nothing was found; null while not known. Of a cloud attempt it is not
   *  journaled. */
  bound: number | null
}

export interface FillRow {
  seen: 'none' | 'provisional' | 'final'
  /** How often the engine's position counts it. */
  booked: number
}

export interface Journal {
  orders: OrderRow[]
  attempts: AttemptRow[]
  /** By transaction. */
  fills: FillRow[]
  /** An execution of something thought dead was seen: the operator is told, nothing is tried again at once. */
  isAlarmed: boolean
  /** Buys wait until a person accepts a foreign transaction. */
  isHalted: boolean
}

/** One look for what is absent: sets of rows and attempts as bits. */
export interface Bracket {
  /** Reads done so far. */
  reads: number
  /** Attempts whose bound the finalized height had passed. */
  past: number
  /** Rows that the read in the middle saw. */
  rows: number
}

/** Gone with the process. */
export interface Memory {
  /** Order whose next attempt is armed and not durable yet. */
  arming: number | null
  /** Attempt that is durable and not sent yet. */
  sending: number | null
  /** By order: the gateway keeps its lane closed. */
  lanes: boolean[]
  /** By order: the engine is about to take a report. */
  inbox: boolean[]
  bracket: Bracket | null
  mismatches: number
}

/** What may still go wrong. */
export interface Faults {
  crashes: number
  forks: number
  tokenDust: number
  lostRows: number
  /** Executions of what was executed already. */
  secondExecutions: number
}

export interface State {
  /** Blocks above the finalized one. */
  head: number
  transactions: Transaction[]
  strangers: Stranger[]
  /** Tokens that others sent. */
  dust: number
  /** Transaction that the signature index does not show. */
  lostRow: number | null
  posts: Post[]
  journal: Journal
  memory: Memory | null
  faults: Faults
}

export function isOpen({ state }: Pick<OrderRow, 'state'>): boolean {
  return state === 'accepted' || state === 'working' || state === 'held'
}

/** May still execute; what was built is nobody's transaction before it is signed. */
export function isUndecided({ state }: Pick<AttemptRow, 'state'>): boolean {
  return state === 'armed' || state === 'unknown' || state === 'acked' || state === 'signed' || state === 'landed'
}

export function isExecuted({ at, isOk }: Transaction): boolean {
  return at !== null && isOk
}

export function isFinal({ at }: Transaction): boolean {
  return at === 0
}

/** The order that a transaction is booked to: that of the attempt which has its signature, else of the one that made
 *  it. */
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

/** All of a state in a short string, a character for each of its records. */
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

/** Up to four numbers below 16 as one character. */
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
