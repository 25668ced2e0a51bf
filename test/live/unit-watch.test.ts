import { describe, expect, test } from 'vitest'
import type { Input } from '../../src/engine/messages.ts'
import { UnitWatch } from '../../src/live/unit-watch.ts'
import { blockOf, type Change, RIGHT, sandboxRows, WRONG } from '../support/unit-rows.ts'

describe('a live feed', () => {
  function watched(change: Change) {
    const told: (Input | string)[] = []
    const write = (text: unknown): void => void told.push(String(text).slice(0, 50))
    const log = { info: write, warn: write, error: write } as never
    const watch = new UnitWatch({ post: (input) => told.push(input), log, alert: () => told.push('alert') })
    const block = blockOf(sandboxRows().map(change))
    for (let row = 0; row < block.length; row++) watch.observe(block, row, row + 1)
    return told
  }
  const gate = (open: boolean) =>
    expect.objectContaining({ kind: 'gate', account: '', open, code: 'UNIT_CONTRADICTED' })

  test('a feed with amounts in SOL is reported once, and does not stop entries', () => {
    const told = watched((row) => row)
    expect(told.at(-1)).toMatch(/^the amounts of the feed are in SOL/)
    expect(told).not.toContainEqual(gate(false))
  })

  test.each(WRONG)('a feed with %s stops entries with an alert', (_name, change) => {
    const told = watched(change)
    expect(told).toContainEqual(gate(false))
    expect(told).toContain('alert')
    expect(told).not.toContainEqual(gate(true))
  })

  test.each(RIGHT)('a feed with %s does not stop entries', (_name, change) => {
    expect(watched(change)).not.toContainEqual(gate(false))
  })
})
