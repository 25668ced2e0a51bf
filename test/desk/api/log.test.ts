import { expect, test } from 'vitest'
import type { RefusedRequest } from '../../../src/desk/api/types.ts'
import type { LogLine } from '../../../src/runtime/view/view.ts'
import { ApiRig } from '../../support/desk-api.ts'
import { tradedJournal } from '../../support/traded-journal.ts'

const api = new ApiRig(tradedJournal())

const everyLine = (query: Record<string, string>): LogLine[] => api.pages('log', 'lines', query)

test('all pages of the log together contain each alarm, warning, message, refusal and note once, newest first', () => {
  const decisions = [...api.reader.decisions()].filter(({ kind }) => ['refused', 'note', 'alarm'].includes(kind))
  const lines = everyLine({ limit: '7' })
  const places = lines.map(({ seq, n }) => seq * 1000 + n)
  expect(places).toEqual([...new Set(places)].sort((one, other) => other - one))
  expect(lines.length).toBeGreaterThan(decisions.length)
  const texts = new Set(lines.map(({ time, text }) => `${time} ${text}`))
  expect(decisions.filter(({ time, reason }) => !texts.has(`${time} ${reason}`))).toEqual([])
})

test('a level of the log leaves out the less important lines', () => {
  const levels = (level: string): string[] => [...new Set(everyLine({ level }).map((line) => line.level))].sort()
  expect([levels('error'), levels('warn'), levels('info')]).toEqual([[], ['warn'], ['info', 'warn']])
})

test('a page of the log for one token has only lines of this token', () => {
  const mint = everyLine({}).find((line) => line.mint !== '')?.mint ?? ''
  const lines = everyLine({ mint })
  expect(new Set(lines.map((line) => line.mint))).toEqual(new Set([mint]))
})

test('a page of the refusals with one code has all refusals with this code, and no others', () => {
  const all = api.pages<RefusedRequest>('refusals', 'refusals', { limit: '7' })
  const codes = [...new Set(all.map(({ code }) => code))]
  expect(codes.length).toBeGreaterThan(1)
  for (const code of codes)
    expect(api.pages('refusals', 'refusals', { code, limit: '7' })).toEqual(all.filter((one) => one.code === code))
  expect(api.pages('refusals', 'refusals', { code: 'NO_SUCH_CODE' })).toEqual([])
})
