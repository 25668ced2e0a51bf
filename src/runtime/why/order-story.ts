import { formatSol, lamportsToSol, type Millis, type Seq, wholeTokens } from '../../base/units.ts'
import { keyOf } from '../../engine/accounting/by-mint.ts'
import { isUnsellable, type Position, sellingText } from '../../engine/accounting/position.ts'
import type { ExecutionReport, Order } from '../../engine/order.ts'
import type {
  History,
  RecordedFill,
  RecordedOrder,
  RecordedPosition,
  RecordedReport,
} from '../../journal/reader/history.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { type FillRow, fillRow } from '../../journal/schema/fills.ts'
import type { FoundToken, TapeSearch } from '../../journal/tape/tape-search.ts'
import { eventOf } from '../../market/block.ts'
import { type Attempt, type AttemptState, isUndecided } from '../../orders/attempt.ts'
import { durationOf } from '../time-text.ts'
import { conditionalBehind } from './conditional-story.ts'
import {
  codeText,
  eventText,
  exitsText,
  inOrder,
  inputText,
  lateText,
  orderText,
  percentText,
  priceText,
  type Step,
  signedSol,
  sizeText,
} from './format.ts'

/** Explanations of the states of an attempt, by state. */
const MEANING: Partial<Record<AttemptState, string>> = {
  acked: 'acked: the service returned a signature',
  landed: 'landed: confirmed on chain',
  filled: 'filled: final',
  verified: 'verified: the transaction matches the order',
  unknown: 'unknown: the attempt may or may not execute',
}

/** The story of an order, from its cause to its outcome. */
export interface OrderStory {
  readonly recorded: RecordedOrder
  readonly token: FoundToken
  readonly steps: readonly Step[]
  readonly attempts: readonly Attempt[]
  readonly fills: readonly (FillRow & { readonly slot: number; readonly reversed: boolean })[]
}

/** Collects the story of an order; undefined if the journal does not contain the order. */
export function orderStory(reader: JournalReader, id: string): OrderStory | undefined {
  return reader.look((history, tape) => {
    const recorded = history.order(id)
    if (recorded === undefined) return undefined
    const { order } = recorded
    const attempts = history.attemptsOf(id)
    const fills = history.fillsOf(id)
    const reports = history.reportsOf(order)
    const steps = inOrder([
      ...decisionSteps(order, history, tape),
      ...attempts.flatMap((attempt) => attemptSteps(attempt)),
      ...cancelSteps(order, history),
      ...reportSteps(attempts, reports),
      ...fills.flatMap((fill) => fillSteps(fill, order, reportedAt(fill, reports))),
      ...followingSteps(recorded, fills, history),
    ])
    const waiting = waitingText(recorded, attempts, history.progressOf(id))
    return {
      recorded,
      token: tape.nameOf(order.mint),
      steps: waiting === '' ? steps : [...steps, { at: null, what: 'waits', text: waiting }],
      attempts,
      fills: fills.map(({ fill, reversed }) => ({ ...fillRow(fill), slot: fill.slot, reversed })),
    }
  })
}

/** Returns the steps about the decision: cause, price, exit rule, reason and limits. */
function decisionSteps(order: Order, history: History, tape: TapeSearch): Step[] {
  const { time, seq, price, side, reserveLamports, notAfter } = order
  const step = (what: string, text: string): Step => ({ at: time, what, text })
  const steps: Step[] = [causeStep(order, history, tape)]
  const priced = history.inputAt(seq)?.input.kind === 'pool' ? 'median of three readings of the pool' : 'robust price'
  steps.push(step('price', price === null ? 'no robust price' : `${priced} ${priceText(price)}`))
  const before = history.positionAt(order.mint, order.account, { seq })
  if (side === 'sell' && before !== undefined) steps.push(step('exit', heldText(before, order)))
  steps.push(...conditionalBehind(order, history), step('decided', `${order.bot}: ${order.reason}`))
  const ttl =
    notAfter === null ? 'no time limit' : `it must be sent within ${durationOf(notAfter - time)}, otherwise it expires`
  const passed = order.class === 'entry' ? 'within all limits' : 'an exit, which limits do not stop'
  steps.push(step('risk', `${passed}; costs at most ${formatSol(reserveLamports)} SOL; ${ttl}`))
  return steps
}

