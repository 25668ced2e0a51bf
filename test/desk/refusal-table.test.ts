import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('the table of refused requests in docs/desk.md lists every code of the desk, and no other', () => {
  const [, type = ''] = /export type RefusalCode =([\s\S]*?)\n\n/.exec(read('src/desk/refusal.ts')) ?? []
  const codes = [...type.matchAll(/'([A-Z_]+)'/g)].map(([, code]) => code)
  expect(codes.length).toBeGreaterThan(15)
  const [, section = ''] = read('docs/desk.md').split('## Refused requests')
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const listed = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code))
  expect(listed.toSorted()).toEqual(codes.toSorted())
})
