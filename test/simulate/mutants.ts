import { Allowance } from '../../src/engine/bots/allowance.ts'
import { COST } from '../../src/engine/bots/bot.ts'
import { Timers } from '../../src/engine/timers.ts'
import type { Scenario } from './scenario.ts'

/** Deliberate errors in the environment of the gateway. The simulation must detect each of them. */
export const MUTANTS = {
  lostCountsAsUnsent: 'the HTTP port reports a lost answer as unsent',
  oddCountsAsRefused: 'an answer without information counts as a refusal for slippage',
  resumeSendsAgain: 'an attempt that an earlier process recorded for sending is sent again',
  sentBeforeCommit: 'the callback of a commit is called before the commit',
  commitDoesNotPersist: 'a commit reports success and is not durable',
  reportsNotRedelivered: 'a report that the engine had not taken is lost with the process',
  limiterForgets: 'the log of sent requests is lost, and the API key counts as unused',
  heightOfTheFuture: 'the finalized height is 120 blocks too high',
  slotAnswersRest: 'a node without a block time for a slot is paused for a while',
  unknownTierIsStandard: 'a plan of an unknown name counts as Standard at a reconnect',
  each429CutsAgain: 'each 429 of a burst lowers the rate again',
  failedStartUsesKey: 'a start without a request counts as one that used the whole plan',
  confirmedCountsAsFinal: 'confirmed data is reported as finalized',
  timersOutliveTheirBot: 'the timers of a stopped strategy continue',
  firingsAreFree: 'a firing of a timer does not count as a request',
  fillOfOtherWallet: 'a fill is booked in the account of the other wallet',
  strangerUntold: 'a trade that no order explains is not reported before it is booked or final',
  strangerDoesNotStop: 'an alarm for a foreign transaction or a second execution stops no entries',
  reserveGivenBack: 'the journal releases its reserve when the disk runs low',
  resumeEndsDiskLow: '`resume` restarts entries while the disk is short',
} as const

/** Deliberate errors about locally signed orders. */
export const LOCAL_MUTANTS = {
  signedCountsAsUnsent: 'attempts that an earlier process signed count as unsent',
  feeHeldExactly: 'a priority fee that a builder rounds up is refused for a single lamport',
  refusedFeeEnds: 'an exit whose priority fee is refused is not built with another one',
  signedNotWritten: 'signed bytes are sent without a record, and only the outcome is written',
} as const

export type Mutant = keyof typeof MUTANTS | keyof typeof LOCAL_MUTANTS

/**
 * The scenarios in which a mutant (a deliberate error) can be detected, for mutants that most scenarios cannot detect.
 * A search skips the other scenarios, because their runs are equal with and without the mutant.
 */
const SHOWN_IN: Partial<Record<Mutant, (scenario: Scenario) => boolean>> = {
  lostCountsAsUnsent: ({ network, service }) => network.lost + service.odd > 0,
  limiterForgets: ({ crashes }) => crashes > 0,
  slotAnswersRest: ({ times }) => times.untold > 0,
  unknownTierIsStandard: ({ plans }) => plans !== undefined,
  each429CutsAgain: ({ plans }) => (plans?.strays ?? 0) > 0,
  failedStartUsesKey: ({ plans }) => plans?.failsFirst === true,
  timersOutliveTheirBot: ({ timers }) => timers === 'throws',
  firingsAreFree: ({ timers }) => timers === 'storm',
  fillOfOtherWallet: ({ wallets }) => wallets > 1,
  strangerUntold: ({ company }) => company > 0,
  strangerDoesNotStop: ({ company }) => company > 0,
  reserveGivenBack: ({ diskRoom }) => diskRoom !== undefined,
  resumeEndsDiskLow: ({ diskRoom }) => diskRoom !== undefined,
  signedCountsAsUnsent: ({ crashes }) => crashes > 0,
  feeHeldExactly: ({ local }) => local.rounding !== undefined,
  refusedFeeEnds: ({ local }) => local.rounding?.overcharges === true,
}

export function canShow(mutant: Mutant, scenario: Scenario): boolean {
  return SHOWN_IN[mutant]?.(scenario) ?? true
}

/** Replaces a method of a class by a defective one, because it cannot be passed as an argument. Returns a function
 *  that restores the method. */
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
