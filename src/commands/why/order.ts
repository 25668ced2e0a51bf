import { styleText } from 'node:util'
import { formatSol, lamportsToSol, type Millis, wholeTokens } from '../../base/units.ts'
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
import { durationOf, stampOf } from '../../runtime/time-text.ts'
import { conditionalBehind } from './conditional.ts'
import { headLines, pageOf, paragraph, stepsJson } from './page.ts'
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
} from './words.ts'

/** Where the state alone says too little. */
const MEANING: Partial<Record<AttemptState, string>> = {
  acked: 'acked: the service gave a signature',
  landed: 'landed: seen on the chain, confirmed',
  filled: 'filled: final',
  verified: 'verified: what was built is what was ordered',
  unknown: 'unknown: it may or may not execute',
}

/** Why an order was made, and all that came of it. */
export interface OrderStory {
  readonly recorded: RecordedOrder
  readonly token: FoundToken
  readonly steps: readonly Step[]
  readonly attempts: readonly Attempt[]
  readonly fills: readonly (FillRow & { readonly slot: number; readonly reversed: boolean })[]
}

/** undefined: the journal has no such order. */
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
      ...fills.flatMap((fill) => fillSteps(fill, order, toldAt(fill, reports))),
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

/** The row or input that it was decided on, the price, the exit that fired, the reason, and what the limits let
 *  pass. */
function decisionSteps(order: Order, history: History, tape: TapeSearch): Step[] {
  const { time, seq, price, eventAgeMs, side, reserveLamports, notAfter } = order
  const step = (what: string, text: string): Step => ({ at: time, what, text })
  const found = tape.rowAt(seq)
  const input = found === undefined ? history.inputAt(seq) : undefined
  const steps: Step[] = []
  if (found !== undefined) {
    const lagMs = (found.block.time[found.row] as number) - (found.block.stamp[found.row] as number)
    const came = `; came ${durationOf(Math.max(0, lagMs))} after its timestamp${lateText(', ', eventAgeMs)}`
    const lag = Number.isFinite(lagMs) ? came : ''
    steps.push(step('market', `${eventText(eventOf(found.block, found.row))}; seq ${seq}${lag}`))
  } else if (input !== undefined) steps.push(step('input', `${inputText(input.input)}; seq ${seq}`))
  else steps.push(step('market', `seq ${seq}, which is not on this journal's tape`))
  const priced = input?.input.kind === 'pool' ? 'by its pool, the middle one of three readings,' : 'robust price'
  steps.push(step('price', price === null ? 'no robust price' : `${priced} ${priceText(price)}`))
  const before = history.positionAt(order.mint, order.account, { seq })
  if (side === 'sell' && before !== undefined) steps.push(step('exit', heldText(before, order)))
  steps.push(...conditionalBehind(order, history), step('decided', `${order.bot}: ${order.reason}`))
  const least = notAfter === null ? 'goes however long it takes' : `not sent later than ${durationOf(notAfter - time)}`
  const passed = order.class === 'entry' ? 'within every limit' : 'an exit, which no limit stops'
  steps.push(step('risk', `${passed}; may take ${formatSol(reserveLamports)} SOL at worst; ${least}`))
  return steps
}

function heldText({ exiting, steps, averagePrice, highPrice, exits }: Position, { reason, price }: Order): string {
  const isExit = reason !== '' && (reason === exiting || reason === steps?.reason)
  const by = isExit ? 'an exit of the position fired' : "the strategy's own sale"
  const change = price === null || averagePrice === 0 ? '' : `, now ${percentText(price / averagePrice)}`
  const prices = `average price ${priceText(averagePrice)}${change}, highest ${priceText(highPrice)}`
  return `${by}; ${prices}; exits: ${exitsText(exits)}`
}

