import type { RecordedStart, RunRecord } from '../../backtest/run-record.ts'
import type { Config } from '../../config/config.ts'
import { AttemptMatches, type Factor } from './attempt-matches.ts'
import { type From, liveBotsOf, type Replay, type RunInParts, type WholeRun, walletOf } from './attribution-replays.ts'

/** A replay, and what was exchanged in it that the one before did not have. */
export interface Step {
  readonly name: string
  readonly replay: Replay
}

export interface StepParts {
  readonly whole: WholeRun
  /** undefined where the tape of a start was dropped: all of the run is replayed as one then. */
  readonly parts: RunInParts | undefined
  readonly record: RunRecord
  /** Of the backtest, and of the run. */
  readonly theirs: Config
  readonly ours: Config
}

/** From the backtest to the run: the backtest again, and then one thing after the other in it exchanged for what the run has measured. */
export function stepsOf({ whole, parts, record, theirs, ours }: StepParts): Step[] {
  const { start, plan } = record.starts.at(-1) as RecordedStart
  const asRun = { ...ours, service: { ...ours.service, plan } }
  const oneBudget = { oneBudget: liveBotsOf(start) }
  const together = { ...oneBudget, oneWallet: walletOf(start, record) }
  const apart = whole.play(asRun, oneBudget)
  const played = (factors: readonly Factor[]): Replay =>
    parts?.play(factors) ?? whole.play(asRun, together, new AttemptMatches(record.attempts, factors))
  return [
    { name: 'under way at the end', replay: whole.play(theirs) },
    { name: 'configuration', replay: whole.play({ ...ours, service: theirs.service }) },
    { name: 'plan delay', replay: apart },
    { name: 'one wallet', replay: oneBudget.oneBudget.length === 0 ? apart : whole.play(asRun, together) },
    ...(parts === undefined ? [] : besideSteps(parts, record)),
    { name: 'latency', replay: played(['latency']) },
    { name: 'landing', replay: played(['latency', 'landing']) },
    { name: 'impact', replay: played(['latency', 'landing', 'impact']) },
    { name: 'fees', replay: played(['latency', 'landing', 'impact', 'fees']) },
  ]
}

/** What the run was that a backtest is not: begun more than once, operated, kept from buying until the chain was known. */
function besideSteps(parts: RunInParts, { starts }: RunRecord): Step[] {
  const has = (from: From): boolean => starts.some((one) => one[from].length > 0)
  const steps: Step[] = []
  if (starts.length > 1) steps.push({ name: 'restarts', replay: parts.play([], []) })
  if (has('operated')) steps.push({ name: 'operator', replay: parts.play([], ['operated']) })
  if (has('gated')) steps.push({ name: 'waiting for the chain', replay: parts.play([]) })
  return steps
}
