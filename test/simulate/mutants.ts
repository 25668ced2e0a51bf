import { Allowance } from '../../src/engine/bots/allowance.ts'
import { COST } from '../../src/engine/bots/bot.ts'
import { Timers } from '../../src/engine/timers.ts'
import type { Scenario } from './scenario.ts'

/** Mutants: deliberate errors in the parts around the gateway. The simulation must detect each of them. */
export const MUTANTS = {
  lostCountsAsUnsent: 'the HTTP port reports a lost answer as unsent',
  oddCountsAsRefused: 'an answer that says nothing about the order counts as a refusal for slippage',
  resumeSendsAgain: 'an attempt that an earlier process had recorded for sending is sent again',
  sentBeforeCommit: 'the callback of a commit is called before the data is durable',
  commitDoesNotPersist: 'a commit reports success although the data is not durable',
  reportsNotRedelivered: 'a report that the engine had not taken is lost with the process',
  limiterForgets: 'after a restart, the log of sent requests is lost and the API key counts as unused',
  heightOfTheFuture: 'the reported finalized height is 120 blocks too high',
  slotAnswersRest: 'a node without a block time for a Solana slot is not used for some seconds',
  unknownTierIsStandard: 'if the service names an unknown plan at a reconnect, the plan counts as Standard',
  each429CutsAgain: 'each of several 429 answers within a second lowers the request rate again',
  failedStartUsesKey: 'a start that sent no request counts as if it had used the whole plan',
  confirmedCountsAsFinal: 'data at commitment confirmed is reported as finalized',
  timersOutliveTheirBot: 'the timers of a stopped strategy continue',
  firingsAreFree: 'the firing of a timer does not count against the limit of timers',
  fillOfOtherWallet: 'a fill is booked in the account of the other wallet',
  strangerUntold: 'a trade that no order explains is reported only once it is booked or final',
  strangerDoesNotStop: 'an alarm about a foreign transaction or a second execution does not stop entries',
  reserveGivenBack: 'the journal releases its reserve when the disk is short of space',
  resumeEndsDiskLow: '`resume` allows entries while the disk is short of space',
} as const

/** Mutants (deliberate errors) that concern locally signed orders. */
export const LOCAL_MUTANTS = {
  signedCountsAsUnsent: 'attempts that an earlier process signed count as unsent',
  feeHeldExactly: 'a priority fee that a builder rounds up is refused for a single lamport',
  refusedFeeEnds: 'an exit whose priority fee is refused is not built again with another fee',
  signedNotWritten: 'signed bytes are sent before they are recorded, and only the outcome is recorded',
} as const

export type Mutant = keyof typeof MUTANTS | keyof typeof LOCAL_MUTANTS

/**
 * For some mutants (deliberate errors): which scenarios can detect them. Other scenarios run in the same way with and
 * without the mutant, so a search skips them.
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

/**
 * Replaces a method of a class by one with the deliberate error. Used for mutants that cannot be passed as an
 * argument. Returns a function that restores the method.
 */
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
