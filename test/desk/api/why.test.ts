import { expect, test } from 'vitest'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { conditionalStory } from '../../../src/runtime/why/conditional.ts'
import { mintStory } from '../../../src/runtime/why/mint.ts'
import { orderStory } from '../../../src/runtime/why/order.ts'
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

test('an explanation marks a refused request as important, and its title is the unchanged name with markup', () => {
  const mint = orders.find(({ id }) => id.startsWith('o'))?.mint ?? ''
  const { lines } = api.get('why', {}, mint)
  for (const { what, level } of lines) if (what === 'refused') expect(level).toBe('warn')
  expect(api.get('why', {}, 'TestToken1111111111111111111111111111111111').title).toBe(HOSTILE)
})

test.each(['o999999', 'c999999'])('the API has no explanation of %s', (id) => {
  expect(api.refusal(`why/${id}`, [])).toEqual({ status: 404, error: 'the journal has no such order' })
})
