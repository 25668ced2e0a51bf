import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeHash } from '../../src/config/hashes.ts'
import { loadStrategy } from '../../src/config/strategies.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const { path: cwd } = folder
const root = join(import.meta.dirname, '../..')

/**
 * Returns the text of a strategy file without imports, because vitest resolves `sluice` by an alias. A test below
 * imports `sluice` from a separate process.
 */
function strategy(changes: string, kept = ['name', 'about', 'params', 'keys', 'start']): string {
  const parts: Record<string, string> = {
    name: `name: 'own'`,
    about: `about: 'For a test.'`,
    params: 'params: z.object({ size: z.number() })',
    keys: `keys: ['trades']`,
    start: 'start: () => ({})',
  }
  const zod = JSON.stringify(join(root, 'node_modules/zod/index.js'))
  return `import { z } from ${zod}\nexport default { ${[...kept.map((key) => parts[key]), changes].join(', ')} }\n`
}

let count = 0
async function problem(text: string): Promise<string> {
  const name = `s${count++}.ts` // a module is cached by its name
  const file = folder.write(name, text)
  try {
    await loadStrategy(`./${name}`, cwd)
    return 'none'
  } catch (error) {
    return (error as Error).message
      .replace(`the strategy ${file} cannot be used: `, '')
      .replaceAll(cwd, '.')
      .replaceAll(name, 'FILE')
  }
}

const without = (key: string) => ['name', 'about', 'params', 'keys', 'start'].filter((other) => other !== key)

test.each<[string, string, string]>([
  ['a strategy with the required keys', strategy(''), 'none'],
  ['a strategy with all keys', strategy('warmup: 60, exits: { stopLossPercent: 5 }, token: () => 0'), 'none'],
  [
    'a file without a default export',
    'export const a = 1\n',
    'no default export; write: export default defineStrategy({ ... })',
  ],
  ['a file that exports a function', 'export default () => 1\n', 'expected a map, found () => 1'],
  ['a strategy without a name', strategy('', without('name')), 'name: missing; expected text'],
  ['a strategy without params', strategy('', without('params')), 'params: expected z.object({ ... })'],
  [
    'params that are not a schema',
    strategy('params: { size: 1 }', without('params')),
    'params: expected z.object({ ... })',
  ],
  [
    'params that are a schema of a number',
    strategy('params: z.number()', without('params')),
    'params: expected z.object({ ... })',
  ],
  ['a strategy without `start`', strategy('', without('start')), 'start: expected the function start(params, bot)'],
  [
    'a strategy with an empty list of keys',
    strategy('keys: []', without('keys')),
    'keys: expected at least 1 entry, found an empty list',
  ],
  [
    'a misspelt key',
    strategy(`keys: ['trade']`, without('keys')),
    'keys[0]: expected trades, newTokens, priceUpdates or a mint; did you mean trades?',
  ],
  [
    'a strategy with a mint as a key',
    strategy(`keys: ['So11111111111111111111111111111111111111112']`, without('keys')),
    'none',
  ],
  [
    'a handler outside of `start`',
    strategy('onTrade() {}'),
    'onTrade: unknown key; expected one of name, about, params, keys, warmup, exits, bars, indicators, when, sources, token, start',
  ],
  ['a misspelt key `warmup`', strategy('warmUp: 5'), 'warmUp: unknown key; did you mean warmup?'],
  [
    'an exit whose percentage is outside of its range',
    strategy('exits: { stopLossPercent: 120 }'),
    'exits.stopLossPercent: expected at least 0.01 and less than 100 percent, found 120',
  ],
  [
    'two things',
    strategy('warmup: -1, a: 1'),
    'warmup: expected at least 0 and at most 86400, found -1; a: unknown key; expected one of name, about, params, keys, warmup, exits, bars, indicators, when, sources, token, start',
  ],
  [
    'a file that throws',
    `const one: number = 1\nthrow new TypeError('no\\n\\tluck')\n`,
    'FILE:2:7: TypeError: no luck',
  ],
  ['a file that throws text', `throw 'no luck'\n`, 'no luck'],
  [
    'a file that throws a value without text',
    `throw { get message() { throw 1 }, get code() { throw 2 }, toString() { throw 3 } }\n`,
    'the strategy threw a value that cannot be printed',
  ],
  [
    'a missing package',
    `import 'sluice-nothing'\nexport default {}\n`,
    expect.stringContaining('sluice-nothing') as unknown as string,
  ],
])('loading a strategy file reports the expected error or none: %s', async (_what, text, message) => {
  expect(await problem(text)).toEqual(message)
})