/** Returns the step about the market row or the input that caused a decision. `eventAgeMs`: see `lateText`. */
export function causeStep(
  { time, seq, eventAgeMs }: { readonly time: Millis; readonly seq: Seq; readonly eventAgeMs?: number },
  history: History,
  tape: TapeSearch,
): Step {
  const found = tape.rowAt(seq)
  if (found !== undefined) {
    const lagMs = (found.block.time[found.row] as number) - (found.block.stamp[found.row] as number)
    const arrival = `; arrived ${durationOf(Math.max(0, lagMs))} after its timestamp${lateText(', ', eventAgeMs)}`
    const lag = Number.isFinite(lagMs) ? arrival : ''
    return { at: time, what: 'market', text: `${eventText(eventOf(found.block, found.row))}; seq ${seq}${lag}` }
  }
  const input = history.inputAt(seq)
  if (input !== undefined) return { at: time, what: 'input', text: `${inputText(input.input)}; seq ${seq}` }
  return { at: time, what: 'market', text: `seq ${seq}, no longer on the tape` }
}

function heldText({ exiting, steps, averagePrice, highPrice, exits }: Position, { reason, price }: Order): string {
  const isExit = reason !== '' && (reason === exiting || reason === steps?.reason)
  const by = isExit ? 'exit rule of the position' : 'sale by the strategy'
  const change = price === null || averagePrice === 0 ? '' : `, now ${percentText(price / averagePrice)}`
  const prices = `average price ${priceText(averagePrice)}${change}, highest ${priceText(highPrice)}`
  return `${by}; ${prices}; exits: ${exitsText(exits)}`
}

/** Returns the steps about an attempt: its request, then each answer. */
function attemptSteps(attempt: Attempt): Step[] {
  const { id, executor, side, size, slippagePercent, priorityFeeLamports, armedAt, waitedMs, trail } = attempt
  const fee = priorityFeeLamports === null ? 'automatic' : `${formatSol(priorityFeeLamports)} SOL`
  const line: Step[] =
    waitedMs === undefined
      ? []
      : [
          {
            at: armedAt,
            what: 'line',
            text:
              waitedMs === 0
                ? 'the request limit allowed it immediately'
                : `waited ${durationOf(waitedMs)} for the request limit of the plan`,
          },
        ]
  const asked = `${executor}: ${side} ${sizeText(size)}, slippage ${slippagePercent} %, priority fee ${fee}`
  return [
    ...line,
    { at: armedAt, what: id, text: asked },
    ...(trail ?? []).map(({ at, state, code, reason }) => {
      const why = code === '' ? reason : codeText(code, reason)
      return { at, what: id, text: `${MEANING[state] ?? state}${why === '' ? '' : `: ${why}`}` }
    }),
  ]
}

/** Returns steps for those changes of the order that the steps of its attempts do not show. */
function reportSteps(attempts: readonly Attempt[], reports: readonly RecordedReport[]): Step[] {
  const steps: Step[] = []
  const isShown = ({ attemptId, state, code, reversed, fill }: ExecutionReport): boolean =>
    (state === 'filled' && code === '' && fill !== undefined) ||
    (state === 'working' &&
      reversed === undefined &&
      (code === '' || attempts.some(({ id, trail }) => id === attemptId && trail?.some((step) => step.code === code))))
  let before = ''
  for (const { time, report } of reports) {
    const { state, code, reason } = report
    const change = `${state}${code === '' ? '' : `: ${codeText(code, reason)}`}`
    if (!isShown(report) && change !== before) steps.push({ at: time, what: 'order', text: change })
    before = change
  }
  return steps
}

function cancelSteps(order: Order, history: History): Step[] {
  const cancel = history.cancelOf(order)
  return cancel === undefined ? [] : [{ at: cancel.time, what: 'call off', text: codeText(cancel.code, '') }]
}

/** Time at which the engine received the report of a fill. The time of the block is not used, because it comes from
 *  another clock and is in whole seconds. */
export function reportedAt({ fill }: RecordedFill, reports: readonly RecordedReport[]): Millis {
  return reports.find(({ report }) => report.fill?.signature === fill.signature)?.time ?? fill.time
}

function fillSteps({ fill, reversed }: RecordedFill, { price }: Order, at: Millis): Step[] {
  const { side, tokens, decimals, tradeLamports, signature, slot, final, walletLamports, costs } = fill
  const paid = lamportsToSol(tradeLamports) / wholeTokens(tokens, decimals)
  const against = price === null || !Number.isFinite(paid) ? '' : `, ${percentText(paid / price)} from the robust price`
  const verb = side === 'buy' ? 'bought' : 'sold'
  const amounts = `${verb} ${wholeTokens(tokens, decimals)} tokens for ${formatSol(tradeLamports)} SOL (${priceText(paid)}${against})`
  const seen = reversed ? 'reversed by a fork' : final ? 'final' : 'confirmed, not final yet'
  const named: readonly (readonly [string, number])[] = [
    ['venue fee', costs.venueFeeLamports],
    ['service fee', costs.serviceFeeLamports],
    ['base fee', costs.baseFeeLamports],
    ['priority fee', costs.priorityFeeLamports],
    ['tip', costs.tipLamports],
    ['rent paid', costs.rentPaidLamports],
    ['rent returned', -costs.rentReturnedLamports],
    ['wrapped', costs.wrappedLamports],
    ['remainder', costs.remainderLamports],
  ]
  const parts = [['tokens', costs.tradeLamports] as const, ...named.filter(([, amount]) => amount !== 0)]
  const unknown = costs.unknown.length === 0 ? '' : `; not itemized: ${costs.unknown.join(', ')}`
  return [
    { at, what: 'fill', text: `${amounts}; ${seen}` },
    {
      at,
      what: 'costs',
      text: `${parts.map(([name, amount]) => `${name} ${formatSol(amount)}`).join(', ')}${unknown}; wallet ${signedSol(walletLamports)}`,
    },
    { at, what: 'chain', text: `slot ${slot}, transaction ${signature}` },
  ]
}

