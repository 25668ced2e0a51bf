import type { History, PlacedWord, RecordedOrder } from '../../journal/reader/history.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { FoundToken } from '../../journal/tape/tape-search.ts'
import { stampOf } from '../time-text.ts'
import { decisionPlace } from './decision-id.ts'
import { codeText, inOrder, orderText, type Step } from './format.ts'
import { causeStep } from './order-story.ts'

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
function earlierSteps(word: PlacedWord, history: History): Step[] {
  const { mint, bot, seq } = word
  const order = history.ordersOf(mint).findLast(({ order }) => order.bot === bot && order.seq < seq)
  return besideSteps('before', history.wordBeside(mint, bot, word, 'before'), order)
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

/** Returns the bot's first order for the token, and its first other decision about it, after this decision. */
function laterSteps(word: PlacedWord, history: History): Step[] {
  const { mint, bot, seq } = word
  const order = history.ordersOf(mint).find(({ order }) => order.bot === bot && order.seq >= seq)
  return besideSteps('then', history.wordBeside(mint, bot, word, 'after'), order)
}

function besideSteps(what: string, word: PlacedWord | undefined, order: RecordedOrder | undefined): Step[] {
  const steps: Step[] = []
  if (word !== undefined) steps.push({ at: word.time, what, text: `${word.kind}: ${wordText(word)}` })
  if (order !== undefined) steps.push({ at: order.order.time, what, text: orderText(order) })
  return inOrder(steps)
}
