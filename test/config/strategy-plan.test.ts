import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadStrategy, parseParams } from '../../src/config/strategies.ts'
import { planProblem } from '../../src/config/strategy-plan.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const { path: cwd } = folder
const zod = JSON.stringify(join(import.meta.dirname, '../../node_modules/zod/index.js'))
let count = 0

/** Problem of a strategy that declares these bars and indicators, without the name of its file. */
async function problem(declared: string): Promise<string | undefined> {
  const name = `s${count++}.ts`
  const text = `import { z } from ${zod}
const over = (width) => ({ width, create: () => ({ add() {}, value: 1 }) })
const window = (bars) => {
  if (!(bars > 0)) throw new RangeError('expected bars')
  return over('1m')
}
export default {
  name: 'own', about: '', keys: ['trades'], start: () => ({}),
  params: z.object({ keep: z.number().default(3) }),
  ${declared},
}
`
  folder.write(name, text)
  const loaded = await loadStrategy(`./${name}`, cwd)
  const params = parseParams(loaded.strategy, {})
  return planProblem(loaded, params.ok ? params.value : {}, cwd)?.replaceAll(name, 'FILE')
}

const WIDTHS =
  'a time from 1s to 1d such as 15s, 1m or 4h, a number of trades such as 500 trades, or a volume such as 20 SOL'

test.each<[string, string | undefined]>([
  [`bars: { '1m': 200, '15s': { keep: 9, silent: 'gap' }, '5 trades': 1, '2 SOL': 1 }`, undefined],
  [`bars: (params) => ({ '1m': params.keep }), indicators: () => ({ fast: over('1m') })`, undefined],
  [
    `bars: { '1m': 9, '1min': 9 }`,
    `FILE:10:20: bars['1min']: '1min' is no width of a bar; expected ${WIDTHS}; did you mean '1m'?`,
  ],
  [`bars: { '1m': 2.5 }`, `FILE:10:11: bars['1m']: expected a whole number of bars to keep, 1 to 10000, found 2.5`],
  [`bars: { '1m': '9' }`, `FILE:10:11: bars['1m']: expected a whole number of bars to keep, 1 to 10000, found 9`],
  [`bars: { '1m': 0 }`, `FILE:10:11: bars['1m']: expected a whole number of bars to keep, 1 to 10000, found 0`],
  [
    `bars: { '1m': { keep: 5, silent: 'gaps' } }`,
    `FILE:10:28: bars['1m'].silent: expected fill or gap, found gaps; did you mean gap?`,
  ],
  [`bars: { '1m': { keeps: 5, keep: 5 } }`, `FILE:10:19: bars['1m'].keeps: unknown key; did you mean keep?`],
  [
    `bars: { '1m': 9 },\n  indicators: () => ({ slow: over('5m') })`,
    `FILE:11:24: indicators.slow: it needs '5m' bars, which \`bars\` does not declare (it declares '1m'); did you mean 1m?`,
  ],
  [
    `indicators: () => ({ slow: over('1m') })`,
    "FILE:10:24: indicators.slow: it needs '1m' bars, which `bars` does not declare (it declares none)",
  ],
  [
    `bars: { '1m': 9 }, indicators: () => ({ slow: over('1 hour') })`,
    `FILE:10:43: indicators.slow: '1 hour' is no width of a bar; expected ${WIDTHS}; did you mean '1h'?`,
  ],
  [
    `bars: { '1m': 9 }, indicators: () => ({ slow: 5 })`,
    'FILE:10:43: indicators.slow: expected an indicator: an object with `width` and `create`',
  ],
  [`bars: { '1m': 9 }, indicators: () => ({ slow: window(0) })`, 'FILE:4:26: RangeError: expected bars'],
  [
    `bars: (params) => ({ '1m': params.keep / 2, ['2' + 'mn']: 1 })`,
    `FILE:10:24: bars['1m']: expected a whole number of bars to keep, 1 to 10000, found 1.5; FILE:10:3: bars['2mn']: '2mn' is no width of a bar; expected ${WIDTHS}; did you mean '2m'?`,
  ],
])('a strategy with %s', async (declared, expected) => {
  expect(await problem(declared)).toBe(expected)
})

test('bars that are no object are refused when the file is loaded', async () => {
  await expect(problem('bars: 5')).rejects.toThrow(/bars: expected widths with the number of bars to keep/)
})
