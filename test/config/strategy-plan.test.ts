import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadStrategy, parseParams } from '../../src/config/strategies.ts'
import { planProblem } from '../../src/config/strategy-plan.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const { path: cwd } = folder
const zod = JSON.stringify(join(import.meta.dirname, '../../node_modules/zod/index.js'))
const sluice = JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))
let count = 0

/** Returns the error message about a strategy with these bars and indicators, without the name of its file. */
async function problem(declared: string): Promise<string | undefined> {
  const name = `s${count++}.ts`
  const text = `import { z } from ${zod}
import { above, all, bollinger, crosses, figure, not, times } from ${sluice}
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
    `FILE:11:20: bars['1min']: '1min' is not a width of a bar; expected ${WIDTHS}; did you mean '1m'?`,
  ],
  [`bars: { '1m': 2.5 }`, `FILE:11:11: bars['1m']: expected a whole number of bars to keep, 1 to 10000, found 2.5`],
  [`bars: { '1m': '9' }`, `FILE:11:11: bars['1m']: expected a whole number of bars to keep, 1 to 10000, found 9`],
  [`bars: { '1m': 0 }`, `FILE:11:11: bars['1m']: expected a whole number of bars to keep, 1 to 10000, found 0`],
  [
    `bars: { '1m': { keep: 5, silent: 'gaps' } }`,
    `FILE:11:28: bars['1m'].silent: expected fill or gap, found gaps; did you mean gap?`,
  ],
  [`bars: { '1m': { keeps: 5, keep: 5 } }`, `FILE:11:19: bars['1m'].keeps: unknown key; did you mean keep?`],
  [
    `bars: { '1m': 9 },\n  indicators: () => ({ slow: over('5m') })`,
    `FILE:12:24: indicators.slow: the indicator needs '5m' bars, which \`bars\` does not declare (it declares '1m'); did you mean 1m?`,
  ],
  [
    `indicators: () => ({ slow: over('1m') })`,
    "FILE:11:24: indicators.slow: the indicator needs '1m' bars, which `bars` does not declare (it declares none)",
  ],
  [
    `bars: { '1m': 9 }, indicators: () => ({ slow: over('1 hour') })`,
    `FILE:11:43: indicators.slow: '1 hour' is not a width of a bar; expected ${WIDTHS}; did you mean '1h'?`,
  ],
  [
    `bars: { '1m': 9 }, indicators: () => ({ slow: 5 })`,
    'FILE:11:43: indicators.slow: expected an indicator: an object with `width` and `create`',
  ],
  [`bars: { '1m': 9 }, indicators: () => ({ slow: window(0) })`, 'FILE:5:26: RangeError: expected bars'],
  [
    `bars: (params) => ({ '1m': params.keep / 2, ['2' + 'mn']: 1 })`,
    `FILE:11:24: bars['1m']: expected a whole number of bars to keep, 1 to 10000, found 1.5; FILE:11:3: bars['2mn']: '2mn' is not a width of a bar; expected ${WIDTHS}; did you mean '2m'?`,
  ],
])('the declaration is accepted or refused with its place: %s', async (declared, expected) => {
  expect(await problem(declared)).toBe(expected)
})

const OVER = `bars: { '1m': 9 },
  indicators: () => ({ fast: over('1m'), slow: over('1m'), bands: bollinger('1m', 20) }),
  `

test.each<[string, string | undefined]>([
  ['when: ({ fast, slow }) => crosses(fast, slow)', undefined],
  [
    "when: ({ bands, fast }) => ({ in: above(bands.lower, fast.any), out: above(figure('1m', 'trades'), 3) })",
    undefined,
  ],
  [
    'when: ({ fsat, slow }) => crosses(fsat, slow)',
    "FILE:13:3: when: unknown indicator 'fsat'; expected fast, slow, bands; did you mean fast?",
  ],
  [
    'when: ({ bands }) => above(bands.uper, 1)',
    "FILE:13:3: when: unknown value of the indicator bands 'uper'; expected lower, middle, upper; did you mean upper?",
  ],
  [
    'when: ({ bands }) => above(bands, 1)',
    'FILE:13:24: TypeError: above: expected an indicator, a figure of a bar or a number, got an object with lower, middle, upper',
  ],
  [
    'when: ({ fast, slow }) => ({ entry: crosses(fast, slow), exit: true })',
    'FILE:13:60: when.exit: expected a condition such as crosses(fast, slow), got true',
  ],
  [
    'when: () => undefined',
    'FILE:13:3: when: expected a condition such as crosses(fast, slow), or conditions by name, got undefined',
  ],
  [
    'when: () => ({})',
    'FILE:13:3: when: expected a condition such as crosses(fast, slow), or conditions by name, got an object',
  ],
  [
    'when: ({ fast }) => fast',
    'FILE:13:3: when: expected a condition such as crosses(fast, slow), or conditions by name, got an operand such as an indicator',
  ],
  [
    'when: ({ fast, slow }) => fast > slow',
    'FILE:13:34: TypeError: an operand of `when` has no value of its own: write above(a, b) for a > b, times(a, 2) for a * 2, all(a, b) for a && b',
  ],
  [
    'when: ({ bands }) => bands > 2',
    'FILE:13:30: TypeError: an operand of `when` has no value of its own: write above(a, b) for a > b, times(a, 2) for a * 2, all(a, b) for a && b',
  ],
  [
    'when: ({ fast, slow, bands }) => above(fast, slow) && not(above(times(slow, 2), bands.upper))',
    'FILE:13:3: when: above(fast, slow) is created but not returned; combine conditions with all(), any() and not(), and not with && or ||',
  ],
  [
    "when: ({ fast }) => above(fast, figure('5m'))",
    "FILE:13:3: when: the condition reads '5m' bars, which `bars` does not declare; did you mean 1m?",
  ],
  [
    "when: () => above(figure('1m', 'closes'), 1)",
    'FILE:13:21: RangeError: figure: expected a figure of a bar (open, high, low, close, volumeSol, buys, sells, trades), got closes',
  ],
  ['when: () => above(2, 1)', 'FILE:13:3: when: the condition reads neither an indicator nor a figure of a bar'],
  ['when: ({ fast }) => all()', 'FILE:13:23: TypeError: all: expected at least one condition'],
  [
    'when: ({ fast }) => all(fast)',
    'FILE:13:23: TypeError: all: expected a condition such as above(fast, slow), got an operand such as an indicator',
  ],
])('the condition is accepted or refused with its place: %s', async (when, expected) => {
  expect(await problem(`${OVER}${when}`)).toBe(expected)
})

test('a strategy whose `bars` is not an object is refused when the file is loaded', async () => {
  await expect(problem('bars: 5')).rejects.toThrow(/bars: expected widths with the number of bars to keep/)
})
