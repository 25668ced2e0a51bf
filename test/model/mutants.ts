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
    says: 'After a broken connection or a 5xx, the attempt counts as unsent.',
    breaks: 'declared dead but executed',
    in: buyTwice(),
  },
  executeBeforeCommit: {
    says: 'The POST is sent before its attempt is durable.',
    breaks: 'sent before it was durable',
    in: buy(),
  },
  resumeSendsAgain: {
    says: 'After a restart an attempt that was recorded for sending is sent again.',
    breaks: 'declared dead but executed',
    in: buyTwice({ crashes: 1 }),
  },
  absenceByNullStatus: {
    says: 'If the RPC returns null as the status of a signature, this proves that the attempt did not execute.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  absenceByTimer: {
    says: 'If an attempt was not seen for long enough, it counts as dead.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  absenceFromConfirmedView: {
    says: 'Height, balance and signatures are read at commitment confirmed instead of finalized.',
    breaks: 'declared dead but executed',
    in: buy({ forks: 2 }),
  },
  heightReadLast: {
    says: "The list of the wallet's signatures is read before the height.",
    breaks: 'declared dead but executed',
    in: buy(),
  },
  listReadBeforeBalance: {
    says: 'The signatures are read before the balance. A transfer between the two reads is then a difference.',
    breaks: 'held although nothing is wrong',
    in: buy({ inflows: 2 }),
  },
  rowsBeyondTheBalance: {
    says: 'Transactions after the slot of the balance count in the sum.',
    breaks: 'held although nothing is wrong',
    in: buy({ inflows: 2 }),
  },
  listWithoutMinContextSlot: {
    says: 'The list of signatures may come from a node that has not reached the slot of the balance.',
    breaks: 'held although nothing is wrong',
    in: buy({ inflows: 1 }),
  },
  noConservation: {
    says: 'The list of signatures alone proves absence. The RPC then omits a transaction from the list.',
    breaks: 'declared dead but executed',
    in: buy({ broken: ['A4'] }),
  },
  heldForEver: {
    says: 'A held order is not read again.',
    breaks: 'never decided',
    in: buy({ broken: ['A4'] }),
  },
  noLateWait: {
    says: 'The height is read when the connection ends, without the wait for a late execution.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  lateWaitFromArming: {
    says: 'After a restart, the wait for a late execution counts from the time in the journal, not from the restart.',
    breaks: 'declared dead but executed',
    in: buy({ crashes: 1 }),
  },
  lateWaitFromSoftTimeout: {
    says: 'The wait for a late execution begins while the connection is still open.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  boundTooSmallByOne: {
    says: 'The computed last valid block has no margin for a node that is behind.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  headFromBefore: {
    says: 'A height from before the request counts. If our clock is behind, a node that is behind then seems fresh.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  undatedCountsAsDated: {
    says: 'The height of an RPC without block times counts as fresh.',
    breaks: 'declared dead but executed',
    in: buy({ undated: true }),
  },
  waitsForBlockTime: {
    says: 'The last valid block is computed only with a block time, and the RPC has none.',
    breaks: 'never decided',
    in: buy({ undated: true }),
  },
  laneFreedAtUnknown: {
    says: 'An order whose attempt is unknown frees its lane (token and side).',
    breaks: 'lane not held exactly while undecided',
    in: buy(),
  },
  reservationFreedAtUnknown: {
    says: 'An order whose attempt is unknown releases its reservation.',
    breaks: 'reservation not held exactly while undecided',
    in: buy(),
  },
  reservationNotRestored: {
    says: "After a fork has reversed a fill, the order's reservation is not restored.",
    breaks: 'reservation not held exactly while undecided',
    in: buy({ forks: 1 }),
  },
  laneClosedFromArming: {
    says: 'A lane is closed only once an attempt is recorded for sending, not when the order is accepted.',
    breaks: 'two open orders in a lane',
    in: buy({ orders: ['buy', 'buy'], attempts: [1, 1] }),
  },
  reversalIgnored: {
    says: 'A fill that is only confirmed counts as final.',
    breaks: 'booked without an execution',
    in: buy({ forks: 1 }),
  },
  retryAfterProvisionalRevert: {
    says: 'After a confirmed revert, the order is sent again at once. A fork then turns the revert into an execution.',
    breaks: 'executed twice',
    in: buyTwice({ forks: 2 }),
  },
  revertWithoutSignatureEnds: {
    says: 'Any revert of the token and side ends an attempt without a signature. The service and Sluice both retry.',
    breaks: 'executed twice',
    in: buyTwice({ persists: true }),
  },
  reportNotRedelivered: {
    says: 'A report that the engine had not processed is lost when the process ends.',
    breaks: 'execution not booked',
    in: buy({ crashes: 1 }),
  },
  fillBookedTwice: {
    says: 'The engine books each report of a fill.',
    breaks: 'fill booked twice',
    in: buy(),
  },
  refusedNotWatched: {
    says: 'A refused attempt is forgotten. The service executes it later.',
    breaks: 'execution not booked',
    in: buy({ broken: ['A7'] }),
  },
  lateFillsNotAdopted: {
    says: 'Sluice does not look for executions after the end of their attempt.',
    breaks: 'execution not booked',
    in: buy({ broken: ['A1'] }),
  },
  lateFillWithoutAlarm: {
    says: 'A second execution is booked without an alarm.',
    breaks: 'executed twice without an alarm',
    in: buy({ broken: ['A2'] }),
  },
  alarmDoesNotStopRetries: {
    says: 'After SLIPPAGE_EXCEEDED an order is sent again, although refused attempts have executed before.',
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
    says: 'The first fill of a full exit opens the buy lane while another attempt of the exit may still land.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ attempts: [2, 1] }),
  },
  buyAfterProvisionalExit: {
    says: 'A full exit counts as proved once it is confirmed. A fork then moves the sale to a time after the buy.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ forks: 1 }),
  },
  rowProvesOneOfSeveral: {
    says: 'A transaction with an unknown signature ends one of several open attempts.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ attempts: [2, 1] }),
  },
  inflowHaltsBuys: {
    says: 'A small transfer from a stranger stops buys.',
    breaks: 'halted by an inflow',
    in: buy({ inflows: 1 }),
  },
  foreignIgnored: {
    says: 'A transaction that a third party signed with the wallet does not stop buys.',
    breaks: 'foreign transaction without a halt',
    in: buy({ foreign: 1 }),
  },
  signedSentBeforeCommit: {
    says: 'Signed bytes are sent before they are durable.',
    breaks: 'sent before it was durable',
    in: buy(local),
  },
  builtGoesOnAfterRestart: {
    says: 'After a restart an attempt that was built and has ended is signed, and the order is built again.',
    breaks: 'ended while undecided',
    in: buyTwice({ ...local, crashes: 1 }),
  },
  signedAfterFill: {
    says: 'A built attempt of a full exit is signed although another attempt has sold, and it does not block buys.',
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
    says: 'The expiry height that the builder returns is used as the last valid block, and is too low.',
    breaks: 'declared dead but executed',
    in: buy(local),
  },
  builderBoundAbsurd: {
    says: 'The expiry height that the builder returns is used as the last valid block, and is never reached.',
    breaks: 'never decided',
    in: buy(local),
  },
  heightOfNodeBehind: {
    says: 'The last valid block is computed from the height of a node that does not know the blockhash yet.',
    breaks: 'declared dead but executed',
    in: buy(local),
  },
} satisfies Record<string, Mutant>

export type MutantName = keyof typeof LIST
export const MUTANTS = Object.entries(LIST) as [MutantName, Mutant][]
