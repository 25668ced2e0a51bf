import { beforeAll, describe, expect, test } from 'vitest'
import { type BotTrades, tradesOf } from '../../../src/backtest/report/bot-trades.ts'
import { lamports } from '../../../src/base/units.ts'
import { reportText } from '../../../src/commands/journal/report.ts'
import { accountOf } from '../../../src/engine/account.ts'
import type { BotSettings } from '../../../src/engine/settings.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { fill, journalPath, keyOf, NO_LIMITS, order, position, start } from '../../support/journal-samples.ts'
import { LIMITS, LOSSES, TOLD } from '../../support/losses.ts'
import { recordPaperRun } from '../../support/paper-run.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()

function reported(path: string): BotTrades[] {
  const reader = openReader(path)
  try {
    return tradesOf(reader)
  } finally {
    reader.close()
  }
}

describe('the report of a run on paper', () => {
  const path = journalPath()
  let bots: BotTrades[] = []

  beforeAll(async () => {
    const config = {
      service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
      paper: { seed: 3, latency: { p50Seconds: 0.5, p95Seconds: 0.6 } },
      bots: Object.entries(LIMITS).map(([name, limits]) => ({
        ...{ name, limits, strategy: folder.write('told.ts', TOLD) },
        exits: { stopLossPercent: 20, windowPrints: 5 },
      })),
    }
    await recordPaperRun(path, folder.write('losses.yaml', JSON.stringify(config)), LOSSES)
    bots = reported(path)
  })

  test('in a report, the result of each bot equals the change of its wallet plus the value of its holdings', () => {
    const reader = openReader(path)
    const ledger = reader.ledger()
    reader.close()
    expect(bots.map(({ bot }) => bot)).toEqual(Object.keys(LIMITS))
    for (const { account, netSol, held } of bots) {
      const books = ledger.find((one) => one.account === account)
      const changed = (books?.walletLamports ?? 0) + (books?.lines.opening ?? 0)
      expect(Math.round(netSol * 1e9)).toBe(changed + Math.round(held.valueSol * 1e9))
    }
  })

  test('the report shows the causes of the result, and the orders that were not executed', () => {
    const [streak] = bots
    expect(streak).toMatchObject({
      mode: 'paper',
      starts: 1,
      orders: 4,
      buys: 2,
      sales: 2,
      refused: { LOSING_STREAK: 20 },
    })
    expect(streak?.trades).toMatchObject({ trades: 2, winPercent: 0 })
    expect(streak?.byEntry.map(({ name, trades }) => [name, trades])).toEqual([['told to', 2]])
    expect(streak?.byToken.map(({ name }) => name).sort()).toEqual([keyOf(1), keyOf(2)].sort())
    expect(streak?.netSol).toBeLessThan(0)
  })
})