/** Returns the steps about the later orders of the position, and about the end of the position. */
function followingSteps({ order }: RecordedOrder, fills: readonly RecordedFill[], history: History): Step[] {
  if (fills.every(({ reversed }) => reversed)) return []
  const position = history
    .positionsOf(order.mint)
    .find(({ position, closed }) => keyOf(position) === keyOf(order) && (closed === null || closed.seq > order.seq))
  const end = position?.closed?.seq ?? Number.POSITIVE_INFINITY
  const later = history
    .ordersOf(order.mint)
    .filter((other) => other.order.account === order.account && other.order.seq > order.seq && other.order.seq <= end)
  return [
    ...later.map((other) => ({ at: other.order.time, what: 'then', text: orderText(other) })),
    ...(position === undefined ? [] : [positionStep(position)]),
  ]
}

/** Step with the result of a closed position, or with the state of an open one. */
export function positionStep({ position, closed }: RecordedPosition): Step {
  const { realizedLamports, feeLamports, openedAt, tokens, decimals, costLamports, exits } = position
  const why = sellingText(position)
  const result = `realised ${signedSol(realizedLamports)}, fees and rent ${formatSol(feeLamports)} SOL, net ${signedSol(realizedLamports - feeLamports)}`
  if (closed !== null)
    return { at: closed.time, what: 'closed', text: `after ${durationOf(closed.time - openedAt)}: ${result}` }
  if (tokens === 0n) return { at: null, what: 'position', text: 'opening: no tokens yet' }
  const selling = why === '' ? '' : `; ${isUnsellable(position) ? why : `selling: ${why}`}`
  const held = `${wholeTokens(tokens, decimals)} tokens held, cost ${formatSol(costLamports)} SOL; exits: ${exitsText(exits)}${selling}`
  return { at: null, what: 'position', text: held }
}

/** Text about the event that an order waits for; '' if the order has ended and none of its attempts can still
 *  execute. */
export function waitingText(
  { order, state, code }: RecordedOrder,
  attempts: readonly Attempt[],
  progress: string,
): string {
  const out = attempts.filter((attempt) => isUndecided(attempt.state))
  const proof = progress === '' ? '' : `; progress: ${progress}`
  if (state === 'held')
    return `for further evidence or for an operator's decision, because the evidence is contradictory${proof}; see \`sluice resolve ${order.id}\``
  if (state === 'accepted') return lineText(order.notAfter === null ? null : order.notAfter - order.time, code)
  if (out.length === 0) return ''
  const pending = out.map((attempt) => `${attempt.id} ${pendingText(attempt)}`).join('; ')
  const over = state === 'working' ? '' : `the order is ${state}, but `
  return `${over}${pending}${proof}`
}

function lineText(ttlMs: number | null, code: string): string {
  const bound =
    ttlMs === null
      ? 'exits are sent before entries and wait without a time limit'
      : `dropped (LIMIT_WAIT, TTL) at most ${durationOf(Math.min(ttlMs, 2000))} after the decision`
  const again = code === '' ? '' : `; retry after ${codeText(code, '')}`
  return `until the rate limit of the plan allows another request; ${bound}${again}`
}

/** Text about the event that an undecided attempt waits for. */
function pendingText({ state, executor }: Attempt): string {
  switch (state) {
    case 'armed':
      return executor === 'paper' ? 'is waiting for its simulated fill' : 'is being sent and waits for its answer'
    case 'acked':
      return 'has a signature and waits until it lands or is proved unable to land'
    case 'unknown':
      return 'received no answer and is not sent again; it waits for a transaction of the wallet, or for the proof that none can follow'
    case 'landed':
      return 'landed and waits for finality'
    case 'undecided':
      return 'has contradictory evidence; later evidence or an operator decides'
    default:
      return `is ${state} and waits until it lands or expires`
  }
}
