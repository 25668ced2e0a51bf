import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeJson } from '../../../src/base/json.ts'
import type { Input, Output } from '../../../src/engine/messages.ts'
import { RowReader, RowWriter } from '../../../src/journal/tape/key-rows.ts'
import { startInput } from '../../support/engine-rig.ts'

const start = startInput([])
const feed = (confirmed: readonly string[], status: 'live' | 'down' = 'live'): Input => ({
  kind: 'feed',
  status,
  confirmed,
})
const keys = (want: readonly string[]): Output => ({ kind: 'keys', want })

test('a reader restores every list of keys from the recorded changes, even if it begins at a later start', () => {
  const list = fc.uniqueArray(fc.constantFrom('trades', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6'))
  const step = fc.oneof(
    fc.record({
      input: fc.oneof(
        list.map((confirmed) => feed(confirmed)),
        fc.constant<Input>({ kind: 'timer', id: 1 }),
      ),
    }),
    fc.record({ output: list.map(keys) }),
    fc.constant({ input: start as Input }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const writer = new RowWriter()
      let reader = new RowReader()
      for (const one of steps) {
        if ('output' in one) {
          const read = reader.output(writer.output(one.output))
          expect(encodeJson(read)).toBe(encodeJson(one.output))
          continue
        }
        if (one.input.kind === 'start') reader = new RowReader()
        const read = reader.input(writer.input(one.input))
        expect(encodeJson(read)).toBe(encodeJson(one.input))
      }
    }),
  )
})

test('a recorded row has only the change of a list of keys, but at regular intervals the complete list', () => {
  const writer = new RowWriter()
  const many = Array.from({ length: 100 }, (_, number) => `m${number}`)
  const rows = Array.from({ length: 200 }, (_, number) => writer.output(keys([...many, `new${number}`])))
  expect(rows[0]).toBe(encodeJson(keys([...many, 'new0'])))
  expect(rows[1]).toBe('{"kind":"keys","dropped":["new0"],"added":["new1"]}')
  expect(rows.filter((row) => row.includes('want'))).toHaveLength(4)
  expect(writer.input(feed(['a', 'b']))).toBe(encodeJson(feed(['a', 'b'])))
  expect(writer.input(feed(['a', 'b'], 'down'))).toBe('{"kind":"feed","status":"down","dropped":[],"added":[]}')
})

test('rows of earlier versions of Sluice, which have complete lists of keys, are read unchanged', () => {
  const reader = new RowReader()
  expect(reader.input(encodeJson(feed(['a'])))).toEqual(feed(['a']))
  expect(reader.output(encodeJson(keys(['a', 'b'])))).toEqual(keys(['a', 'b']))
})
