import type { Millis } from '../../base/units.ts'
import type { History, PlacedWord } from '../../journal/reader/history.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { FoundToken } from '../../journal/tape/tape-search.ts'
import { stampOf } from '../time-text.ts'
import { decisionPlace } from './decision-id.ts'
import { codeText, orderText, type Step } from './format.ts'
import { causeStep } from './order.ts'

/** The story of a decision without an order: a refused request of a bot, or a note of a bot. */
export interface DecisionStory {
  readonly id: string
  readonly word: PlacedWord
  readonly token: FoundToken
  readonly steps: readonly Step[]
}

/** Collects the story of a decision: its cause, what the bot had done with the token before, the decision itself, and
 *  what the bot did next. Undefined if the journal does not contain the decision. */
export function decisionStory(reader: JournalReader, id: string): DecisionStory | undefined {
  const place = decisionPlace(id)
  if (place === undefined) return undefined
  return reader.look((history, tape) => {
    const word = history.wordAt(place.seq, place.n)
    if (word === undefined) return undefined
    const steps = [
      causeStep(word, history, tape),
      ...earlierSteps(word, history),
      ...heldSteps(word, history),
      { at: word.time, what: word.kind, text: `${word.bot}: ${wordText(word)}` },
      ...laterSteps(word, history),
    ]
    return { id, word, token: tape.nameOf(word.mint), steps }
  })
}

function wordText({ kind, code, reason }: PlacedWord): string {
  return kind === 'note' ? reason : codeText(code, reason)
}

/** Returns the bot's last order for the token, and its last other decision about it, before this decision. */
function earlierSteps({ mint, bot, seq, n }: PlacedWord, history: History): Step[] {
  const order = history.ordersOf(mint).findLast(({ order }) => order.bot === bot && order.seq < seq)
  const before = history.wordBeside(mint, bot, { seq, n }, 'before')
  const steps: Step[] = []
  if (before !== undefined) steps.push({ at: before.time, what: 'before', text: `${before.kind}: ${wordText(before)}` })
  if (order !== undefined) steps.push({ at: order.order.time, what: 'before', text: orderText(order) })
  return steps.sort((one, other) => (one.at as Millis) - (other.at as Millis))
}

/** Says that the bot held the token when it made the decision. */
function heldSteps({ mint, bot, seq, time }: PlacedWord, history: History): Step[] {
  return history
    .positionsOf(mint)
    .filter(({ position, closed }) => position.bot === bot && position.openedAt <= time && (closed?.seq ?? seq) >= seq)
    .map(({ position, closed }) => {
      const end = closed === null ? 'it is still open' : `it closed at ${stampOf(closed.time)}`
      return { at: time, what: 'position', text: `held since ${stampOf(position.openedAt)}; ${end}` }
    })
}

function laterSteps({ mint, bot, seq, n }: PlacedWord, history: History): Step[] {
  const next = history.wordBeside(mint, bot, { seq, n }, 'after')
  const order = history.ordersOf(mint).find(({ order }) => order.bot === bot && order.seq >= seq)
  const steps: Step[] = []
  if (next !== undefined) steps.push({ at: next.time, what: 'then', text: `${next.kind}: ${wordText(next)}` })
  if (order !== undefined) steps.push({ at: order.order.time, what: 'then', text: orderText(order) })
  return steps.sort((one, other) => (one.at as Millis) - (other.at as Millis))
}
