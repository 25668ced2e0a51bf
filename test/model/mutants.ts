import type { Scenario } from './scenario.ts'

/** A mutant: a deliberate error in the model of the protocol, which the checker must detect. */
export interface Mutant {
  readonly says: string
  /** The property that the model breaks with this error. */
  readonly breaks: string
  readonly in: Scenario
}

const buy = (rest: Partial<Scenario> = {}): Scenario => ({ executor: 'cloud', orders: ['buy'], attempts: [1], ...rest })
const buyTwice = (rest: Partial<Scenario> = {}) => buy({ attempts: [2], ...rest })
const exitThenBuy = (rest: Partial<Scenario> = {}) => buy({ orders: ['full exit', 'buy'], attempts: [1, 1], ...rest })
const local = { executor: 'local' } as const

const LIST = {
  resendOnTimeout: {
    says: "A request that timed out is sent again, as the service's documentation advises.",
    breaks: 'an attempt was declared dead although it executed',
    in: buyTwice(),
  },
  lostCountsAsUnsent: {
    says: 'After a broken connection or a 5xx, the attempt counts as unsent.',
    breaks: 'an attempt was declared dead although it executed',
    in: buyTwice(),
  },
  executeBeforeCommit: {
    says: 'The POST is sent before its attempt is durable.',
    breaks: 'an attempt was sent before it was durable',
    in: buy(),
  },
  resumeSendsAgain: {
    says: 'After a restart an attempt that was recorded for sending is sent again.',
    breaks: 'an attempt was declared dead although it executed',
    in: buyTwice({ crashes: 1 }),
  },
  absenceByNullStatus: {
    says: 'If the RPC returns null as the status of a signature, this counts as the proof that the attempt did not execute.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy(),
  },
  absenceByTimer: {
    says: 'If an attempt was not seen for long enough, it counts as dead.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy(),
  },
  absenceFromConfirmedView: {
    says: 'Height, balance and signatures are read at commitment confirmed instead of finalized.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy({ forks: 2 }),
  },
  heightReadLast: {
    says: "The list of the wallet's signatures is read before the height.",
    breaks: 'an attempt was declared dead although it executed',
    in: buy(),
  },
  listReadBeforeBalance: {
    says: 'The signatures are read before the balance, so a transfer between the two reads is not in the list.',
    breaks: 'an order was held although nothing was wrong',
    in: buy({ inflows: 2 }),
  },
  rowsBeyondTheBalance: {
    says: 'Transactions after the Solana slot of the balance are also used to explain the balance.',
    breaks: 'an order was held although nothing was wrong',
    in: buy({ inflows: 2 }),
  },
  listWithoutMinContextSlot: {
    says: 'The list of signatures may come from a node that has not reached the Solana slot of the balance.',
    breaks: 'an order was held although nothing was wrong',
    in: buy({ inflows: 1 }),
  },
  noConservation: {
    says: 'The list of signatures alone proves absence, but the RPC omits a transaction from the list.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy({ broken: ['A4'] }),
  },
  heldForEver: {
    says: 'The chain is not read again for an order that is held.',
    breaks: 'an order was never decided',
    in: buy({ broken: ['A4'] }),
  },
  noLateWait: {
    says: 'The last valid block is computed when the connection ends, without the wait for a late execution.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy(),
  },
  lateWaitFromArming: {
    says: 'After a restart, the wait for a late execution begins at the recorded time of the attempt, not at the restart.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy({ crashes: 1 }),
  },
  lateWaitFromSoftTimeout: {
    says: 'The wait for a late execution begins while the connection is still open.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy(),
  },
  boundTooSmallByOne: {
    says: 'The computed last valid block has no margin for a node that is behind.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy(),
  },
  headFromBefore: {
    says: 'A height from before the request is used. If our clock is behind, a node that is behind then seems current.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy(),
  },
  undatedCountsAsDated: {
    says: 'The height of an RPC without block times counts as current.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy({ undated: true }),
  },
  waitsForBlockTime: {
    says: 'The last valid block is computed only from a height with a block time, but the RPC has no block times.',
    breaks: 'an order was never decided',
    in: buy({ undated: true }),
  },
  laneFreedAtUnknown: {
    says: 'An order whose attempt is unknown frees its lane (token and side).',
    breaks: 'a lane was not held exactly while its order was open',
    in: buy(),
  },
  reservationFreedAtUnknown: {
    says: 'An order whose attempt is unknown releases its reservation.',
    breaks: 'a reservation was not held exactly while its order was open',
    in: buy(),
  },
  reservationNotRestored: {
    says: "After a fork has reversed a fill, the order's reservation is not restored.",
    breaks: 'a reservation was not held exactly while its order was open',
    in: buy({ forks: 1 }),
  },
  laneClosedFromArming: {
    says: 'A lane is closed only once an attempt is recorded for sending, not when the order is accepted.',
    breaks: 'a lane had two open orders',
    in: buy({ orders: ['buy', 'buy'], attempts: [1, 1] }),
  },
  reversalIgnored: {
    says: 'A fill that was seen at commitment confirmed counts as final.',
    breaks: 'a fill was booked without an execution',
    in: buy({ forks: 1 }),
  },
  retryAfterProvisionalRevert: {
    says: 'After a revert at commitment confirmed, the order is sent again at once. A fork then turns the revert into an execution.',
    breaks: 'an order executed twice',
    in: buyTwice({ forks: 2 }),
  },
  revertWithoutSignatureEnds: {
    says: 'Any revert of the token and side ends an attempt whose signature is unknown. The service and Sluice then both send it again.',
    breaks: 'an order executed twice',
    in: buyTwice({ persists: true }),
  },
  reportNotRedelivered: {
    says: 'A report that the engine had not processed is lost when the process ends.',
    breaks: 'an execution was not booked',
    in: buy({ crashes: 1 }),
  },
  fillBookedTwice: {
    says: 'The engine books each report of a fill.',
    breaks: 'a fill was booked twice',
    in: buy(),
  },
  refusedNotWatched: {
    says: 'A refused attempt is forgotten. The service executes it later.',
    breaks: 'an execution was not booked',
    in: buy({ broken: ['A7'] }),
  },
  lateFillsNotAdopted: {
    says: 'Sluice does not look for executions of an attempt that has ended.',
    breaks: 'an execution was not booked',
    in: buy({ broken: ['A1'] }),
  },
  lateFillWithoutAlarm: {
    says: 'A second execution is booked without an alarm.',
    breaks: 'an order executed twice without an alarm',
    in: buy({ broken: ['A2'] }),
  },
  alarmDoesNotStopRetries: {
    says: 'After SLIPPAGE_EXCEEDED an order is sent again, although refused attempts have executed before.',
    breaks: 'an order was tried again after an alarm',
    in: buy({ orders: ['buy', 'buy'], attempts: [1, 2], broken: ['A7'] }),
  },
  partialExitRepeated: {
    says: 'A partial exit is repeated without proof.',
    breaks: 'an order executed twice',
    in: buyTwice({ orders: ['partial exit'] }),
  },
  buyWhileExitOpen: {
    says: 'Buys of a token are still accepted during a full exit of it.',
    breaks: 'a buy was accepted while a full exit was open',
    in: exitThenBuy(),
  },
  buyAfterFirstExitFill: {
    says: 'After the first fill of a full exit, buys of the token are accepted again, although another attempt of the exit may still land.',
    breaks: 'a buy was accepted while a full exit was open',
    in: exitThenBuy({ attempts: [2, 1] }),
  },
  buyAfterProvisionalExit: {
    says: 'A full exit counts as proved once its sale is confirmed. A fork then moves the sale to a block after the buy.',
    breaks: 'a buy was accepted while a full exit was open',
    in: exitThenBuy({ forks: 1 }),
  },
  rowProvesOneOfSeveral: {
    says: 'A transaction of unknown origin ends one of the open attempts of a full exit, although another attempt may have made it.',
    breaks: 'a buy was accepted while a full exit was open',
    in: exitThenBuy({ attempts: [2, 1] }),
  },
  inflowHaltsBuys: {
    says: 'A small transfer from a stranger to the wallet stops the buys.',
    breaks: 'an inflow halted the buys',
    in: buy({ inflows: 1 }),
  },
  foreignIgnored: {
    says: "A transaction that a third party signed with the wallet's key does not stop the buys.",
    breaks: 'a foreign transaction did not halt the buys',
    in: buy({ foreign: 1 }),
  },
  signedSentBeforeCommit: {
    says: 'Signed bytes are sent before they are durable.',
    breaks: 'an attempt was sent before it was durable',
    in: buy(local),
  },
  builtGoesOnAfterRestart: {
    says: 'After a restart, an attempt that was only built is signed although it has ended, and its order is built again.',
    breaks: 'an order ended although an attempt was undecided',
    in: buyTwice({ ...local, crashes: 1 }),
  },
  signedAfterFill: {
    says: 'A built attempt of a full exit is signed although another attempt has sold the tokens, and it does not block buys.',
    breaks: 'a buy was accepted while a full exit was open',
    in: { ...local, orders: ['full exit', 'buy'], attempts: [2, 1] },
  },
  newTransactionWithoutProof: {
    says: 'A new transaction is signed before the old one is proved expired.',
    breaks: 'an order executed twice',
    in: buyTwice(local),
  },
  signedAgainOnRestart: {
    says: 'After a restart, a new transaction is signed without the proof that the old one expired.',
    breaks: 'an attempt was declared dead although it executed',
    in: buyTwice({ ...local, crashes: 1 }),
  },
  builderBoundTooLow: {
    says: "The last valid block is taken from the builder's answer, in which it is too low.",
    breaks: 'an attempt was declared dead although it executed',
    in: buy(local),
  },
  builderBoundAbsurd: {
    says: "The last valid block is taken from the builder's answer, in which it is so high that the chain never reaches it.",
    breaks: 'an order was never decided',
    in: buy(local),
  },
  heightOfNodeBehind: {
    says: 'The last valid block is computed from the height of a node that does not know the blockhash yet.',
    breaks: 'an attempt was declared dead although it executed',
    in: buy(local),
  },
} satisfies Record<string, Mutant>

export type MutantName = keyof typeof LIST
export const MUTANTS = Object.entries(LIST) as [MutantName, Mutant][]
