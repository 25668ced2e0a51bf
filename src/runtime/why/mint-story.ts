import { formatSol, lamportsToSol, type Millis, wholeTokens } from '../../base/units.ts'
import { isOpen } from '../../engine/order.ts'
import type { History, RecordedFill, RecordedOrder, Warning, Word } from '../../journal/reader/history.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { FoundToken } from '../../journal/tape/tape-search.ts'
import { clockOf } from '../time-text.ts'
import { conditionalSteps } from './conditional-story.ts'
import { codeText, inOrder, priceText, type Step, signedSol, sizeText } from './format.ts'
import { positionStep, reportedAt, waitingText } from './order-story.ts'

/** The decisions of the bots about a token, and the results of these decisions. */
export interface MintStory {
  readonly token: FoundToken
  readonly steps: readonly Step[]
  readonly counts: { readonly orders: number; readonly fills: number; readonly refused: number; readonly notes: number }
}

/** Collects the decisions about a token and their results from the journal. `bot`: only those of this bot; undefined
 *  for all bots. */
export function mintStory(reader: JournalReader, mint: string, bot: string | undefined): MintStory {
  return reader.look((history, tape) => {
    const isMine = (one: { readonly bot: string }): boolean => bot === undefined || one.bot === bot
    const orders = history.ordersOf(mint).filter(({ order }) => isMine(order))
    const words = history.words(mint, 0, Number.MAX_SAFE_INTEGER).filter(isMine)
    const positions = history.positionsOf(mint).filter(({ position }) => isMine(position))
    const fills = orders.flatMap(({ order }) => {
      const reports = history.reportsOf(order)
      return history.fillsOf(order.id).map((fill) => ({ ...fill, at: reportedAt(fill, reports) }))
    })
    const steps = inOrder([
      ...orders.flatMap((recorded) => orderSteps(recorded, history)),
      ...fills.map(fillStep),
      ...wordGroups(words, belongToOneLine).map(wordStep),
      ...history.warnings(mint).filter(isMine).map(warningStep),
      ...conditionalSteps(history.conditionals({ mint }).filter(({ order }) => isMine(order))),
      ...positions.map((position) => botStep(positionStep(position), position.position.bot)),
    ])
    const refused = words.filter(({ kind }) => kind === 'refused').length
    return {
      token: tape.nameOf(mint),
      steps,
      counts: { orders: orders.length, fills: fills.length, refused, notes: words.length - refused },
    }
  })
}

function warningStep({ time, bot, kind, text }: Warning): Step {
  return { at: time, what: kind, text: `${bot}: ${text}` }
}

function botStep({ at, what, text }: Step, bot: string): Step {
  return { at, what, text: `${bot}: ${text}` }
}

/** Returns the steps about an order: its decision, then its end or the event for which it waits. */
function orderSteps(recorded: RecordedOrder, history: History): Step[] {
  const { order, state, code, outcome } = recorded
  const made: Step = {
    at: order.time,
    what: order.id,
    text: `${order.bot} ${order.side}s ${sizeText(order.size)}: ${order.reason}`,
  }
  if (state === 'filled') return [made]
  if (isOpen(state)) {
    const waits = waitingText(recorded, history.attemptsOf(order.id), history.progressOf(order.id))
    return [made, { at: null, what: order.id, text: `${state}; waiting ${waits}` }]
  }
  const end = history.reportsOf(order).findLast(({ report }) => report.state === state)
  const text = `${state}${code === '' ? '' : `: ${codeText(code, outcome)}`}`
  return [made, { at: end?.time ?? order.time, what: order.id, text }]
}

function fillStep({ fill, reversed, at }: RecordedFill & { readonly at: Millis }): Step {
  const { orderId, side, tokens, decimals, tradeLamports, walletLamports } = fill
  const whole = wholeTokens(tokens, decimals)
  const paid = priceText(lamportsToSol(tradeLamports) / whole)
  const verb = side === 'buy' ? 'bought' : 'sold'
  const text = `${verb} ${whole} tokens for ${formatSol(tradeLamports)} SOL, ${paid}; wallet ${signedSol(walletLamports)}`
  return { at, what: orderId, text: reversed ? `${text}; reversed by a fork` : text }
}

/** Consecutive equal decisions of a bot, which are shown as one entry. */
export interface WordGroup {
  readonly first: Word
  readonly last: Word
  readonly count: number
}

/**
 * Joins consecutive equal decisions of each bot. `areEqual`: whether two decisions of the same kind and code are equal.
 */
export function wordGroups(words: readonly Word[], areEqual: (one: Word, other: Word) => boolean): WordGroup[] {
  const groups: WordGroup[] = []
  const lastOf = new Map<string, number>()
  for (const word of words) {
    const at = lastOf.get(word.bot)
    const group = at === undefined ? undefined : groups[at]
    const isSame = group !== undefined && word.kind === group.first.kind && word.code === group.first.code
    if (at !== undefined && isSame && areEqual(group.first, word))
      groups[at] = { first: group.first, last: word, count: group.count + 1 }
    else lastOf.set(word.bot, groups.push({ first: word, last: word, count: 1 }) - 1)
  }
  return groups
}

export function hasSameReason(one: Word, other: Word): boolean {
  return one.reason === other.reason
}

/** The explanation of a token shows refusals with the same code as one line, because their reasons often differ only in
 *  a number, such as the age of the token. */
function belongToOneLine(one: Word, other: Word): boolean {
  return one.kind === 'refused' || hasSameReason(one, other)
}

function wordStep({ first, last, count }: WordGroup): Step {
  const { kind, bot, code, reason, time } = first
  const other = last.reason === reason ? '' : `; the last time: ${last.reason}`
  const again = count === 1 ? '' : ` (${count} times until ${clockOf(last.time)}${other})`
  const decision = kind === 'note' ? reason : `${code}: ${reason}`
  return { at: time, what: kind, text: `${bot}: ${decision}${again}` }
}
