import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { loadStrategy, parseParams } from '../../src/config/strategies.ts'
import { stackReader, thrownText } from '../../src/config/strategy-trace.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const CWD = '/home/ann/bots'
const read = stackReader(CWD)
const own = (file: string, name = ''): string => frame(`${CWD}/${file}`, name)
const sluice = (file: string, name = ''): string => frame(join(ROOT, 'src', file), name)

function frame(path: string, name: string): string {
  const place = `${pathToFileURL(path).href}:12:5`
  return name === '' ? `    at ${place}` : `    at ${name} (${place})`
}

test.each<[what: string, frames: string[], place: string | undefined, stack: string[]]>([
  ['an empty stack has no place', [], undefined, []],
  [
    'a stack with only frames of Node has no place',
    ['    at node:internal/process:1:2', '    at JSON.parse (<anonymous>)'],
    undefined,
    [],
  ],
  [
    'the place of an error is in the innermost file of the strategy; frames of Sluice and Node are left out',
    [
      own('strategies/lib/a b.ts', 'pick'),
      '    at Array.map (<anonymous>)',
      own('strategies/dips.ts', 'onTrade'),
      sluice('engine/bots/strategy-runner.ts', 'Trader.row'),
    ],
    'strategies/lib/a b.ts:12:5',
    ['pick (strategies/lib/a b.ts:12:5)', 'onTrade (strategies/dips.ts:12:5)'],
  ],
  [
    'the place of an error is not in a function of Sluice that the strategy called',
    [
      sluice('engine/requests.ts', 'readTimer'),
      sluice('engine/bots/bot.ts', 'BotHandle.every'),
      own('strategies/dips.ts', 'start'),
    ],
    'strategies/dips.ts:12:5',
    ['start (strategies/dips.ts:12:5)'],
  ],
  [
    'an error inside a library has the place at which the strategy called the library',
    [own('node_modules/averages/index.js', 'EMA.add'), own('strategies/dips.ts')],
    'strategies/dips.ts:12:5',
    ['EMA.add (node_modules/averages/index.js:12:5)', 'strategies/dips.ts:12:5'],
  ],
  [
    'an error in a strategy that is a library has its place in this library',
    [own('node_modules/dips/index.js')],
    'node_modules/dips/index.js:12:5',
    ['node_modules/dips/index.js:12:5'],
  ],
  [
    'the place of an error is not in the code that called the engine',
    [
      sluice('engine/bots/strategy-runner.ts', 'refusePromise'),
      sluice('testing/strategy-rig.ts', '#row'),
      own('strategies/dips.test.ts'),
    ],
    undefined,
    [],
  ],
  [
    'the place of an error outside of the working directory has its whole path',
    [frame('/opt/shared/dips.ts', 'f')],
    '/opt/shared/dips.ts:12:5',
    ['f (/opt/shared/dips.ts:12:5)'],
  ],
  [
    'a folder whose name only begins like the working directory is outside of it',
    [frame(`${CWD}-old/dips.ts`, '')],
    `${CWD}-old/dips.ts:12:5`,
    [`${CWD}-old/dips.ts:12:5`],
  ],
  [
    'a frame may have a path in place of a URL',
    [`    at async onTrade (${CWD}/dips.ts?v=1:3:4)`],
    'dips.ts?v=1:3:4',
    ['onTrade (dips.ts?v=1:3:4)'],
  ],
  [
    'an error in evaluated code has no place',
    ['    at eval (eval at f (file:///x.ts:1:1), <anonymous>:1:7)'],
    undefined,
    [],
  ],
  [
    'an error in a shipped strategy has the whole path',
    [frame(join(ROOT, 'strategies/dip-buyer.ts'), '')],
    `${ROOT}/strategies/dip-buyer.ts:12:5`,
    [`${ROOT}/strategies/dip-buyer.ts:12:5`],
  ],
])('%s', (_what, frames, place, stack) => {
  expect(read(frames.join('\n'))).toEqual(place === undefined ? undefined : { place, stack })
})

test('only the first five frames of a long stack are shown', () => {
  const deep = Array.from({ length: 100 }, () => own('strategies/dips.ts', 'again'))
  expect(read(deep.join('\n'))?.stack).toHaveLength(5)
})

test('an error that a schema throws is reported with its line in the TypeScript file', async () => {
  const folder = temporaryFolder()
  const zod = JSON.stringify(join(ROOT, 'node_modules/zod/index.js'))
  folder.write(
    'odd.ts',
    `import { z } from ${zod}
interface Erased {
  readonly gone: string
}

const check = (size: number): boolean => {
  throw new RangeError(\`no \${(size as unknown as Erased).gone}\`)
}
export default { name: 'odd', about: '', params: z.object({ size: z.number().refine(check) }), keys: ['trades'], start: () => ({}) }
`,
  )
  const { strategy } = await loadStrategy('./odd.ts', folder.path)
  expect(() => parseParams(strategy, { size: 1 })).toThrow(
    expect.toSatisfy((error: unknown) => thrownText(error, folder.path) === 'odd.ts:7:9: RangeError: no undefined'),
  )
})
