import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../docs/${path}`, import.meta.url), 'utf8')
const api = read('api.md')
/** Rows of the table of a type in the API reference. */
const membersOf = (type: string): string[] => {
  const section = new RegExp(`^### ${type}$([\\s\\S]*?)(?=^### |^## |(?![\\s\\S]))`, 'm').exec(api)?.[1] ?? ''
  return [...section.matchAll(/^\| `([A-Za-z]+)/gm)].map(([, name = '']) => name)
}

test.each([
  ['Bot', /\bbot\.([a-zA-Z]+)/g],
  ['Token', /`token\.([a-zA-Z]+)/g],
  ['Handlers', /`(on[A-Z][A-Za-z]+)\b/g],
])('every member of %s that a document for authors names exists', (type, pattern) => {
  const members = membersOf(type)
  expect(members.length).toBeGreaterThan(3)
  const pages = [
    'write-a-strategy.md',
    'strategy-details.md',
    'from-other-frameworks.md',
    'strategies.md',
    'bars.md',
    'exits.md',
  ]
  const unknown = pages.flatMap((page) =>
    [...read(page).matchAll(pattern)]
      .filter(([, name = '']) => !members.includes(name))
      .map(([text]) => `${page}: ${text}`),
  )
  expect(unknown).toEqual([])
})
