import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  cycles,
  determinismBans,
  leftForLater,
  pageRule,
  ROWS,
  readSources,
  rowRule,
  source,
  tooLong,
} from './support/architecture.ts'

const product = readSources('src', 'strategies')
const everything = [...product, ...readSources(...['test', 'bench'].filter((folder) => existsSync(folder)))]

test.each([
  ['every folder of src/ imports only from the layers below it', rowRule(product)],
  ['the desk page in the browser and the process share only types and pure modules', pageRule(product)],
  ['imports form no cycle', cycles(product)],
  ['pure layers and strategies use no clock, no random numbers and nothing of the machine', determinismBans(product)],
  ['every function fits on a screen', tooLong(product)],
  ['no source contains a word that defers work', leftForLater(everything)],
])('%s', (_name, complaints) => {
  if (complaints.length) expect.fail(`\n${complaints.join('\n')}\n`)
})

test('every folder of src/ belongs to a layer', () => {
  const folders = new Set(readSources('src').map(({ path }) => path.split('/')[1] as string))
  expect([...folders].filter((folder) => !ROWS.flat().includes(folder))).toEqual([])
})

// Each case is a forbidden import. The rule must report it and nothing else, which shows that the check can fail.
const imports = (...specifiers: string[]) => specifiers.map((one) => `import '${one}'`).join('\n')

test.each([
  ['an import from a layer above', 'src/engine/a.ts', '../orders/b.ts', 'orders belongs to a layer above'],
  ['an import from the same layer', 'src/journal/a.ts', '../chain/b.ts', 'chain belongs to the same layer'],
  ['an import of backtest/ by live/', 'src/live/a.ts', '../backtest/b.ts', 'backtest belongs to the same layer'],
  ['market importing solana', 'src/market/a.ts', '../solana/b.ts', 'solana belongs to the same layer'],
  ['any import by base/', 'src/base/a.ts', '../market/b.ts', 'market belongs to a layer above'],
  [
    'an import of runtime/ by an adapter',
    'src/venues/token-service/a.ts',
    '../../runtime/b.ts',
    'belongs to a layer above',
  ],
  [
    'an import of a command by another layer',
    'src/backtest/report/a.ts',
    '../../commands/b.ts',
    'belongs to a layer above',
  ],
  [
    'an import of the public entry by a layer below',
    'src/engine/a.ts',
    '../index.ts',
    'index.ts belongs to a layer above',
  ],
  ['a file that belongs to no layer', 'src/helpers.ts', './base/a.ts', 'helpers.ts belongs to no layer'],
  ['a folder that belongs to no layer', 'src/engine/a.ts', '../misc/b.ts', 'misc belongs to no layer'],
  ['a Node module in a pure layer', 'src/orders/a.ts', 'node:fs', 'orders/ uses no package'],
  ['an unlisted package in a pure layer', 'src/engine/bots/a.ts', 'ws', 'engine/ uses only zod'],
  ['an import of the package by its name within src/', 'src/journal/a.ts', 'sluice', 'import the file'],
  ['an import of the sources by a strategy', 'strategies/a.ts', '../src/index.ts', "imports 'sluice'"],
  ['an import of an unlisted package by a strategy', 'strategies/a.ts', 'ws', 'strategies use only sluice'],
])('the rule about layers refuses %s', (_name, path, specifier, because) => {
  expect(rowRule([source(path, imports(specifier))])).toEqual([expect.stringContaining(because)])
})

test.each([
  ['src/engine/a.ts', imports('./b.ts', './exits/c.ts', '../market/d.ts', '../solana/e.ts', '../base/f.ts', 'zod')],
  ['src/venues/token-service/a.ts', imports('../http.ts', './wire/c.ts', '../../orders/d.ts', 'undici', 'node:fs')],
  ['src/live/isolation/a.ts', imports('../b.ts', '../../runtime/c.ts', '../../chain/rpc/d.ts', '../../base/e.ts')],
  ['src/commands/research/a.ts', imports('../options.ts', '../../backtest/run.ts', '../../live/b.ts')],
  ['src/main.ts', imports('./commands/parse.ts')],
  ['strategies/a.ts', imports('sluice', 'trading-signals', './shared/b.ts')],
])('the rule about layers allows the imports of %s', (path, text) => {
  expect(rowRule([source(path, text)])).toEqual([])
})

