import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../docs/${path}`, import.meta.url), 'utf8')
const api = read('api.md')
/** Returns the members of a type that docs/api.md lists in its table. */
const membersOf = (type: string): string[] => {
  const section = new RegExp(`^### ${type}$([\\s\\S]*?)(?=^### |^## |(?![\\s\\S]))`, 'm').exec(api)?.[1] ?? ''
  return [...section.matchAll(/^\| `([A-Za-z]+)/gm)].map(([, name = '']) => name)
}

test.each([
  ['Bot', /\bbot\.([a-zA-Z]+)/g],
  ['Token', /`token\.([a-zA-Z]+)/g],
  ['Handlers', /`(on[A-Z][A-Za-z]+)\b/g],
])('the API reference lists every member of %s that the documents for strategy authors name', (type, pattern) => {
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