describe('a journal with adopted tokens and a deficit', () => {
  const MINT = keyOf(77)
  const LIVE = accountOf('live', 'host', 'genesis', 'wallet')
  const at = (minute: number): number => Date.UTC(2026, 0, 2, 3, minute)
  const path = journalPath()
  const text = (): string => reportText(reported(path), path).join('\n')

  beforeAll(async () => {
    const journal = openJournal(path, { space: NO_LIMITS, onFailure: (error) => expect.fail(error.message) })
    const bot = (name: string) => ({ name, account: LIVE }) as unknown as BotSettings
    journal.input(1, at(0), start(1, { bots: [bot('dips'), bot('idle')] }))
    const trade = (number: number, side: 'buy' | 'sell', tokens: number, sol: number) => {
      const size = { kind: 'sol', lamports: lamports(sol * 1e9) } as const
      journal.output(1, at(0), number, {
        kind: 'order',
        order: order(number, {
          side,
          size,
          account: LIVE.id,
          mint: MINT,
          reason: side === 'buy' ? 'fell 15 %' : 'rose 3 %',
        }),
      })
      const money = { tradeLamports: lamports(sol * 1e9), feeLamports: lamports(1_000_000), rentLamports: lamports(0) }
      const whole = { tokens: BigInt(tokens * 100), decimals: 2, slot: number, time: at(number), final: true, ...money }
      journal.write({ kind: 'fill', fill: fill(number, { side, account: LIVE.id, mint: MINT, ...whole }) })
    }
    trade(1, 'buy', 10, 1)
    trade(2, 'sell', 10, 3)
    trade(3, 'buy', 10, 2)
    // The bot adopts tokens of the wallet, and its position then costs 2 SOL. Later, all of its tokens except one are
    // missing.
    const given = position(1, { account: LIVE.id, mint: MINT, costLamports: lamports(2e9), tokens: 100n, decimals: 2 })
    journal.input(5, at(4), { kind: 'adopt', account: LIVE.id, bot: 'dips', mint: MINT, tokens: 400n, decimals: 2 })
    journal.output(5, at(4), 0, { kind: 'position', position: given })
    journal.input(6, at(6), { kind: 'deficit', account: LIVE.id, mint: MINT, tokens: 100n })
    journal.output(6, at(6), 0, { kind: 'position', position: given })
    await journal.close()
  })

  test('in a report, adopted tokens count as bought at their value, lost tokens as sold for 0, and tokens without a price as worth 0', () => {
    const [dips, idle] = reported(path)
    // The first trade makes 3 - 1 - 0.002 SOL, the second one -2 - 2 - 0.001, because the token that is left has no
    // price and counts as worth 0.
    expect(dips).toMatchObject({ mode: 'live', orders: 3, netSol: 3 - 1 - 2 - 2 - 0.003, feeSol: 0.003 })
    expect(dips?.held).toEqual({ count: 1, costSol: 2, valueSol: 0, unpriced: 1 })
    expect(dips?.byExit.map(({ name, trades, netSol }) => [name, trades, netSol])).toEqual([
      ['rose n %', 1, 1.998],
      ['left the wallet without an order', 1, -4.001],
    ])
    expect(idle).toMatchObject({ bot: 'idle', orders: 0, trades: null, netSol: 0 })
  })

  test("the report's text shows the result, missing prices and bots without trades", () => {
    expect(text()).toContain('dips, live: -2.0030 SOL net since 2026-01-02 03:00:00 UTC, 1 start\n')
    expect(text()).toContain('of the positions have no known price and count as zero')
    expect(text()).toContain('idle, live: 0.0000 SOL net')
    expect(text()).toContain('  trades    none')
  })
})

test.each([
  ['the average holding time of closed positions', ['buy', 'sell'], /^ {2}trades {4}1, .*, held for 30 s on average$/m],
  ['no holding time without a closed position', ['buy'], /^ {2}trades {4}1, .*, profit factor \S+$/m],
] as const)("the report's text shows %s", async (_what, sides, line) => {
  const path = journalPath()
  const journal = openJournal(path, { space: NO_LIMITS, onFailure: (error) => expect.fail(error.message) })
  const account = accountOf('live', 'host', 'genesis', 'wallet')
  journal.input(1, 1_000, start(1, { bots: [{ name: 'dips', account } as unknown as BotSettings] }))
  for (const [index, side] of sides.entries()) {
    const at = { number: index + 1, time: 1_000 + 30_000 * index }
    const own = { side, account: account.id, mint: keyOf(5) }
    journal.output(1, at.time, at.number, { kind: 'order', order: order(at.number, own) })
    const traded = { tokens: 100n, decimals: 2, slot: at.number, time: at.time, final: true }
    journal.write({ kind: 'fill', fill: fill(at.number, { ...own, ...traded }) })
  }
  await journal.close()
  expect(reportText(reported(path), path).join('\n')).toMatch(line)
})

test('the report of a journal without bots is one sentence, which says that no bot ran', async () => {
  const path = journalPath()
  const journal = openJournal(path, { space: NO_LIMITS, onFailure: (error) => expect.fail(error.message) })
  journal.input(1, 1, start(1))
  await journal.close()
  expect(reportText(reported(path), path)).toEqual([`no bot ran in ${path}`])
})
