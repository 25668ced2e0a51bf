import type { Scenario } from './scenario.ts'

/** A way to get the protocol wrong; each is a switch of the model, and the checker must catch it. */
export interface Mutant {
  readonly says: string
  /** The property that breaks. */
  readonly breaks: string
  readonly in: Scenario
}

const buy = (rest: Partial<Scenario> = {}): Scenario => ({ executor: 'cloud', orders: ['buy'], attempts: [1], ...rest })
const buyTwice = (rest: Partial<Scenario> = {}) => buy({ attempts: [2], ...rest })
const exitThenBuy = (rest: Partial<Scenario> = {}) => buy({ orders: ['full exit', 'buy'], attempts: [1, 1], ...rest })
const local = { executor: 'local' } as const

const LIST = {
  resendOnTimeout: {
    says: 'A timeout is tried again, as the document of the service advises.',
    breaks: 'declared dead but executed',
    in: buyTwice(),
  },
  lostCountsAsUnsent: {
    says: 'A broken connection, or a 5xx, counts as not sent.',
    breaks: 'declared dead but executed',
    in: buyTwice(),
  },
  executeBeforeCommit: {
    says: 'The POST leaves before its attempt is durable.',
    breaks: 'sent before it was durable',
    in: buy(),
  },
  resumeSendsAgain: {
    says: 'After a restart an attempt that was armed is sent again.',
    breaks: 'declared dead but executed',
    in: buyTwice({ crashes: 1 }),
  },
  absenceByNullStatus: {
    says: 'A null status means that it is not there.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  absenceByTimer: {
    says: 'What was not seen for long enough is dead.',
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
    says: 'The list is read before the balance: an inflow between them is a mismatch.',
    breaks: 'held although nothing is wrong',
    in: buy({ inflows: 2 }),
  },
  rowsBeyondTheBalance: {
    says: 'Rows after the slot of the balance count.',
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
    says: 'The bound leaves no room for a node that is behind.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  headFromBefore: {
    says: 'The head is older than the question: a node that is behind counts as fresh by a clock that is.',
    breaks: 'declared dead but executed',
    in: buy(),
  },
  undatedCountsAsDated: {
    says: 'The head of an RPC that tells no time is taken for the newest.',
    breaks: 'declared dead but executed',
    in: buy({ undated: true }),
  },
  waitsForBlockTime: {
    says: 'The bound waits for a block time, and the RPC never tells one.',
    breaks: 'never decided',
    in: buy({ undated: true }),
  },
  laneFreedAtUnknown: {
    says: 'An unknown order frees its lane.',
    breaks: 'lane not held exactly while undecided',
    in: buy(),
  },
  reservationFreedAtUnknown: {
    says: 'An unknown order gives its reservation back.',
    breaks: 'reservation not held exactly while undecided',
    in: buy(),
  },
  reservationNotRestored: {
    says: 'A fill that a fork took back does not reserve again.',
    breaks: 'reservation not held exactly while undecided',
    in: buy({ forks: 1 }),
  },
  laneClosedFromArming: {
    says: 'A lane is closed from arming on, not from acceptance.',
    breaks: 'two open orders in a lane',
    in: buy({ orders: ['buy', 'buy'], attempts: [1, 1] }),
  },
  reversalIgnored: {
    says: 'A confirmed fill is taken for final.',
    breaks: 'booked without an execution',
    in: buy({ forks: 1 }),
  },
  retryAfterProvisionalRevert: {
    says: 'A revert at confirmed is tried again at once; a fork turns it into an execution.',
    breaks: 'executed twice',
    in: buyTwice({ forks: 2 }),
  },
  revertWithoutSignatureEnds: {
    says: 'A revert in the lane ends an attempt whose signature nobody knows; the service tries again, and so do we.',
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
    says: 'A refused attempt is forgotten; the service executes it after all.',
    breaks: 'execution not booked',
    in: buy({ broken: ['A7'] }),
  },
  lateFillsNotAdopted: {
    says: 'Nobody looks at what executes after its end.',
    breaks: 'execution not booked',
    in: buy({ broken: ['A1'] }),
  },
  lateFillWithoutAlarm: {
    says: 'A second execution is booked in silence.',
    breaks: 'executed twice without an alarm',
    in: buy({ broken: ['A2'] }),
  },
  alarmDoesNotStopRetries: {
    says: 'SLIPPAGE_EXCEEDED is tried again although refusals were seen to execute.',
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
    says: 'The first fill of a full exit opens the buy lane while its repetition is out.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ attempts: [2, 1] }),
  },
  buyAfterProvisionalExit: {
    says: 'A full exit counts as proved at confirmed; a fork brings the sale back behind the buy.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ forks: 1 }),
  },
  rowProvesOneOfSeveral: {
    says: 'A row without a known signature closes one of several open attempts.',
    breaks: 'bought while a full exit was open',
    in: exitThenBuy({ attempts: [2, 1] }),
  },
  inflowHaltsBuys: {
    says: 'Dust from a stranger halts buys.',
    breaks: 'halted by an inflow',
    in: buy({ inflows: 1 }),
  },
  foreignIgnored: {
    says: 'What somebody else signed with the wallet halts nothing.',
    breaks: 'foreign transaction without a halt',
    in: buy({ foreign: 1 }),
  },
  signedSentBeforeCommit: {
    says: 'Signed bytes leave before they are durable.',
    breaks: 'sent before it was durable',
    in: buy(local),
  },
  builtGoesOnAfterRestart: {
    says: 'After a restart what was only built is signed after all, and built anew besides.',
    breaks: 'ended while undecided',
    in: buyTwice({ ...local, crashes: 1 }),
  },
  signedAfterFill: {
    says: 'What was built of a full exit is signed although another attempt has sold, and keeps no buy back.',
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
    says: "The builder's height is the bound, and never comes.",
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
