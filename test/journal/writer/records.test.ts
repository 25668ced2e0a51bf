import { expect, test } from 'vitest'
import { encodeJson } from '../../../src/base/json.ts'
import type { Input, Output } from '../../../src/engine/messages.ts'
import { inputWrites, outputWrites } from '../../../src/journal/writer/records.ts'
import { order, position, report } from '../../support/journal-samples.ts'

/** Returns the same message with its fields in another order. */
function reordered<T extends object>(message: T): T {
  return Object.fromEntries(Object.entries(message).reverse()) as T
}

test('the SQL row of an order, a position, a timer or an account contains its record from the output as JSON', () => {
  const timer = { id: 7, bot: 'dips', strategy: 'dip-buyer', name: 'check', at: 1, everyMs: 0 }
  const money = { account: 'a"b', lamports: null, walletSlot: 0, halted: false }
  const outputs = [
    { kind: 'order', order: order(1, { reason: 'it said "}"' }) },
    { kind: 'position', position: position(1) },
    { kind: 'timer', timer },
    { kind: 'account', money },
    { kind: 'bot', money: { ...money, bot: 'dips' } },
  ] as unknown as Output[]
  for (const output of outputs)
    for (const written of [output, reordered(output)]) {
      const [row, effect] = outputWrites(5, 6, 0, written, encodeJson(written))
      const field = Object.entries(output).find(([key]) => key !== 'kind')?.[1]
      expect(row?.at(-1)).toBe(encodeJson(written))
      expect(effect?.at(-1), output.kind).toBe(encodeJson(field))
    }
})

test('a report that the engine receives is stored as an input only, and its id is never used again', () => {
  const input: Input = { kind: 'report', id: 12, report: report(1) }
  expect(inputWrites(1, 5, 6, input, encodeJson(input))).toEqual([
    ['input', 5, 1, 6, 'report', encodeJson(input)],
    ['reportTaken', 12],
    ['counter', 'nextReport', 13],
  ])
})
