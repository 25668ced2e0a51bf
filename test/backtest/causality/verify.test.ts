import { afterEach, expect, test, vi } from 'vitest'
import { type Causality, verifyCausality } from '../../../src/backtest/causality/verify.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { Engine } from '../../../src/engine/engine.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import type { Block } from '../../../src/market/block.ts'
import { PaperMarket } from '../../../src/simulation/paper-market.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../../support/recorded-tape.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const ROWS = 1_200
const SEED = 11
const folder = temporaryFolder()

afterEach(() => vi.restoreAllMocks())

let progress = { done: 0, of: 0 }

async function verify(bot: object, rows = ROWS): Promise<Causality> {
  const path = journalPath()
  await writeTape(path, [
    { time: T0, items: noisyMarket(rows - 200, 3, T0) },
    { time: T0 + 500_000, items: noisyMarket(200, 4, T0 + 500_000) },
  ])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const exits = { stopLossPercent: 20, trailingPercent: 15, maxHoldSeconds: 100 }
  const loaded = await loadConfig([
    folder.write('causal.yaml', JSON.stringify({ service, bots: [{ name: 'bot', exits, ...bot }] })),
  ])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  try {
    return await verifyCausality(loaded.config, reader.market(), SEED, (done, of) => (progress = { done, of }))
  } finally {
    reader.close()
  }
}

function strategy(name: string, onTrade: string): { strategy: string } {
  const text = `import { defineStrategy, z } from 'sluice'
let calls = 0
const prices = new Map()
export default defineStrategy({ name: '${name}', about: '', params: z.object({}), keys: ['trades'],
  start: (_params, bot) => ({ onTrade(trade, token) { ${onTrade} } }) })
`
  return { strategy: folder.write(`${name}.ts`, text) }
}

const dips = { strategy: 'dip-buyer', params: { dropPercent: 10, sizeSol: 0.05 } }

test('decisions that use no later row stay the same if the later rows are removed or replaced', async () => {
  const { cuts, compared, divergence, outside } = await verify(dips)
  expect({ divergence, outside }).toEqual({ divergence: null, outside: [] })
  expect(cuts).toHaveLength(100)
  for (const cut of cuts) expect(cut).toBeLessThan(ROWS)
  expect(compared).toBeGreaterThan(1_000)
  const cutRows = cuts.reduce((sum, cut) => sum + cut, 0)
  expect(progress).toEqual({ done: 5 * ROWS + cutRows, of: 5 * ROWS + cutRows })
})

/** A strategy that decides only when a bar closes, with bars of each kind. */
const BARRED = `import { atr, defineStrategy, ema, z } from 'sluice'
export default defineStrategy({ name: 'barred', about: '', params: z.object({ fast: z.number().default(3) }), keys: ['trades'],
  bars: { '5s': 20, '7 trades': 10, '1 SOL': 10 },
  indicators: ({ fast }) => ({ fast: ema('5s', fast), range: atr('7 trades', 3) }),
  start: (_params, bot) => ({ onBar(bar, token) {
    const { fast, range } = token.indicators
    bot.note(token.mint, [bar.width, bar.closeTime, bar.close, bar.trades, fast, range, token.bars('1 SOL').length].join(' '))
    if (bar.width === '5s' && fast !== undefined && bar.close < fast && !token.position)
      bot.buy(token, { sol: 0.05, reason: 'below the average' })
  } }) })
`

test('the decisions of a strategy on time, tick and volume bars are causal', async () => {
  const { compared, divergence, outside } = await verify({ strategy: folder.write('barred.ts', BARRED) })
  expect({ divergence, outside }).toEqual({ divergence: null, outside: [] })
  expect(compared).toBeGreaterThan(1_000)
})

const ahead = 'globalThis.leaked.block.price[globalThis.leaked.row + 1]'

test.each([
  ['choose entries', `const later = ${ahead}; if (later > trade.price * 1.2) bot.note(trade.mint, 'it will rise')`],
  ['avoid entries', `const later = ${ahead}; if (!(later < trade.price)) bot.note(trade.mint, 'it will not fall')`],
  [
    'change one decision out of a hundred',
    `const later = ${ahead}; if (++calls % 10 === 0) bot.note(trade.mint, calls % 100 === 0 && later > trade.price ? 'up' : '-')`,
  ],
])('the check detects a strategy that uses the price of the next row to %s', async (name, onTrade) => {
  const { rows } = Engine.prototype
  vi.spyOn(Engine.prototype, 'rows').mockImplementation(function (this: Engine, firstSeq, block, from, to) {
    Object.assign(globalThis, { leaked: { block, row: from } })
    return rows.call(this, firstSeq, block, from, to)
  })
  const { divergence } = await verify(strategy(name.replaceAll(' ', '-'), onTrade), 600)
  expect(divergence?.cause).toBe('future')
  expect(divergence?.cutOff?.text ?? '').not.toBe(divergence?.whole?.text)
})

test('the check detects a fill at later prices', async () => {
  const { observe } = PaperMarket.prototype
  const folded = new WeakMap<PaperMarket, { block: Block; to: number }>()
  vi.spyOn(PaperMarket.prototype, 'observe').mockImplementation(function (this: PaperMarket, block, _from, to) {
    const before = folded.get(this)
    const start = before?.block === block ? before.to : 0
    const end = Math.min(block.length, to + 1)
    folded.set(this, { block, to: end })
    if (start < end) observe.call(this, block, start, end)
  })
  const { divergence } = await verify(dips)
  expect(divergence?.cause).toBe('future')
  expect(`${divergence?.whole?.text} ${divergence?.cutOff?.text}`).toMatch(/"orderId":/)
})

test.each([
  ['counting', `if (++calls % 200 === 0) bot.note(trade.mint, 'call ' + calls)`, 'call'],
  [
    'remembering',
    `const known = prices.get(trade.mint); prices.set(trade.mint, trade.price)
     if (known > trade.price * 2) bot.note(trade.mint, 'it was higher: ' + known)`,
    'it was higher',
  ],
])(
  'a strategy that keeps data of an earlier run (by %s) is detected at each verification',
  async (name, onTrade, text) => {
    const bot = strategy(name, onTrade)
    for (let time = 0; time < 2; time++) {
      const { divergence } = await verify(bot, 600)
      expect(divergence?.cause).toBe('memory')
      expect(`${divergence?.cutOff?.text} ${divergence?.whole?.text}`).toContain(text)
    }
  },
)

test('a strategy that loads an impure module at run time is reported with its line; a pure module is not reported', async () => {
  const get = (name: string) =>
    `if (calls++ === 0) process.getBuiltinModule('${name}') // sluice: allow process, because this test needs an impure call\n`
  const found = await verify(strategy('fetching', get('node:fs')), 300)
  expect(found.outside).toEqual([
    expect.stringMatching(/fetching\.ts:\d+:\d+ calls process\.getBuiltinModule\('node:fs'\)$/),
  ])
  const pure = await verify(strategy('pure', get('node:util')), 300)
  expect(pure.outside).toEqual([])
})
