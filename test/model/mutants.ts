import type { Scenario } from './scenario.ts'

/** A deliberate error in the protocol: a switch of the model that the checker must detect. */
export interface Mutant {
  readonly says: string
  /** The property that the mutant violates. */
  readonly breaks: string
  readonly in: Scenario
}

const buy = (rest: Partial<Scenario> = {}): Scenario => ({ executor: 'cloud', orders: ['buy'], attempts: [1], ...rest })
const buyTwice = (rest: Partial<Scenario> = {}) => buy({ attempts: [2], ...rest })
const exitThenBuy = (rest: Partial<Scenario> = {}) => buy({ orders: ['full exit', 'buy'], attempts: [1, 1], ...rest })
const local = { executor: 'local' } as const

const LIST = {
  resendOnTimeout: {
    says: "A timeout is retried, as the service's documentation advises.",
    breaks: 'declared dead but executed',
    in: buyTwice(),
  },
  lostCountsAsUnsent: {
    says: 'A broken connection, or a 5xx, counts as unsent.',
    breaks: 'declared dead but executed',
    in: buyTwice(),
  },
  executeBeforeCommit: {
    says: 'The POST leaves before its attempt is durable.',
    breaks: 'sent before it was durable',
    in: buy(),
  },
  resumeSendsAgain: {
    says: 'After a restart an armed attempt is sent again.',
    breaks: 'declared dead but executed',
    in: buyTwice({ crashes: 1 }),
  },
  absenceByNullStatus: {
    says: 'A null status counts as proof of absence.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  absenceByTimer: {
    says: 'An attempt that was not seen for long enough is dead.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  absenceFromConfirmedView: {
    says: 'Height, balance and list are read at confirmed.',
    breaks: 'declared dead but executed',
    in: buy({ forks: 2 }),
  },
  heightReadLast: {
    says: 'The list is read before the height.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  listReadBeforeBalance: {
    says: 'The list is read before the balance: an inflow between the two reads is a mismatch.',
    breaks: 'held although nothing is wrong',
    in: buy({ inflows: 2 }),
  },
  rowsBeyondTheBalance: {
    says: "Rows after the balance's slot count.",
    breaks: 'held although nothing is wrong',
    in: buy({ inflows: 2 }),
  },
  listWithoutMinContextSlot: {
    says: 'The list may come from a node that is behind the balance.',
    breaks: 'held although nothing is wrong',
    in: buy({ inflows: 1 }),
  },
  noConservation: {
    says: 'The list alone proves absence; the index loses a row.',
    breaks: 'declared dead but executed',
    in: buy({ broken: ['A4'] }),
  },
  heldForEver: {
    says: 'A held order is not read again.',
    breaks: 'never decided',
    in: buy({ broken: ['A4'] }),
  },
  noLateWait: {
    says: 'The height is read as soon as the connection ends.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  lateWaitFromArming: {
    says: 'After a restart the late wait counts from the journal.',
    breaks: 'declared dead but executed',
    in: buy({ crashes: 1 }),
  },
  lateWaitFromSoftTimeout: {
    says: 'The late wait begins while the connection is still open.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  boundTooSmallByOne: {
    says: 'The bound leaves no margin for a node that is behind.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  headFromBefore: {
    says: 'The head is older than the question: a node that is behind counts as fresh by a clock that is behind.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  undatedCountsAsDated: {
    says: 'The head of an RPC without block times counts as the newest.',
    breaks: 'declared dead but executed',
    in: buy({ undated: true }),
  },
  waitsForBlockTime: {
    says: 'The bound waits for a block time, and the RPC has none.',
    breaks: 'never decided',
    in: buy({ undated: true }),
  },
  laneFreedAtUnknown: {
    says: 'An unknown order frees its lane.',
    breaks: 'lane not held exactly while undecided',
    in: buy(),
  },
  reservationFreedAtUnknown: {
    says: 'An unknown order releases its reservation.',
    breaks: 'reservation not held exactly while undecided',
    in: buy(),
  },
  reservationNotRestored: {
    says: 'A fill that a fork reversed does not reserve again.',
    breaks: 'reservation not held exactly while undecided',
    in: buy({ forks: 1 }),
  },
  laneClosedFromArming: {
    says: 'A lane is closed from arming on, not from acceptance.',
    breaks: 'two open orders in a lane',
    in: buy({ orders: ['buy', 'buy'], attempts: [1, 1] }),
  },
  reversalIgnored: {
    says: 'A confirmed fill counts as final.',
    breaks: 'booked without an execution',
    in: buy({ forks: 1 }),
  },
  retryAfterProvisionalRevert: {
    says: 'A revert at confirmed is retried at once; a fork turns it into an execution.',
    breaks: 'executed twice',
    in: buyTwice({ forks: 2 }),
  },
  revertWithoutSignatureEnds: {
    says: 'A revert in the lane ends an attempt with an unknown signature; the service retries, and so does Sluice.',
    breaks: 'executed twice',
    in: buyTwice({ persists: true }),
  },
  reportNotRedelivered: {
    says: 'A report that the engine had not taken is lost with the process.',
    breaks: 'execution not booked',
    in: buy({ crashes: 1 }),
  },
  fillBookedTwice: {
    says: 'The engine books each report of a fill.',
    breaks: 'fill booked twice',
    in: buy(),
  },
  refusedNotWatched: {
    says: 'A refused attempt is forgotten; the service executes it later.',
    breaks: 'execution not booked',
    in: buy({ broken: ['A7'] }),
  },
  lateFillsNotAdopted: {
    says: 'Executions after the end of their attempt are not looked up.',
    breaks: 'execution not booked',
    in: buy({ broken: ['A1'] }),
  },
  lateFillWithoutAlarm: {
    says: 'A second execution is booked without an alarm.',
    breaks: 'executed twice without an alarm',
    in: buy({ broken: ['A2'] }),
  },
  alarmDoesNotStopRetries: {
    says: 'SLIPPAGE_EXCEEDED is retried although refused attempts have executed.',
    breaks: 'tried again after an alarm',
    in: buy({ orders: ['buy', 'buy'], attempts: [1, 2], broken: ['A7'] }),
  },
  partialExitRepeated: {
    says: 'A partial exit is repeated without proof.',
    breaks: 'executed twice',
    in: buyTwice({ orders: ['partial exit'] }),
  },
  buyWhileExitOpen: {
    says: 'The buy lane stays open during a full exit.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy(),
  },
  buyAfterFirstExitFill: {
    says: 'The first fill of a full exit opens the buy lane while its repeat is out.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ attempts: [2, 1] }),
  },
  buyAfterProvisionalExit: {
    says: 'A full exit counts as proved at confirmed; a fork moves the sale after the buy.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ forks: 1 }),
  },
  rowProvesOneOfSeveral: {
    says: 'A row without a known signature ends one of several open attempts.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ attempts: [2, 1] }),
  },
  inflowHaltsBuys: {
    says: 'Dust from a stranger halts buys.',
    breaks: 'halted by an inflow',
    in: buy({ inflows: 1 }),
  },
  foreignIgnored: {
    says: 'A transaction that a third party signed with the wallet halts nothing.',
    breaks: 'foreign transaction without a halt',
    in: buy({ foreign: 1 }),
  },
  signedSentBeforeCommit: {
    says: 'Signed bytes leave before they are durable.',
    breaks: 'sent before it was durable',
    in: buy(local),
  },
  builtGoesOnAfterRestart: {
    says: 'After a restart an attempt that was only built is signed, and the order is built again.',
    breaks: 'ended while undecided',
    in: buyTwice({ ...local, crashes: 1 }),
  },
  signedAfterFill: {
    says: 'A built attempt of a full exit is signed although another attempt has sold, and blocks no buy.',
    breaks: 'bought while a full exit was open',
    in: { ...local, orders: ['full exit', 'buy'], attempts: [2, 1] },
  },
  newTransactionWithoutProof: {
    says: 'A new transaction is signed before the old one is proved expired.',
    breaks: 'executed twice',
    in: buyTwice(local),
  },
  signedAgainOnRestart: {
    says: 'After a restart a new transaction is signed.',
    breaks: 'declared dead but executed',
    in: buyTwice({ ...local, crashes: 1 }),
  },
  builderBoundTooLow: {
    says: "The builder's height is the bound, and is too low.",
    breaks: 'declared dead but executed',
    in: buy(local),
  },
  builderBoundAbsurd: {
    says: "The builder's height is the bound, and is never reached.",
    breaks: 'never decided',
    in: buy(local),
  },
  heightOfNodeBehind: {
    says: 'The bound comes from a node that does not know the blockhash yet.',
    breaks: 'declared dead but executed',
    in: buy(local),
  },
} satisfies Record<string, Mutant>

export type MutantName = keyof typeof LIST
export const MUTANTS = Object.entries(LIST) as [MutantName, Mutant][]
