import { describe, expect, test } from 'vitest'
import { createLog } from '../../src/runtime/log.ts'
import { redactor } from '../../src/runtime/redactor.ts'

const KEY = 'sk-ABC+/=?"x"&42'

describe('the log', () => {
  function logged(format: 'json' | 'text', write: (log: ReturnType<typeof createLog>) => void): string {
    let lines = ''
    write(createLog({ level: 'debug', format, redact: redactor([KEY]), write: (line) => (lines += line) }))
    return lines
  }
  const failure = new Error(`could not reach it with ${KEY}`, { cause: new Error(`inner ${KEY}`) })

  test('the log writes JSON without secrets, and text of a third party cannot start a new line', () => {
    const line = logged('json', (log) =>
      log.warn({ err: failure, deep: { a: { b: { c: KEY } } }, name: 'x\u001b[31m\n\u202e' }, 'no'),
    )
    expect(line).not.toContain('ABC')
    expect(line.trimEnd()).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u)
    const { msg, err, name, time, pid } = JSON.parse(line)
    expect({ msg, name, pid }).toEqual({ msg: 'no', name: 'x\u001b[31m\n\u202e', pid: undefined })
    expect(err.stack).toContain('could not reach it with [redacted]')
    expect(new Date(time).getTime()).toBeGreaterThan(0)
  })

  test('the log writes one readable line for each message', () => {
    const line = logged('text', (log) => log.error({ bot: 'dips', count: 3, mint: 'evil\n' }, 'refused'))
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} ERROR refused bot=dips count=3 mint=evil\\u000a\n$/)
    expect(logged('text', (log) => log.info({ err: failure }, 'x'))).not.toContain('ABC')
  })

  test('the log drops lines below its level', () => {
    expect(logged('json', (log) => log.trace('not this'))).toBe('')
  })
})
