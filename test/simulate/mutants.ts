/** Ways in which what stands around the gateway could be wrong; the simulation has to notice each. */
export const MUTANTS = {
  lostCountsAsUnsent: 'the HTTP port says of a lost answer that nothing was sent',
  oddCountsAsRefused: 'an answer that says nothing counts as a refusal for slippage',
  resumeSendsAgain: 'an attempt that an earlier process armed is sent again',
  sentBeforeCommit: 'who waits for a commit is called before it',
  commitDoesNotPersist: 'a commit says that it is durable and is not',
  reportsNotRedelivered: 'a report that the engine had not taken is lost with the process',
  limiterForgets: 'the log of the slots is lost, and the key counts as fresh',
  heightOfTheFuture: 'the finalized height is told 120 blocks too high',
  slotAnswersRest: 'a node that has no block time for a slot is asked nothing more for a while',
  confirmedCountsAsFinal: 'what is confirmed is told as finalized',
} as const

/** As above, for orders that are signed here. */
export const LOCAL_MUTANTS = {
  signedCountsAsUnsent: 'what an earlier process signed counts as never sent',
  signedNotWritten: 'what was signed is sent, and only what came of it written down',
} as const

export type Mutant = keyof typeof MUTANTS | keyof typeof LOCAL_MUTANTS
