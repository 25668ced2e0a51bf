import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const root = join(import.meta.dirname, '../..')
const inRoot = (path: string): string => JSON.stringify(join(root, path))

/** Returns a comment that makes the determinism check accept the use of `name`. */
const allow = (name: string): string => `// sluice: allow ${name}, because this test searches for it\n`

const CASES: [name: string, code: string, outside: string[]][] = [
  [
    'a strategy that imports no files',
    `import { defineStrategy } from 'sluice'\nimport 'zod'\nimport 'trading-signals'\nimport './pure.ts'`,
    [],
  ],
  ['a strategy that imports pure modules of Node', `import 'node:path'\nimport 'util'\nimport 'node:crypto'`, []],
  ['a strategy that imports node:fs', `${allow('node:fs')}import 'node:fs'`, ['STRATEGY imports node:fs']],
  ['a strategy whose local module imports files', `import './reader.ts'`, ['reader.ts imports fs/promises']],
  [
    'a strategy that imports node:fs while it runs',
    `${allow('import()')}await import('node:fs') // ${allow('await')}`,
    ['STRATEGY imports node:fs'],
  ],
  [
    'a strategy that requires node:fs',
    `${allow('node:module')}import { createRequire } from 'node:module'\ncreateRequire(import.meta.url)('fs')`,
    ['STRATEGY imports node:module', 'STRATEGY imports fs'],
  ],
  ['a package that reads no files', `import 'sums'`, []],
  ['a package that reads files', `import 'reads'`, ['node_modules/reads/deep.js imports node:fs']],
  [
    'a strategy that imports a data file',
    `import tape from './tape.json' with { type: 'json' }`,
    ['STRATEGY imports ./tape.json'],
  ],
  [
    'a package that Sluice has loaded',
    `import ${inRoot('node_modules/yaml/dist/index.js')}`,
    [`STRATEGY imports ${join(root, 'node_modules/yaml/dist/index.js')}`],
  ],
  ['a file of Sluice', `import ${inRoot('src/base/json.ts')}`, [`STRATEGY imports ${join(root, 'src/base/json.ts')}`]],
]

test('the search finds the imports, direct or indirect, through which a strategy can read more than its market', () => {
  folder.write('pure.ts', 'export const one = 1\n')
  folder.write('reader.ts', `${allow('fs/promises')}import 'fs/promises'\n`)
  folder.write('tape.json', '[1]')
  for (const [name, text] of [
    ['sums/index.js', 'export const sum = 1\n'],
    ['reads/index.js', `require('./deep.js')\n`],
    ['reads/deep.js', `require('node:fs')\n`],
  ] as const)
    folder.write(`node_modules/${name}`, text)
  folder.write('node_modules/sums/package.json', '{ "type": "module", "main": "index.js" }')
  folder.write('node_modules/reads/package.json', '{ "main": "index.js" }')
  const files = CASES.map(([, code], at) =>
    folder.write(
      `case${at}.ts`,
      `${code}\nimport { z } from 'zod'\nexport default { name: 'a', about: '', params: z.object({}), keys: ['trades'], start: () => ({}) }\n`,
    ),
  )
  const script = `import ${inRoot('src/config/load.ts')}
const { loadStrategy } = await import(${inRoot('src/config/strategies.ts')})
const { outsideImports } = await import(${inRoot('src/config/strategy-modules.ts')})
const found = []
for (const file of ${JSON.stringify(files)}) found.push(outsideImports((await loadStrategy(file)).file))
process.stdout.write(JSON.stringify(found))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder.path,
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  const found = JSON.parse(stdout) as string[][]
  for (const [at, [name, , outside]] of CASES.entries()) {
    const shown = found[at]?.map((one) => one.replace(files[at] as string, 'STRATEGY').replace(`${folder.path}/`, ''))
    expect(shown, name).toEqual(outside)
  }
})
