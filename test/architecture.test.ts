import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  cycles,
  determinismBans,
  folderRule,
  leftForLater,
  readSources,
  source,
  tooLong,
} from './support/architecture.ts'

const product = readSources('src', 'strategies')
const everything = [...product, ...readSources(...['test', 'bench'].filter((folder) => existsSync(folder)))]

test.each([
  ['no file breaks the folder rule', folderRule(product)],
  ['no imports go in a circle', cycles(product)],
  ['nothing in core/ or strategies/ depends on time, chance or the machine', determinismBans(product)],
  ['every function fits on a screen', tooLong(product)],
  ['nothing is left for later', leftForLater(everything)],
])('%s', (_name, complaints) => {
  if (complaints.length) expect.fail(`\n${complaints.join('\n')}\n`)
})

// A check that cannot fail checks nothing: each rule sees what it is there for, and only that.
const imports = (...specifiers: string[]) => specifiers.map((one) => `import '${one}'`).join('\n')

test.each([
  ['core/ and another folder', 'src/core/a.ts', '../journal/b.ts', 'imports nothing of ours'],
  ['core/ and Node', 'src/core/a.ts', 'node:fs', 'core/ uses zod only'],
  ['core/ and a package that is not listed', 'src/core/a.ts', 'ws', 'core/ uses zod only'],
  ['a folder and its sibling', 'src/service/a.ts', '../runtime/b.ts', 'imports core/ and itself only'],
  ['a folder and the wiring', 'src/service/a.ts', '../bot.ts', 'imports core/ and itself only'],
  ['a folder and a room of the wiring', 'src/service/a.ts', '../wiring/live/b.ts', 'imports core/ and itself only'],
  ['live and backtest', 'src/wiring/live/a.ts', '../backtest/b.ts', 'stands on only access of the wiring'],
  ['a room and one that stands on it', 'src/wiring/access/a.ts', '../live/b.ts', 'stands on no other room'],
  ['what rooms share and a room', 'src/wiring/a.ts', './live/b.ts', 'stands on no other room'],
  ['core/ and the wiring', 'src/core/a.ts', '../wiring/b.ts', 'imports nothing of ours'],
  ['a stray file in src/', 'src/helpers.ts', './core/a.ts', 'put this file into a folder'],
  ['src/ and its own name', 'src/service/a.ts', 'sluice', 'import the file'],
  ['a strategy and the sources', 'strategies/a.ts', '../src/index.ts', "imports 'sluice'"],
  ['a strategy and a package that is not listed', 'strategies/a.ts', 'ws', 'strategies use sluice'],
])('the folder rule refuses %s', (_name, path, specifier, because) => {
  expect(folderRule([source(path, imports(specifier))])).toEqual([expect.stringContaining(because)])
})

test.each([
  ['src/core/a.ts', imports('./b.ts', './exits/c.ts', 'zod')],
  ['src/service/a.ts', imports('../core/b.ts', './wire/c.ts', 'undici', 'node:fs')],
  ['src/bot.ts', imports('./core/a.ts', './service/b.ts', './wiring/live/c.ts')],
  ['src/wiring/live/a.ts', imports('../../core/a.ts', '../../service/b.ts', '../c.ts', '../access/d.ts', './e.ts')],
  ['src/commands/a.ts', imports('../bot.ts', '../journal/b.ts', './c.ts')],
  ['strategies/a.ts', imports('sluice', 'trading-signals', './shared/b.ts')],
])('the folder rule allows what %s imports', (path, text) => {
  expect(folderRule([source(path, text)])).toEqual([])
})

test.each([
  ['export', "export * from '../journal/b.ts'"],
  ['import()', "const load = () => import('../journal/b.ts')"],
  ['a type', "type B = import('../journal/b.ts').B"],
])('the folder rule sees %s', (_name, text) => {
  expect(folderRule([source('src/service/a.ts', text)])).toHaveLength(1)
})

test('a circle is shown as a path, a diamond is none', () => {
  const a = source('src/core/a.ts', imports('./b.ts', './c.ts'))
  const b = source('src/core/b.ts', imports('./c.ts'))
  expect(cycles([a, b, source('src/core/c.ts', '')])).toEqual([])
  expect(cycles([a, b, source('src/core/c.ts', imports('./a.ts'))])).toEqual([
    expect.stringContaining('src/core/a.ts -> src/core/b.ts -> src/core/c.ts -> src/core/a.ts'),
  ])
})

test.each([
  'const t = Date.now()',
  'const t = new Date()',
  'let t: Date',
  'const r = Math.random()',
  'setTimeout(run, 1)',
  'const t = performance.now()',
  'const id = crypto.randomUUID()',
  'const { env } = process',
  "a.localeCompare('b')",
  'new Intl.NumberFormat()',
  'const run = async () => 1',
  'const p: Promise<void> = Promise.resolve()',
  'queueMicrotask(run)',
  'const f = globalThis.fetch',
])('the bans see `%s`', (text) => {
  expect(determinismBans([source('src/core/a.ts', text)])).not.toEqual([])
  expect(determinismBans([source('strategies/a.ts', text)])).not.toEqual([])
  expect(determinismBans([source('src/runtime/a.ts', text)])).toEqual([])
})

test.each([
  '// Date.now() is banned, setTimeout too',
  "const text = 'Date Math.random() await fetch'",
  'const a = record.process + record.crypto',
  'const a = { performance: 1 }; interface B { fetch: number }',
  'const a = Math.max(1, 2)',
])('the bans let pass `%s`', (text) => {
  expect(determinismBans([source('src/core/a.ts', text)])).toEqual([])
})

test('a seam may name a promise as a type, and hold none', () => {
  const seam = 'export type Stop = () => Promise<void>'
  expect(determinismBans([source('src/core/ports.ts', seam)])).toEqual([])
  expect(determinismBans([source('src/core/other.ts', seam)])).toHaveLength(1)
  expect(determinismBans([source('src/core/ports.ts', 'const a = Promise.resolve()')])).toHaveLength(1)
})

test('a function may have 70 lines, not 71; words that put work off are refused', () => {
  const lines = (count: number): string => `function f() {\n${'  a()\n'.repeat(count - 2)}}\n`
  expect(tooLong([source('src/core/a.ts', lines(70)), source('src/core/b.ts', lines(71))])).toEqual([
    expect.stringContaining('src/core/b.ts:1: f has 71 lines'),
  ])
  expect(leftForLater([source('src/core/a.ts', `\n// ${'TO'}DO: later`)])).toEqual([
    expect.stringContaining('src/core/a.ts:2'),
  ])
})