/** What was asked, and each answer. */
function attemptSteps(attempt: Attempt): Step[] {
  const { id, executor, side, size, slippagePercent, priorityFeeLamports, armedAt, waitedMs, trail } = attempt
  const fee = priorityFeeLamports === null ? "of the service's choice" : `${formatSol(priorityFeeLamports)} SOL`
  const line: Step[] =
    waitedMs === undefined
      ? []
      : [
          {
            at: armedAt,
            what: 'line',
            text:
              waitedMs === 0
                ? 'a request of the plan was free at once'
                : `waited ${durationOf(waitedMs)} for a request of the plan`,
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

/** What changed for the order, where its attempts have not said it already. */
function reportSteps(attempts: readonly Attempt[], reports: readonly RecordedReport[]): Step[] {
  const steps: Step[] = []
  const isTold = ({ attemptId, state, code, reversed, fill }: ExecutionReport): boolean =>
    (state === 'filled' && code === '' && fill !== undefined) ||
    (state === 'working' &&
      reversed === undefined &&
      (code === '' || attempts.some(({ id, trail }) => id === attemptId && trail?.some((step) => step.code === code))))
  let before = ''
  for (const { time, report } of reports) {
    const { state, code, reason } = report
    const said = `${state}${code === '' ? '' : `: ${codeText(code, reason)}`}`
    if (!isTold(report) && said !== before) steps.push({ at: time, what: 'order', text: said })
    before = said
  }
  return steps
}

function cancelSteps(order: Order, history: History): Step[] {
  const cancel = history.cancelOf(order)
  return cancel === undefined ? [] : [{ at: cancel.time, what: 'call off', text: codeText(cancel.code, '') }]
}

/** A block's time is another clock's, and to the second: what counts here is when we knew. */
export function toldAt({ fill }: RecordedFill, reports: readonly RecordedReport[]): Millis {
  return reports.find(({ report }) => report.fill?.signature === fill.signature)?.time ?? fill.time
}

function fillSteps({ fill, reversed }: RecordedFill, { price }: Order, at: Millis): Step[] {
  const { side, tokens, decimals, tradeLamports, signature, slot, final, walletLamports, costs } = fill
  const paid = lamportsToSol(tradeLamports) / wholeTokens(tokens, decimals)
  const against = price === null || !Number.isFinite(paid) ? '' : `, ${percentText(paid / price)} on the robust price`
  const verb = side === 'buy' ? 'bought' : 'sold'
  const amounts = `${verb} ${wholeTokens(tokens, decimals)} tokens for ${formatSol(tradeLamports)} SOL (${priceText(paid)}${against})`
  const seen = reversed ? 'taken back by a fork' : final ? 'final' : 'confirmed, not final yet'
  const named: readonly (readonly [string, number])[] = [
    ['venue fee', costs.venueFeeLamports],
    ['service fee', costs.serviceFeeLamports],
    ['base fee', costs.baseFeeLamports],
    ['priority fee', costs.priorityFeeLamports],
    ['tip', costs.tipLamports],
    ['rent paid', costs.rentPaidLamports],
    ['rent returned', -costs.rentReturnedLamports],
    ['wrapped', costs.wrappedLamports],
    ['rest', costs.remainderLamports],
  ]
  const parts = [['tokens', costs.tradeLamports] as const, ...named.filter(([, amount]) => amount !== 0)]
  const unknown = costs.unknown.length === 0 ? '' : `; not told apart: ${costs.unknown.join(', ')}`
  return [
    { at, what: 'fill', text: `${amounts}; ${seen}` },
    {
      at,
      what: 'costs',
      text: `${parts.map(([name, amount]) => `${name} ${formatSol(amount)}`).join(', ')}${unknown}; the wallet ${signedSol(walletLamports)}`,
    },
    { at, what: 'chain', text: `slot ${slot}, transaction ${signature}` },
  ]
}

/** What became of the position: later sales of it, and what it ended with. */
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

/** What a position ended with, or what it is. */
export function positionStep({ position, closed }: RecordedPosition): Step {
  const { realizedLamports, feeLamports, openedAt, tokens, decimals, costLamports, exits } = position
  const why = sellingText(position)
  const made = `${signedSol(realizedLamports)}, fees and rent ${formatSol(feeLamports)} SOL, so ${signedSol(realizedLamports - feeLamports)}`
  if (closed !== null)
    return { at: closed.time, what: 'closed', text: `after ${durationOf(closed.time - openedAt)}: ${made}` }
  if (tokens === 0n) return { at: null, what: 'position', text: 'opening: nothing is held yet' }
  const selling = why === '' ? '' : `; ${isUnsellable(position) ? why : `being sold: ${why}`}`
  const held = `${wholeTokens(tokens, decimals)} tokens held, cost ${formatSol(costLamports)} SOL; exits: ${exitsText(exits)}${selling}`
  return { at: null, what: 'position', text: held }
}

/** What an open order waits for, and what would decide it; '' where it is over and nothing of it can still execute. */
export function waitingText(
  { order, state, code }: RecordedOrder,
  attempts: readonly Attempt[],
  progress: string,
): string {
  const out = attempts.filter((attempt) => isUndecided(attempt.state))
  const proof = progress === '' ? '' : `; so far: ${progress}`
  if (state === 'held')
    return `for evidence, or a person: the chain contradicts itself${proof}; \`sluice resolve ${order.id}\` shows it and decides`
  if (state === 'accepted') return lineText(order.notAfter === null ? null : order.notAfter - order.time, code)
  if (out.length === 0) return ''
  const what = out.map((attempt) => `${attempt.id} ${outText(attempt)}`).join('; ')
  const over = state === 'working' ? '' : `the order is ${state}, and `
  return `${over}${what}${proof}`
}

function lineText(ttlMs: number | null, code: string): string {
  const bound =
    ttlMs === null
      ? 'exits go before entries, and wait without bound'
      : `given up (LIMIT_WAIT, TTL) ${durationOf(Math.min(ttlMs, 2000))} after the decision at the latest`
  const again = code === '' ? '' : `; it goes again after ${codeText(code, '')}`
  return `for a free request of the plan; ${bound}${again}`
}

/** What an attempt that may still execute waits for. */
function outText({ state, executor }: Attempt): string {
  switch (state) {
    case 'armed':
      return executor === 'paper'
        ? 'is under way; its simulated fill decides'
        : 'was sent or is about to be; its answer decides'
    case 'acked':
      return 'has a signature; seen on the chain decides, or the proof that it cannot land any more'
    case 'unknown':
      return 'lost its answer: not sent again; a transaction of the wallet decides, or the proof that none can come any more'
    case 'landed':
      return 'was seen on the chain; its finality decides'
    case 'undecided':
      return 'is contradicted by the chain; later evidence or a person decides'
    default:
      return `is ${state}; landing decides, or the height at which it expires`
  }
}

export function orderLines({ recorded, token, steps }: OrderStory, columns: number): string[] {
  const { order, state, code, outcome } = recorded
  const end = `${state}${code === '' ? '' : `: ${codeText(code, outcome)}`}`
  const head = `${order.id}  ${order.bot} ${order.side === 'buy' ? 'buys' : 'sells'} ${sizeText(order.size)}`
  return [
    styleText('bold', head),
    ...headLines(token, columns - 2).map((line) => `  ${line}`),
    ...paragraph(`${order.account.split('|', 1)[0]}, ${stampOf(order.time)}`, columns, 2),
    ...paragraph(end, columns, 2),
    '',
    ...pageOf(steps, order.time, columns),
  ]
}

export function orderJson({ recorded, token, steps, attempts, fills }: OrderStory): object {
  const { order, state, code, outcome } = recorded
  return {
    ...{ kind: 'order', id: order.id, bot: order.bot, account: order.account, ...token, side: order.side },
    ...{ state, code, outcome, reason: order.reason, time: order.time, seq: order.seq, price: order.price },
    eventAgeMs: order.eventAgeMs ?? null,
    steps: stepsJson(steps, order.time),
    attempts: attempts.map((attempt) => ({
      ...{ id: attempt.id, executor: attempt.executor, state: attempt.state, code: attempt.code },
      ...{ signature: attempt.signature, armedAt: attempt.armedAt, waitedMs: attempt.waitedMs ?? null },
      ...{ slippagePercent: attempt.slippagePercent, trail: attempt.trail ?? [] },
    })),
    fills,
  }
}