test.each([
  ['defineProperty', `Object.defineProperty(token, 'state', { get: () => 1 })`],
  ['defineProperty on several lines', `Reflect.defineProperty(\n token,\n "state", {\n get() { return 1 } })`],
  ['__defineGetter__', `token.__defineGetter__('state', () => 1)`],
  ['defineProperties', `Object.defineProperties(token, { mint: {}, state: { get() { return 1 } } })`],
])('a strategy that replaces the state of a token by a getter is refused with the line: %s', async (_what, code) => {
  const text = strategy(`start: () => ({ onTrade(_trade, token) {\n ${code} } })`, without('start'))
  expect(await problem(text)).toMatch(/FILE:3: defines `state` of a token as a property of its own; return the state/)
})

test.each([
  ['a property of another name', `Object.defineProperty({}, 'size', { value: 1 }); token.state = 'state'`],
  ['a state with a getter of its own', `token.state = { get size() { return 1 }, state: 2 }`],
])('%s does not count as a getter for the state of a token', async (_what, code) => {
  const text = strategy(`start: () => ({ onTrade(_trade, token) { ${code} } })`, without('start'))
  expect(await problem(text)).toBe('none')
})

test('Sluice looks for a strategy by its name in the working directory, then in its own package', async () => {
  folder.write('strategies/own.ts', strategy(''))
  folder.write('strategies/momentum.ts', strategy(''))
  expect(await loadStrategy('own', cwd)).toMatchObject({ name: 'own', file: join(cwd, 'strategies/own.ts') })
  expect((await loadStrategy('momentum', cwd)).strategy.about).toBe('For a test.')
  expect((await loadStrategy('dip-buyer', cwd)).file).toBe(join(root, 'strategies/dip-buyer.ts'))
})

test('the code hash of a strategy depends on the content of its files, not on their folder', () => {
  const files = (from: string, size: string) => {
    folder.write(`${from}/part.ts`, `export const size = ${size}\n`)
    return [
      { name: 'a', file: folder.write(`${from}/a.ts`, `import { size } from './part.ts'\nexport default size\n`) },
    ]
  }
  const before = codeHash(files('here', '1'))
  expect(before).toMatch(/^[0-9a-f]{64}$/)
  expect(codeHash(files('there', '1'))).toBe(before)
  expect(codeHash(files('here', '2'))).not.toBe(before)
  expect(codeHash([])).not.toBe(before)
})

test('a file outside the repository can import sluice, zod and trading-signals under any package.json', () => {
  folder.write('package.json', '{ "type": "commonjs" }')
  folder.write('mine/size.ts', 'export const size: number = 0.25\n')
  folder.write(
    'mine/averages.ts',
    `import { defineStrategy, type Token, z } from 'sluice'
import { EMA } from 'trading-signals'
import * as zod from 'zod'
import { size } from './size.ts'

export default defineStrategy({
  name: 'averages',
  about: 'For a test.',
  params: z.object({ sizeSol: zod.number().default(size), period: z.number().default(new EMA(5).interval) }),
  keys: ['trades'],
  start: () => ({ onTrade(_trade, _token: Token) {} }),
})
`,
  )
  folder.write('own.yaml', 'service: sandbox\nbots: [{ name: a, strategy: ./mine/averages.ts }]\n')
  const bin = join(root, 'bin/sluice.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'check', 'own.yaml', '--json'], {
    cwd,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout).bots).toMatchObject([
    { strategy: './mine/averages.ts', params: { sizeSol: 0.25, period: 5 } },
  ])
})

test('its import of sluice resolves to this package', () => {
  folder.write(
    'same.ts',
    `import { defineStrategy, z } from 'sluice'
export default { name: 'same', about: '', params: z.object({}), keys: ['trades'], start: defineStrategy }
`,
  )
  const source = (path: string) => JSON.stringify(join(root, path))
  const script = `const { loadStrategy } = await import(${source('src/config/strategies.ts')})
const { defineStrategy } = await import(${source('src/index.ts')})
process.stdout.write(String((await loadStrategy('./same.ts')).strategy.start === defineStrategy))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd, encoding: 'utf8' })
  expect(stdout).toBe('true')
})
