import { describe, expect, it } from 'vitest'
import { alarmText, compared, readThrown } from '../../../src/engine/bots/thrown-value.ts'
import type { Output } from '../../../src/engine/messages.ts'

const refuse = (): never => {
  throw new Error('no')
}

describe('a thrown value', () => {
  it.each<[what: string, thrown: unknown, reason: string]>([
    ['text', 'gone', 'gone'],
    ['undefined', undefined, 'undefined'],
    ['an object', { a: 1 }, '[object Object]'],
    ['an object without a prototype', Object.create(null), 'the strategy threw a value that cannot be printed'],
    ['an object whose toString throws', { toString: refuse }, 'the strategy threw a value that cannot be printed'],
    ['an error with a message that throws', hiding('message'), 'the strategy threw a value that cannot be printed'],
    [
      'a proxy that throws at every access',
      new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse }),
      'the strategy threw a value that cannot be printed',
    ],
  ])('if a strategy throws %s, the reason is a text and there is no stack', (_what, thrown, reason) => {
    expect(readThrown(thrown)).toMatchObject({ reason, stack: expect.not.stringContaining('/') })
  })

  it.each<[what: string, stack: PropertyDescriptor]>([
    ['a stack that throws when it is read', { get: refuse }],
    ['a stack that is not a string', { value: 5 }],
  ])('if an error has %s, its message is kept', (_what, stack) => {
    const error = Object.defineProperty(new TypeError('gone'), 'stack', stack)
    expect(readThrown(error)).toEqual({ reason: 'TypeError: gone', above: '', stack: '' })
  })

  it('lines of a message that look like stack frames are ignored', () => {
    const error = new Error('gone\n    at evil (/etc/evil.ts:1:1)')
    const { stack } = readThrown(error)
    expect(stack).not.toContain('evil')
    expect(stack).toContain('thrown-value.test.ts')
  })

  it('the reason of a thrown error has a limited length', () => {
    const { reason, above, stack } = readThrown(new Error('x'.repeat(1e6)))
    expect(reason).toHaveLength(500)
    expect(above.length + stack.length).toBeLessThan(40_000)
    expect(stack).toContain('thrown-value.test.ts')
  })
})

describe('the alarm of a strategy that threw', () => {
  const alarm = { kind: 'alarm', bot: 'dips', code: 'STRATEGY_THREW', reason: 'ZodError: [\n  1\n]' } as const
  const thrownAt = { place: 'strategies/dips.ts:12:5', stack: ['onTrade (strategies/dips.ts:12:5)'] }

  it('the alarm about a strategy that threw is one line that begins with the place of the error', () => {
    expect(alarmText({ ...alarm, thrownAt })).toBe('strategies/dips.ts:12:5: ZodError: [ 1 ]')
    expect(alarmText(alarm)).toBe('ZodError: [ 1 ]')
  })

  it('a replay compares the alarm about a strategy without the place of the error', () => {
    const note: Output = { kind: 'note', bot: 'dips', mint: '', code: '', reason: '' }
    expect(compared({ ...alarm, thrownAt })).toEqual(alarm)
    expect(compared(note)).toBe(note)
  })
})

function hiding(property: string): Error {
  return Object.defineProperty(new Error('gone'), property, { get: refuse })
}
