import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { loadStrategy, strategyNames } from '../../src/config/strategies.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const list = read('strategies/README.md')
const page = read('docs/strategies.md')
const names = strategyNames(root).filter((name) => name !== 'probe')

/** Returns the name and the default of a param as the list in the documents shows it. */
const shown = (key: string, value: unknown): string => {
  const text = Array.isArray(value) && value.length === 0 ? 'none' : value === '' ? 'any' : String(value)
  return `\`${key}\` (${text})`
}

test('the list of strategies and the page about them name exactly the shipped strategies', () => {
  expect(names.length).toBeGreaterThanOrEqual(8)
  expect([...list.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name).toSorted()).toEqual(names.toSorted())
  expect([...page.matchAll(/^## .*\(`([a-z-]+)`\)$/gm)].map(([, name]) => name).toSorted()).toEqual(names.toSorted())
})

test.each(names)('the list of strategies shows the params of %s with their defaults', async (name) => {
  const { strategy } = await loadStrategy(name, root)
  const defaults = Object.entries((strategy.params as z.ZodType).parse({}) as Record<string, unknown>)
  const row = list.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? ''
  const cells = row.split(' | ')
  expect(cells.at(-1)?.replace(/ \|$/, '').split(', ').toSorted()).toEqual(
    defaults.map(([key, value]) => shown(key, value)).toSorted(),
  )
})

/** Strategies whose whole code is on the page about strategies, each with its permitted number of lines. */
const FIGURE: [string, number][] = [
  ['breakout', 40],
  ['mean-reversion', 40],
  ['copy-trader', 70],
]

test.each(FIGURE)('the page about strategies shows the code of %s unchanged, in at most %i lines', (name, most) => {
  const source = read(`strategies/${name}.ts`)
  expect(page).toContain(`\`\`\`ts\n// strategies/${name}.ts\n${source}\`\`\`\n`)
  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(most)
})
