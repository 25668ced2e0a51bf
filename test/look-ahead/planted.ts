import { Engine } from '../../src/engine/engine.ts'
import type { Block } from '../../src/market/block.ts'

/**
 * A kind of strategy with look-ahead. `source` returns the code of a strategy of this kind; the seed determines its
 * details.
 */
export interface Planted {
  readonly name: string
  source(seed: number, tape: TapeFiles): string
}

/** The tape in files that a strategy could read. */
export interface TapeFiles {
  readonly ndjson: string
  readonly json: string
  readonly journal: string
}

/**
 * Ways in which a strategy uses a price that it knows too early: it chooses entries, avoids losing tokens, sells before
 * a fall, or only calls `bot.note`.
 */
const USES = [
  `if (later > trade.price * 1.01 && !token.position) bot.buy(token, { sol: 0.05, reason: 'it will rise' })`,
  `token.state.falls = trade.price < token.state.high * 0.9
   token.state.high = Math.max(token.state.high, trade.price)
   if (token.state.falls && !(later < trade.price) && !token.position) bot.buy(token, { sol: 0.05, reason: 'a dip that ends' })`,
  `if (!token.position && calls % 50 === 0) bot.buy(token, { sol: 0.05, reason: 'every fiftieth print' })
   if (token.position?.state === 'open' && later < trade.price) bot.sell(token, { all: true, reason: 'it will fall' })`,
  `if (calls % 10 === 0 && later > trade.price) bot.note(trade.mint, 'it will rise')`,
]

/**
 * Returns the source of a strategy. `before` is code of the module; `later` is the body of the function that returns
 * the later price.
 */
function strategy(name: string, seed: number, before: string, later: string): string {
  return `import { defineStrategy, z } from 'sluice'
${before}
let calls = 0
function laterOf(trade, calls) { ${later} }
export default defineStrategy({ name: '${name}-${seed}', about: '', params: z.object({}), keys: ['trades'],
  token: () => ({ high: 0, falls: false }),
  start: (_params, bot) => {
    calls = 0
    return { onTrade(trade, token) {
      calls++
      const later = laterOf(trade, calls)
      ${USES[seed % USES.length]}
    } }
  } })
`
}

const leak = globalThis as { leaked?: { block: Block; row: number } }

/** Adds a defect to the engine: every strategy can read the block of rows that the engine handles, later rows
 *  included. */
export function leakBlocks(): void {
  const { rows } = Engine.prototype
  Engine.prototype.rows = function (this: Engine, firstSeq, block, from, to) {
    leak.leaked = { block, row: from }
    return rows.call(this, firstSeq, block, from, to)
  }
}

const PRICES = `.trim().split('\\n').map((line) => JSON.parse(line)).filter((row) => row.type === 'trade').map((row) => row.price)`

/** Returns a comment with which the strategy check of Sluice allows the code after it. */
const allow = (name: string): string => `// sluice: allow ${name}, because the strategy must be caught while it runs\n`

/** Ways in which a strategy can read the tape from a file. Each is code of a module that defines \`prices\`. */
const WAYS: readonly ((tape: TapeFiles) => string)[] = [
  ({ ndjson }) =>
    `${allow('node:fs')}import { readFileSync } from 'node:fs'\nconst prices = readFileSync('${ndjson}', 'utf8')${PRICES}`,
  ({ ndjson }) =>
    `${allow('import()')}const { readFileSync } = await import('node:fs') ${allow('await')}const prices = readFileSync('${ndjson}', 'utf8')${PRICES}`,
  ({ ndjson }) =>
    `${allow('process')}const prices = process.getBuiltinModule('node:fs').readFileSync('${ndjson}', 'utf8')${PRICES}`,
  ({ ndjson }) =>
    `${allow('node:module')}import { createRequire } from 'node:module'\nconst prices = createRequire(import.meta.url)('fs').readFileSync('${ndjson}', 'utf8')${PRICES}`,
  ({ json }) => `import prices from '${json}' with { type: 'json' }`,
  ({ ndjson }) =>
    `${allow('child_process')}import { execFileSync } from 'child_process'\nconst prices = execFileSync('cat', ['${ndjson}'], { encoding: 'utf8' })${PRICES}`,
  ({ journal }) =>
    `import { openTape } from '${new URL('../../src/journal/tape-files.ts', import.meta.url).pathname}'
import { Mints } from '${new URL('../../src/market/mints.ts', import.meta.url).pathname}'
const prices = []
for (const item of openTape(['${journal}']).market.items(new Mints())) if (item.kind === 'rows')
  for (let row = item.from; row < item.to; row++) if (item.block.kind[row] < 2) prices.push(item.block.price[row])`,
  ({ journal }) =>
    `import Database from '${new URL('../../node_modules/better-sqlite3/lib/index.js', import.meta.url).pathname}'
const prices = new Database('${journal}', { readonly: true }).prepare('SELECT price FROM trades ORDER BY seq').pluck().all()`,
]

/** Code that keeps prices in variables of a module, so that a later run can read the prices of an earlier run. */
const MEMORIES: readonly (readonly [before: string, later: string])[] = [
  [
    `let before = []; let now = []`,
    `if (calls === 1) [before, now] = [now, []]
   now.push(trade.price); return before[calls]`,
  ],
  [
    `let last = new Map(); let now = new Map()`,
    `if (calls === 1) [last, now] = [now, new Map()]
   now.set(trade.mint, trade.price); return last.get(trade.mint)`,
  ],
  [
    `let highest = {}; let now = {}`,
    `if (calls === 1) [highest, now] = [now, {}]
   now[trade.mint] = Math.max(now[trade.mint] ?? 0, trade.price); return highest[trade.mint]`,
  ],
  [
    `let runs = 0; const prices = new Map()`,
    `if (calls === 1) runs++
   const known = prices.get(calls + 1); prices.set(calls, trade.price); return runs > 1 ? known : undefined`,
  ],
]

export const PLANTED: readonly Planted[] = [
  {
    name: 'one row ahead',
    source: (seed) =>
      strategy('ahead', seed, '', `const { block, row } = globalThis.leaked; return block.price[row + 1]`),
  },
  {
    name: 'a strategy that reads the tape from the disk',
    source: (seed, tape) =>
      strategy('disk', seed, (WAYS[seed % WAYS.length] as (tape: TapeFiles) => string)(tape), 'return prices[calls]'),
  },
  {
    name: 'a strategy that keeps prices in its module',
    source: (seed) =>
      strategy('memory', seed, ...(MEMORIES[Math.floor(seed / USES.length) % MEMORIES.length] as [string, string])),
  },
]
