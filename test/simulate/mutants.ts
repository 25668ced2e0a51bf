/** Ways in which the code around a gateway could be wrong; the simulation has to notice each. */
export const MUTANTS = {
  lostCountsAsUnsent: 'the HTTP port says that nothing was sent although bytes were',
  resumeSendsAgain: 'an attempt that an earlier process armed is sent again',
  commitDoesNotPersist: 'a commit says that it is durable and is not',
  heightOfTheFuture: 'the finalized height is told 300 blocks too high',
  sentBeforeCommit: 'a commit says so before it has begun',
  limiterForgets: 'the log of the slots is lost, and the key counts as fresh',
  listForgets: 'the list of the wallet leaves its newest transaction out',
} as const

export type Mutant = keyof typeof MUTANTS