test.each([
  ['export', "export * from '../chain/b.ts'"],
  ['import()', "const load = () => import('../chain/b.ts')"],
  ['a type', "type B = import('../chain/b.ts').B"],
])('the rule about layers detects %s', (_name, text) => {
  expect(rowRule([source('src/journal/a.ts', text)])).toHaveLength(1)
})

test.each([
  [
    'a module that only the process may load',
    'src/desk/page/a.ts',
    "import { View } from '../../runtime/view/view.ts'",
    'import type',
  ],
  [
    'types of a folder that the page may not use',
    'src/desk/page/a.ts',
    "import type { Bot } from '../../engine/strategy.ts'",
    'imports only',
  ],
  ['a package of Node', 'src/desk/page/a.ts', imports('node:fs'), 'imports only'],
  ['the page, loaded by the process', 'src/desk/server.ts', imports('./page/app.ts'), 'runs in a browser'],
])("the rule about the page's imports refuses %s", (_name, path, text, because) => {
  expect(pageRule([source(path, text)])).toEqual([expect.stringContaining(because)])
})

test('the page may import itself, its libraries, pure modules, and types of the view', () => {
  const types = "import type { View } from '../../runtime/view/view.ts'"
  const text = `${imports('./b.ts', 'preact/hooks', '../../base/text.ts')}\n${types}`
  expect(pageRule([source('src/desk/page/a.ts', text), source('src/desk/page-files.ts', imports('node:fs'))])).toEqual(
    [],
  )
})

test('a cycle is reported as a path; a diamond is not a cycle', () => {
  const a = source('src/base/a.ts', imports('./b.ts', './c.ts'))
  const b = source('src/base/b.ts', imports('./c.ts'))
  expect(cycles([a, b, source('src/base/c.ts', '')])).toEqual([])
  expect(cycles([a, b, source('src/base/c.ts', imports('./a.ts'))])).toEqual([
    expect.stringContaining('src/base/a.ts -> src/base/b.ts -> src/base/c.ts -> src/base/a.ts'),
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
])('the bans find `%s`', (text) => {
  for (const row of ['base', 'solana', 'market', 'engine', 'orders'])
    expect(determinismBans([source(`src/${row}/a.ts`, text)])).not.toEqual([])
  expect(determinismBans([source('strategies/a.ts', text)])).not.toEqual([])
  expect(determinismBans([source('src/runtime/a.ts', text)])).toEqual([])
})

test.each([
  '// Date.now() is banned, setTimeout too',
  "const text = 'Date Math.random() await fetch'",
  'const a = record.process + record.crypto',
  'const a = { performance: 1 }; interface B { fetch: number }',
  'const a = Math.max(1, 2)',
])('the bans allow `%s`', (text) => {
  expect(determinismBans([source('src/engine/a.ts', text)])).toEqual([])
})

test('a pure module may name a promise as a type, but may not create one', () => {
  const port = 'export type Stop = () => Promise<void>'
  expect(determinismBans([source('src/base/machine.ts', port)])).toEqual([])
  expect(determinismBans([source('src/base/other.ts', port)])).toHaveLength(1)
  expect(determinismBans([source('src/base/machine.ts', 'const a = Promise.resolve()')])).toHaveLength(1)
})

test('a function may have 70 lines, not 71, and words that defer work are refused', () => {
  const lines = (count: number): string => `function f() {\n${'  a()\n'.repeat(count - 2)}}\n`
  expect(tooLong([source('src/base/a.ts', lines(70)), source('src/base/b.ts', lines(71))])).toEqual([
    expect.stringContaining('src/base/b.ts:1: f has 71 lines'),
  ])
  expect(leftForLater([source('src/base/a.ts', `\n// ${'TO'}DO: later`)])).toEqual([
    expect.stringContaining('src/base/a.ts:2'),
  ])
})
