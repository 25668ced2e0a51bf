import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { called } from '../e2e/called.ts'
import { journalPath, keyOf } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { recordPaperRun } from '../support/paper-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const T0 = Date.UTC(2026, 10, 22, 12, 0, 0)
const HOSTILE = '\u001b[2Jgone'

const SPEAKING = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'speaking',
  about: '',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade: (trade, token) => {
      bot.log.debug('seen', { side: trade.side })
      bot.note(token.mint, 'looked at')
      bot.log.info(${JSON.stringify(HOSTILE)})
      bot.log.warn('odd price', { mint: token.mint, price: trade.price })
      bot.message('look at ' + token.mint)
    },
  }),
})
`

describe('log lines and messages', () => {
  const path = journalPath()
  const mint = keyOf(1)
  let file = ''

  beforeAll(async () => {
    const config = {
      service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
      bots: [{ name: 'speaking', strategy: folder.write('speaking.ts', SPEAKING), exits: 'none' }],
    }
    file = folder.write('speaking.yaml', JSON.stringify(config))
    const rows = [0, 1].map((second): MarketRow => {
      return { kind: 'buy', time: T0 + second * 1000, mint, price: 1e-7, sol: 1 }
    })
    await recordPaperRun(path, file, rows)
  })

  const query = (sql: string): unknown[] => {
    const db = new Database(path, { readonly: true })
    const rows = db.prepare(sql).all()
    db.close()
    return rows
  }

  test('the view `warnings` has the warnings and messages of strategies, and other log lines are not recorded', () => {
    const common = { bot: 'speaking', seq: expect.any(Number) }
    expect(query('SELECT seq, bot, mint, kind, text, fields FROM warnings LIMIT 2')).toEqual([
      { ...common, mint, kind: 'warning', text: 'odd price', fields: JSON.stringify({ mint, price: 1e-7 }) },
      { ...common, mint: '', kind: 'message', text: `look at ${mint}`, fields: null },
    ])
    expect(query(`SELECT DISTINCT kind FROM output WHERE bot = 'speaking' ORDER BY kind`)).toEqual(
      ['bot', 'log', 'message', 'note'].map((kind) => ({ kind })).filter(({ kind }) => kind !== 'bot'),
    )
    expect(query(`SELECT count(*) AS count FROM output WHERE json LIKE '%seen%' OR json LIKE '%gone%'`)).toEqual([
      { count: 0 },
    ])
  })

  test('a replay proves the recorded warnings and messages of strategies', async () => {
    const { stdout } = await called(['replay', '--json', '--journal', path], folder.path)
    expect(JSON.parse(stdout)).toMatchObject({ segments: 1, equal: true })
  })

  test('`sluice why MINT` shows the warnings and messages of strategies that name the mint', async () => {
    const { stdout } = await called(['why', mint, '--journal', path])
    expect(stdout).toContain('speaking: odd price')
    expect(stdout).toContain(`speaking: look at ${mint}`)
  })

  const backtest = (...more: string[]): ReturnType<typeof called> =>
    called(['backtest', file, '--journal', path, '--json', ...more], folder.path)

  test.each([
    ['debug', ['DEBUG', 'INFO', 'WARN', 'MESSAGE']],
    ['info', ['INFO', 'WARN', 'MESSAGE']],
    ['warn', ['WARN', 'MESSAGE']],
  ])(
    'a backtest with --log %s prints the log lines of strategies from this level on, and escapes them',
    async (level, kinds) => {
      const { stderr } = await backtest('--log', level)
      const lines = stderr.split('\n').filter((line) => line.startsWith('2026-11-22T12:00:01.000Z'))
      expect(lines.map((line) => line.split(' ')[1])).toEqual(kinds)
      expect(stderr).not.toContain('\u001b')
      if (level === 'debug') {
        expect(lines[0]).toMatch(/DEBUG speaking: seen side=buy seq=\d+$/)
        expect(lines[1]).toContain('INFO speaking: \\u001b[2Jgone')
      }
    },
  )

  test('a backtest without --log prints no log lines of strategies', async () => {
    const { stderr } = await backtest()
    expect(stderr).not.toContain('speaking')
  })

  test('a backtest refuses an unknown --log level with exit code 2', async () => {
    const { code, stderr } = await backtest('--log', 'inf')
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean info')])
  })
})
