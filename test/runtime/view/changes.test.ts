import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyChange } from '../../../src/runtime/view/apply-change.ts'
import { changeBetween } from '../../../src/runtime/view/changes.ts'
import type { Change, View } from '../../../src/runtime/view/view.ts'
import { ViewMirror } from '../../../src/runtime/view/view-mirror.ts'

const amount = fc.oneof(fc.constant(null), fc.integer({ min: -3, max: 3 }))
const position = fc.record({
  account: fc.constantFrom('w', 'paper|s||dips'),
  mint: fc.constantFrom('m1', 'm2', 'm3', '__proto__', 'constructor'),
  openedAt: fc.nat(3),
  price: amount,
  exits: fc.array(fc.record({ kind: fc.constantFrom('stopLossPercent', 'maxHoldSeconds'), price: amount }), {
    maxLength: 2,
  }),
})
const order = fc.record({
  number: fc.nat(12),
  stage: fc.constantFrom('queued', 'armed', 'unknown'),
  mint: position.map(({ mint }) => mint),
})
const bot = fc.record({ trades: fc.nat(2), refusals: fc.dictionary(fc.constantFrom('A', 'B'), fc.nat(2)) })

/** Random views. They contain only some keys of a view: at least one for each way in which a change encodes keys. */
const view: fc.Arbitrary<View> = fc
  .record({
    time: fc.nat(1_000),
    seq: fc.nat(3),
    stops: fc.array(fc.record({ code: fc.constantFrom('HALTED', 'DISK_LOW'), until: amount }), { maxLength: 2 }),
    journal: fc.record({ waitingMs: fc.nat(1) }),
    positions: fc.uniqueArray(position, { selector: ({ account, mint }) => `${account}/${mint}`, maxLength: 6 }),
    openOrders: fc.uniqueArray(order, { selector: ({ number }) => number, maxLength: 6 }),
    bots: fc.tuple(bot, bot),
  })
  .map(({ positions, openOrders, bots, ...rest }) => ({
    ...rest,
    positions: positions
      .map(({ account, ...one }) => ({ id: `${account}/${one.mint}`, symbol: '', ...one }))
      .sort((one, other) => one.openedAt - other.openedAt || (one.id < other.id ? -1 : 1)),
    openOrders: openOrders
      .sort((one, other) => one.number - other.number)
      .map(({ number, ...one }) => ({ id: `o${number}`, symbol: '', ...one })),
    bots: bots.map((one, index) => ({ name: ['dips', '__proto__'][index], ...one })),
  })) as unknown as fc.Arbitrary<View>

const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** Returns the views of a process with their ids, and the changes between them. */
function announced(views: readonly View[]): { first: View; last: View; changes: Change[] } {
  const first = { ...(views[0] as View), id: '7-0' }
  const changes: Change[] = []
  let before = first
  for (const next of views.slice(1)) {
    const after = { ...next, id: `7-${changes.length + 1}` }
    const change = changeBetween(before, after)
    if (change === undefined) continue
    changes.push(change)
    before = after
  }
  return { first, last: before, changes }
}

const views = fc.array(view, { minLength: 1, maxLength: 8 })

test('all changes of a view, applied to the first view, give the last view', () => {
  fc.assert(
    fc.property(views, (all) => {
      const { first, last, changes } = announced(all)
      const seen = changes.reduce((now, change) => applyChange(now, sent(change)), sent(first))
      expect(seen).toEqual(last)
      expect({ ...all.at(-1), id: '', time: 0 }).toEqual({ ...last, id: '', time: 0 })
    }),
    { numRuns: 500 },
  )
})

test('a row of the view that did not change stays the same object', () => {
  fc.assert(
    fc.property(view, view, (one, other) => {
      const { first, changes } = announced([one, other])
      const [change] = changes
      if (change === undefined) return
      const after = applyChange(first, change)
      for (const row of after.positions)
        if (!Object.hasOwn(change.positions ?? {}, row.id)) expect(first.positions).toContain(row)
    }),
  )
})

test('a view that differs only in its time counts as unchanged', () => {
  fc.assert(
    fc.property(view, (one) => {
      expect(changeBetween({ ...one, id: '7-0' }, { ...sent(one), id: '7-1', time: one.time + 250 })).toBeUndefined()
    }),
  )
})

test('a change of the view that does not follow the present view is refused', () => {
  const { first, changes } = announced(fc.sample(views, { numRuns: 20, seed: 1 }).flat())
  expect(changes.length).toBeGreaterThan(2)
  expect(() => applyChange(first, changes[1] as Change)).toThrow(RangeError)
})

test('a copy of the view follows the changes, and adds the symbols of tokens as soon as the tape contains them', () => {
  const time = fc.nat(8_000)
  const knownFrom = fc.dictionary(fc.constantFrom('m1', 'm2', 'm3'), time)
  fc.assert(
    fc.property(views, knownFrom, fc.array(time, { minLength: 8, maxLength: 8 }), (all, known, gaps) => {
      const { first, last, changes } = announced(all)
      let now = 0
      const symbolsOf = (mints: ReadonlySet<string>): Map<string, string> =>
        new Map(
          [...mints].flatMap((mint) => ((known[mint] ?? Number.POSITIVE_INFINITY) <= now ? [[mint, `S${mint}`]] : [])),
        )
      const mirror = new ViewMirror(sent(first), { symbolsOf, now: () => now })
      let page = sent(mirror.view)
      mirror.listen((change) => {
        page = applyChange(page, sent(change))
      })
      for (const [index, change] of changes.entries()) {
        now += gaps[index] ?? 0
        mirror.take(sent(change))
      }
      expect(page).toEqual(mirror.view)
      const bare = <Row extends object>(row: Row): Row => ({ ...row, symbol: '' })
      expect({
        ...page,
        positions: page.positions.map(bare),
        openOrders: page.openOrders.map(bare),
      }).toEqual(last)
      for (const { mint, symbol } of [...page.positions, ...page.openOrders]) expect(['', `S${mint}`]).toContain(symbol)
    }),
    { numRuns: 300 },
  )
})
