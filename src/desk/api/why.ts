import { conditionalStory } from '../../runtime/why/conditional-story.ts'
import { decisionPlace } from '../../runtime/why/decision-id.ts'
import { decisionStory } from '../../runtime/why/decision-story.ts'
import { codeText, decisionText, type Step } from '../../runtime/why/format.ts'
import { mintStory } from '../../runtime/why/mint-story.ts'
import { orderStory } from '../../runtime/why/order-story.ts'
import { Refusal } from '../refusal.ts'
import type { DeskJournal } from './desk-journal.ts'
import { checkedMint, type Parameters } from './parameters.ts'
import type { Answers, WhyAnswer, WhyLine } from './types.ts'

/** Maximum number of lines of an explanation. If there are more, the last lines are returned. */
const MOST_LINES = 500
/** Kinds of steps that need a person's attention. */
const WARNINGS: readonly string[] = ['refused', 'warning', 'order', 'call off', 'waits']

/** Explains an order, a conditional order, a refusal, a note or a token, as `sluice why` does. */
export function whyAnswer(journal: DeskJournal, parameters: Parameters, about: string): Answers['why'] {
  const bot = parameters.bot()
  if (/^o\d{1,15}$/.test(about)) return orderWhy(journal, about)
  if (/^c\d{1,15}$/.test(about)) return conditionalWhy(journal, about)
  if (decisionPlace(about) !== undefined) return decisionWhy(journal, about)
  const mint = checkedMint(about)
  const { token, steps } = mintStory(journal.reader, mint, bot)
  const { symbol, name } = token.symbol === '' ? journal.nameOf(mint) : token
  const title = symbol === '' ? mint : symbol
  return { kind: 'token', title, mint, symbol, name, ...linesOf(steps) }
}

function orderWhy({ reader }: DeskJournal, id: string): WhyAnswer {
  const story = orderStory(reader, id)
  if (story === undefined) throw unknown()
  const { order, state, code, outcome } = story.recorded
  const end = `${state}${code === '' ? '' : `: ${codeText(code, outcome)}`}`
  const title = `${id}: ${order.bot} ${decisionText(order)}: ${end}`
  return { kind: 'order', title, ...story.token, ...linesOf(story.steps) }
}

function conditionalWhy({ reader }: DeskJournal, id: string): WhyAnswer {
  const story = conditionalStory(reader, id)
  if (story === undefined) throw unknown()
  const { bot, action, state, code } = story.order
  const end = `${state}${code === '' ? '' : `: ${codeText(code, '')}`}`
  const title = `${id}: conditional ${action.side} by ${bot}: ${end}`
  return { kind: 'conditional', title, ...story.token, ...linesOf(story.steps) }
}

function decisionWhy(journal: DeskJournal, id: string): WhyAnswer {
  const story = decisionStory(journal.reader, id)
  if (story === undefined) throw new Refusal(404, 'NOT_FOUND', 'the journal has no such decision')
  const { bot, kind, code, mint } = story.word
  const { symbol, name } = story.token.symbol === '' ? journal.nameOf(mint) : story.token
  const title = `${id}: ${kind === 'note' ? `note of ${bot}` : `request of ${bot} refused: ${code}`}`
  return { kind: 'decision', title, mint, symbol, name, ...linesOf(story.steps) }
}

function linesOf(steps: readonly Step[]): Pick<WhyAnswer, 'lines' | 'omitted'> {
  const lines = steps
    .slice(-MOST_LINES)
    .map(({ at, what, text }): WhyLine => ({ time: at, what, text, level: WARNINGS.includes(what) ? 'warn' : 'info' }))
  return { lines, omitted: steps.length - lines.length }
}

function unknown(): Refusal {
  return new Refusal(404, 'NOT_FOUND', 'the journal has no such order')
}
