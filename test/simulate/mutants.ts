import { Allowance, COST } from '../../src/engine/bots/bot.ts'
import { Timers } from '../../src/engine/timers.ts'

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
  unknownTierIsStandard: 'a plan of an unknown name counts as Standard at a reconnect',
  each429CutsAgain: 'each 429 of a burst lowers the rate again',
  failedStartUsesKey: 'a start that never reached the limiter counts as one that used the whole plan',
  confirmedCountsAsFinal: 'what is confirmed is told as finalized',
  timersOutliveTheirBot: 'the timers of a strategy go on when it may not',
  firingsAreFree: 'a firing of a timer does not count as a request',
  strangerUntold: 'a trade that no order explains is told to nobody: it waits until it is booked or final',
  strangerDoesNotStop: 'what was alarmed as foreign or as a second execution stops no entries',
  reserveGivenBack: 'the reserve is given back to the disk when the disk runs low',
  resumeEndsDiskLow: '`resume` lets entries go on while the disk is short',
} as const

/** As above, for orders that are signed here. */
export const LOCAL_MUTANTS = {
  signedCountsAsUnsent: 'what an earlier process signed counts as never sent',
  feeHeldExactly: 'a priority fee that a builder rounds up is held to the lamport that was named',
  refusedFeeEnds: 'an exit whose priority fee is refused is not built with another one',
  signedNotWritten: 'what was signed is sent, and only what came of it written down',
} as const

export type Mutant = keyof typeof MUTANTS | keyof typeof LOCAL_MUTANTS

/** Puts a wrong part in the place of one that no port leads to; how to put it right again. */
export function sabotage(mutant: Mutant | undefined): () => void {
  const { clearAll } = Timers.prototype
  const { takeIfLeft } = Allowance.prototype
  if (mutant === 'timersOutliveTheirBot') Timers.prototype.clearAll = () => {}
  if (mutant === 'firingsAreFree')
    Allowance.prototype.takeIfLeft = function (now, cost) {
      return cost === COST.firing || takeIfLeft.call(this, now, cost)
    }
  return () => {
    Timers.prototype.clearAll = clearAll
    Allowance.prototype.takeIfLeft = takeIfLeft
  }
}
