import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { openReader } from '../../src/journal/reader/reader.ts'
import { called } from '../e2e/called.ts'
import { journalPath, keyOf } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { recordPaperRun } from '../support/paper-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const NOON = Date.UTC(2026, 10, 22, 12, 0, 0)
const DAY = 86_400_000

/** Counts the prints of each token in its durable state. */
const COUNTING = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'counting',
  about: '',
  params: z.object({}),
  keys: ['trades'],
  warmup: 0,
  start: () => ({
    onTrade: (_trade, token) => {
      token.durable = { prints: (token.durable?.prints ?? 0) + 1 }
    },
  }),
})
`

/** Returns prints of ten new tokens on each day, and of one token that is traded every day. */
function prints(day: number): MarketRow[] {
  const mints = [keyOf(1), ...Array.from({ length: 10 }, (_, index) => keyOf(100 + day * 10 + index))]
  return mints.map((mint, index) => ({
    ...{ kind: 'buy', time: NOON + day * DAY + index * 1000, mint, price: 1e-7, sol: 1 },
  }))
}

describe('durable states in a journal', () => {
  const path = journalPath()
  const DAYS = 6

  beforeAll(async () => {
    const config = {
      service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
      bots: [{ name: 'counting', strategy: folder.write('counting.ts', COUNTING), exits: 'none' }],
    }
    const file = folder.write('counting.yaml', JSON.stringify(config))
    for (let day = 0; day < DAYS; day++) await recordPaperRun(path, file, prints(day))
  })

  const query = <T>(sql: string): T[] => {
    const db = new Database(path, { readonly: true })
    const rows = db.prepare(sql).all() as T[]
    db.close()
    return rows
  }

  test('the journal drops the durable states of freed tokens, so the number that a start restores does not grow', () => {
    const reader = openReader(path)
    const { money } = reader.recover()
    reader.close()
    // One token is traded every day. Each of the last two days has ten other tokens.
    expect(money.tokenStates).toHaveLength(1 + 10 + 10)
    expect(query('SELECT * FROM token_state')).toHaveLength(21)
    const starts = query<{ states: number }>(
      `SELECT json_array_length(json, '$.money.tokenStates') AS states FROM segment ORDER BY number`,
    )
    expect(starts.map(({ states }) => states)).toEqual([0, 11, 21, 21, 21, 21])
  })

  test('the view `token_states` shows durable states', () => {
    const view = query(`SELECT bot, mint, at, day, value FROM token_states WHERE mint = '${keyOf(1)}'`)
    expect(view).toEqual([
      {
        ...{ bot: 'counting', mint: keyOf(1), at: '2026-11-22 12:00:00.000' },
        ...{ day: '2026-11-27', value: JSON.stringify({ prints: DAYS }) },
      },
    ])
  })

  test.each([
    ['UPDATE token_state SET day = day + 1'],
    [`UPDATE token_state SET json = json_set(json, '$.value.prints', 9)`],
    ['DELETE FROM token_state'],
    [`INSERT INTO token_state SELECT account, bot, mint || 'x', day, json FROM token_state`],
  ])('the verification of a journal finds a change of durable states by `%s`', (sql) => {
    const copy = journalPath()
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(path, copy)
    const db = new Database(copy)
    db.exec(`${sql} WHERE mint = '${keyOf(1)}'`)
    db.close()
    const reader = openReader(copy)
    const found = [...reader.findings()].map(({ table }) => table)
    reader.close()
    expect(found).toContain('token_state')
  })

  test('a replay makes the same durable states, and proves them', async () => {
    const { code, stdout } = await called(['replay', '--json', '--journal', path], folder.path)
    expect(JSON.parse(stdout)).toMatchObject({ segments: DAYS, equal: true })
    expect(code).toBe(0)
  })
})
