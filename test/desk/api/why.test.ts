import { expect, test } from 'vitest'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { conditionalStory } from '../../../src/runtime/why/conditional-story.ts'
import { decisionStory } from '../../../src/runtime/why/decision-story.ts'
import { hasSameReason, mintStory, wordGroups } from '../../../src/runtime/why/mint-story.ts'
import { orderStory } from '../../../src/runtime/why/order-story.ts'
import { ApiRig } from '../../support/desk-api.ts'
import { HOSTILE, tradedJournal } from '../../support/traded-journal.ts'

const path = tradedJournal()
const api = new ApiRig(path)
/** Reads the journal without an index of decisions, as `sluice why` does. */
const plain = openReader(path)
const orders = plain.orders()

const linesOf = (about: string): unknown[] =>
  api.get('why', {}, about).lines.map(({ time, what, text }) => ({ at: time, what, text }))

test('the explanation of every order in the API equals that of `sluice why`', () => {
  const ids = orders.map(({ id }) => id).filter((id) => id.startsWith('o'))
  expect(ids.length).toBeGreaterThan(10)
  for (const id of ids) expect(linesOf(id)).toEqual(orderStory(plain, id)?.steps)
})

test('the explanation of every conditional order in the API equals that of `sluice why`', () => {
  const ids = orders.map(({ id }) => id).filter((id) => id.startsWith('c'))
  expect(ids.length).toBeGreaterThan(0)
  for (const id of ids) expect(linesOf(id)).toEqual(conditionalStory(plain, id)?.steps)
})

test('the explanation of every token in the API equals that of `sluice why`', () => {
  const mints = new Set(orders.map(({ mint }) => mint))
  for (const mint of mints) expect(linesOf(mint)).toEqual(mintStory(plain, mint, undefined).steps)
})

test('the API explains each refusal and each note on its own, however old it is, and as `sluice why` does', () => {
  const refused = api.pages<{ id: string; code: string; text: string; bot: string; mint: string }>(
    'refusals',
    'refusals',
    {},
  )
  expect(refused.length).toBeGreaterThan(10)
  expect(new Set(refused.map(({ id }) => id)).size).toBe(refused.length)
  // A part of them is enough, because `plain` reads the whole journal for each.
  const some = refused.filter((_one, index) => index % Math.ceil(refused.length / 12) === 0)
  for (const { id, code, text, bot, mint } of some) {
    const answer = api.get('why', {}, id)
    expect(answer).toMatchObject({ kind: 'decision', title: `${id}: request of ${bot} refused: ${code}`, mint })
    const own = answer.lines.filter(({ what }) => what === 'refused')
    expect(own).toHaveLength(1)
    expect(own[0]?.text).toContain(`${code}: ${text}`)
    expect(linesOf(id)).toEqual(decisionStory(plain, id)?.steps)
  }
})

test('every refusal and note on the chart of a token has an id, and the explanation of the id has its reason', () => {
  const mints = new Set(orders.map(({ mint }) => mint))
  const words = [...mints].flatMap((mint) => {
    const { refusals, notes } = api.get('token', { span: '86400' }, mint)
    return [...refusals, ...notes]
  })
  expect(words.length).toBeGreaterThan(10)
  for (const { id, t, text } of words) {
    const { lines } = api.get('why', {}, id)
    expect(lines.filter(({ time, text: line }) => time === t && line.includes(text))).not.toEqual([])
  }
})

test('refusals with the same code and different reasons stay apart on the chart; in the explanation of a token, their line has the first and the last reason', () => {
  const word = { time: 1, seq: 1, n: 0, kind: 'refused', bot: 'a', code: 'TOKEN_TOO_YOUNG', reason: '3 s old' } as const
  const later = { ...word, time: 2, seq: 2, reason: '9 s old' }
  const again = { ...later, time: 3, seq: 3 }
  const groups = wordGroups([word, later, again], hasSameReason)
  expect(groups).toEqual([
    { first: word, last: word, count: 1 },
    { first: later, last: again, count: 2 },
  ])
  const mints = new Set(orders.map(({ mint }) => mint))
  const joined = [...mints]
    .flatMap((mint) => mintStory(plain, mint, undefined).steps.map(({ text }) => text))
    .filter((text) => text.includes(' times until '))
  expect(joined).not.toEqual([])
  for (const text of joined) expect(text).toMatch(/ times until [\d:.]+(; the last time: .+)?\)$/)
  expect(joined.filter((text) => text.includes('; the last time: '))).not.toEqual([])
})

test('an explanation marks a refused request as important, and its title is the unchanged name with markup', () => {
  const mint = orders.find(({ id }) => id.startsWith('o'))?.mint ?? ''
  const { lines } = api.get('why', {}, mint)
  for (const { what, level } of lines) if (what === 'refused') expect(level).toBe('warn')
  expect(api.get('why', {}, 'TestToken1111111111111111111111111111111111').title).toBe(HOSTILE)
})

test.each([
  ['o999999', 'order'],
  ['c999999', 'order'],
  ['d999999.0', 'decision'],
  ['d0.999999', 'decision'],
])('the API has no explanation of %s', (id, what) => {
  expect(api.refusal(`why/${id}`, [])).toEqual({ status: 404, error: `the journal has no such ${what}` })
})
