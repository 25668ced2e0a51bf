import { afterEach, expect, test, vi } from 'vitest'
import { type Causality, verifyCausality } from '../../src/backtest/causality.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Engine } from '../../src/engine/engine.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { Block } from '../../src/market/block.ts'
import { PaperMarket } from '../../src/simulation/paper-market.ts'
import { journalPath } from '../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const AHEAD = 300
const SEED = 11
const folder = temporaryFolder()
const seen = globalThis as { block?: Block; row?: number; played?: number }

afterEach(() => vi.restoreAllMocks())

async function verify(bot: object): Promise<Causality> {
  const path = journalPath()
  await writeTape(path, [
    { time: T0, items: noisyMarket(4_000, 3, T0) },
    { time: T0 + 500_000, items: noisyMarket(2_000, 4, T0 + 500_000) },
  ])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const exits = { stopLossPercent: 20, trailingPercent: 15, maxHoldSeconds: 100 }
  const loaded = await loadConfig([
    folder.write('causal.yaml', JSON.stringify({ service, bots: [{ name: 'bot', exits, ...bot }] })),
  ])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  try {
    return verifyCausality(loaded.config, reader.market(), SEED)
  } finally {
    reader.close()
  }
}

function strategy(name: string, onTrade: string): { strategy: string } {
  const text = `import { defineStrategy, z } from 'sluice'
let calls = 0
export default defineStrategy({ name: '${name}', about: '', params: z.object({}), keys: ['trades'],
  start: (_params, bot) => ({ onTrade(trade, token) { ${onTrade} } }) })
`
  return { strategy: folder.write(`${name}.ts`, text) }
}

const dips = { strategy: 'dip-buyer', params: { dropPercent: 10, sizeSol: 0.05 } }

test('causal decisions are the same with and without the tape after the cut', async () => {
  const { cuts, compared, divergence } = await verify(dips)
  expect(divergence).toBeNull()
  expect(cuts).toHaveLength(5)
  for (const cut of cuts) expect(cut).toBeLessThan(6_000)
  expect(compared).toBeGreaterThan(500)
})

test('a strategy that reads later rows is detected, with its first different decision', async () => {
  const { rows } = Engine.prototype
  vi.spyOn(Engine.prototype, 'rows').mockImplementation(function (this: Engine, firstSeq, block, from, to) {
    Object.assign(seen, { block, row: from })
    return rows.call(this, firstSeq, block, from, to)
  })
  const peeking = strategy(
    'peeking',
    `const row = globalThis.row++
    const later = globalThis.block.price[row + ${AHEAD}]
    if (row % 10 === 0 && later > trade.price) bot.note(trade.mint, 'it will rise to ' + later)`,
  )
  const { divergence } = await verify(peeking)
  expect(divergence?.whole?.text).toContain('it will rise to')
  expect(divergence?.cutOff?.text ?? '').not.toBe(divergence?.whole?.text)
})

test('a fill at later prices is detected', async () => {
  const { observe } = PaperMarket.prototype
  const folded = new WeakMap<PaperMarket, { block: Block; to: number }>()
  vi.spyOn(PaperMarket.prototype, 'observe').mockImplementation(function (this: PaperMarket, block, _from, to) {
    const before = folded.get(this)
    const start = before?.block === block ? before.to : 0
    const end = Math.min(block.length, to + AHEAD)
    folded.set(this, { block, to: end })
    if (start < end) observe.call(this, block, start, end)
  })
  const { divergence } = await verify(dips)
  expect(`${divergence?.whole?.text} ${divergence?.cutOff?.text}`).toMatch(/"orderId":/)
})

test('a strategy that remembers an earlier run is detected', async () => {
  const remembering = strategy('remembering', `if (++calls % 1000 === 0) bot.note(trade.mint, 'call ' + calls)`)
  const { divergence } = await verify(remembering)
  expect(divergence?.cutOff?.text).toMatch(/call \d+/)
})
