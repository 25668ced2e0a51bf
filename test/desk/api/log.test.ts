import { afterAll, expect, test } from 'vitest'
import { apiAnswer } from '../../../src/desk/api/routes.ts'
import type { ApiError, LogAnswer, LogLine } from '../../../src/desk/api/types.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { tradedJournal } from '../../support/traded-journal.ts'

const reader = openReader(tradedJournal())
afterAll(() => reader.close())

function logOf(query: Record<string, string> = {}): LogAnswer {
  const { status, body } = apiAnswer(reader, 'log', Object.entries(query))
  expect(status).toBe(200)
  return body as LogAnswer
}

function everyPage(query: Record<string, string>): LogLine[] {
  const lines: LogLine[] = []
  for (let next: string | null = ''; next !== null; ) {
    const page = logOf(next === '' ? query : { ...query, before: next })
    lines.push(...page.lines)
    next = page.next
  }
  return lines
}

test('the pages together return each alarm, warning, message, refusal and note once, newest first', () => {
  const expected = [...reader.decisions()].filter(({ kind }) => ['refused', 'note', 'alarm'].includes(kind)).reverse()
  const lines = everyPage({ limit: '7' })
  const decided = lines.filter(({ level, code }) => level === 'debug' || level === 'error' || code !== '')
  expect(decided.map(({ time, text }) => ({ time, text }))).toEqual(
    expected.map(({ time, reason }) => ({ time, text: reason })),
  )
  expect(lines.length).toBeGreaterThan(expected.length)
})

test('a level omits the lines that are less important', () => {
  const levels = (level: string): string[] => [...new Set(everyPage({ level }).map((line) => line.level))].sort()
  expect([levels('error'), levels('warn'), levels('debug')]).toEqual([[], ['warn'], ['debug', 'info', 'warn']])
})

test.each([
  [{ level: 'loud' }, 'level=loud is invalid; expected error, warn, info, debug'],
  [{ limit: '0' }, 'limit=0 is invalid; expected a whole number from 1 to 500'],
  [{ mint: 'abc' }, 'mint=abc is invalid; expected the address of a mint'],
  [{ before: '1' }, 'before=1 is invalid; expected the value of next in the answer with the previous page'],
])('%j is refused with one sentence', (query, error) => {
  expect(apiAnswer(reader, 'log', Object.entries(query))).toEqual({
    status: 400,
    body: { error, code: 'BAD_PARAMETER' } satisfies ApiError,
  })
})
