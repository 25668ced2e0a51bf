import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import type { BotReport } from '../../src/backtest/report/bot-report.ts'
import { type BotTrades, tradesOf } from '../../src/backtest/report/bot-trades.ts'
import type { Report } from '../../src/backtest/report/report.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { called } from '../e2e/called.ts'
import { journalPath, keyOf } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { recordPaperRun } from '../support/paper-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const T0 = Date.UTC(2026, 10, 22, 12, 0, 0)
const HOSTILE = '<i x>\u001b[31m"; DROP TABLE fill'

/** Buys at a print of 0.77 SOL with a tag, and without one at 0.78 SOL. Sells at 0.79 SOL with a hostile tag. Records
 *  the tags of its fills and of its positions with `bot.note`. */
const TAGGED = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'tagged',
  about: '',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade({ amount }, token) {
      if (amount === 0.77) bot.buy(token, { sol: 0.05, reason: 'told to', tag: 'dip' })
      if (amount === 0.78) bot.buy(token, { sol: 0.05, reason: 'told to' })
      if (amount === 0.76) bot.limitBuy(token, { sol: 0.05, reason: 'told to', tag: 'limit', atPrice: 1e-9 })
      if (amount === 0.79) bot.sell(token, { all: true, reason: 'told to', tag: ${JSON.stringify(HOSTILE)} })
      if (amount === 0.75) bot.note(token.mint, JSON.stringify([bot.fills().map(({ tag }) => tag), token.position?.tag]))
    },
  }),
})
`

/** Returns prints of a token, one per second, buys and sales in turn. `sols` has their sizes. */
function prints(second: number, mint: string, sols: readonly number[]): MarketRow[] {
  return sols.map((sol, index) => ({
    ...{ kind: index % 2 === 0 ? 'buy' : 'sell', time: T0 + (second + index) * 1000 },
    ...{ mint, price: 1e-7, sol },
  }))
}

const EVEN = [1, 1, 1, 1, 1, 1]
const [FIRST, SECOND, THIRD] = [keyOf(1), keyOf(2), keyOf(3)]
const BEFORE = [
  ...prints(0, FIRST, [...EVEN, 0.77, ...EVEN, 0.79, ...EVEN]),
  ...prints(40, SECOND, [...EVEN, 0.78, ...EVEN, 0.76]),
  ...prints(80, THIRD, [...EVEN, 0.77, ...EVEN]),
]
const AFTER = [...prints(200, THIRD, [...EVEN, 0.75]), ...prints(220, THIRD, [...EVEN, 0.79, ...EVEN])]

describe('tags of orders', () => {
  const path = journalPath()
  let bot: BotTrades
  let file = ''

  beforeAll(async () => {
    const config = {
      service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
      paper: { seed: 3, latency: { p50Seconds: 0.5, p95Seconds: 0.6 } },
      bots: [{ name: 'tagged', strategy: folder.write('tagged.ts', TAGGED), exits: 'none' }],
    }
    file = folder.write('tagged.yaml', JSON.stringify(config))
    await recordPaperRun(path, file, BEFORE)
    await recordPaperRun(path, file, AFTER)
    const reader = openReader(path)
    bot = tradesOf(reader)[0] as BotTrades
    reader.close()
  })

  const query = (sql: string): unknown[] => {
    const db = new Database(path, { readonly: true })
    const rows = db.prepare(sql).raw().all()
    db.close()
    return rows.flat()
  }

  test('the views of orders, fills and conditional orders have the tags', () => {
    const tags = ['dip', HOSTILE, '', 'dip', HOSTILE]
    expect(query('SELECT tag FROM orders ORDER BY seq')).toEqual(tags)
    expect(query('SELECT tag FROM fills ORDER BY time')).toEqual(tags)
    expect(query('SELECT tag FROM conditional_orders')).toEqual(['limit'])
  })

  test('the lists of orders and fills have the tags in --json', async () => {
    const listed = async (name: string): Promise<unknown[]> => {
      const { stdout } = await called([name, '--json', '--journal', path])
      return (JSON.parse(stdout) as Record<string, { tag: string }[]>)[name]?.map(({ tag }) => tag) ?? []
    }
    expect(await listed('orders')).toEqual(['dip', HOSTILE, '', 'limit', 'dip', HOSTILE])
    expect(await listed('fills')).toEqual(['dip', HOSTILE, '', 'dip', HOSTILE])
  })

  test.each(['orders', 'fills'])('the list of `sluice %s` has a column for the tags', async (name) => {
    const { stdout } = await called([name, '--journal', path])
    expect(stdout.split('\n')[0]).toContain('TAG')
    expect(stdout).toContain('<i x>\\u001b[31m')
  })

  test('a restart restores the tags of fills and positions', () => {
    const [note] = query(`SELECT reason FROM decisions WHERE kind = 'note'`)
    expect(JSON.parse(note as string)).toEqual([['dip', HOSTILE, '', 'dip'], 'dip'])
  })

  test('the report groups the round trips by the tags of entry and exit', async () => {
    const counts = (groups: BotTrades['byEntryTag']): Record<string, number> =>
      Object.fromEntries(groups.map(({ name, trades }) => [name, trades]))
    expect(counts(bot.byEntryTag)).toEqual({ dip: 2, '': 1 })
    expect(counts(bot.byExitTag)).toEqual({ [HOSTILE]: 2, '': 1 })
    const { stdout } = await called(['report', '--journal', path])
    expect(stdout).toMatch(/ENTRY TAG +TRADES +NET SOL[^\n]*\n +dip +2 .*\n +\(no tag\) +1 /)
    expect(stdout).toContain(`EXIT TAG`)
    expect(stdout).toContain('<i x>\\u001b[31m"')
    expect(stdout).not.toContain('\u001b')
  })

  test('a replay makes the same tags, and proves them', async () => {
    const { code, stdout } = await called(['replay', '--verify', '--json', '--journal', path], folder.path)
    expect(JSON.parse(stdout)).toMatchObject({ segments: 2, equal: true })
    expect(code).toBe(0)
  })

  test('a backtest shows its results by tag, in its text and in its report', async () => {
    const out = join(folder.path, 'out')
    const { stdout } = await called(['backtest', file, '--journal', path, '--out', out], folder.path)
    expect(stdout).toMatch(/ENTRY TAG +TRADES +NET SOL[^\n]*\n +dip +2 .*\n +\(no tag\) +1 /)
    expect(stdout).not.toContain('\u001b')
    const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Report
    const [{ byEntryTag, byExitTag, trips }] = report.bots as [BotReport]
    expect(byEntryTag.map(({ name }) => name).toSorted()).toEqual(['', 'dip'])
    expect(byExitTag.map(({ name }) => name).toSorted()).toEqual(['', HOSTILE])
    expect(trips.map(({ entryTag, exitTag }) => [entryTag, exitTag])).toContainEqual(['dip', HOSTILE])
    const page = readFileSync(join(out, 'report.html'), 'utf8')
    expect([page.includes('Tag of the entry'), page.includes(HOSTILE.slice(0, 4))]).toEqual([true, false])
  })
})
