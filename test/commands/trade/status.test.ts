import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { command } from '../../../src/commands/trade/status.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { serveControl } from '../../../src/live/control/server.ts'
import { ACCOUNT, journalPath, NO_LIMITS, order, position, start } from '../../support/journal-samples.ts'

afterEach(() => vi.restoreAllMocks())

const status = (journal: string, json = false) => command.run([], { journal, config: [], json })

function printed(): string[] {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
  return lines
}

/** Returns the journal of a process that has ended. */
async function left(what: 'nothing' | 'positions'): Promise<string> {
  const path = journalPath()
  const journal = openJournal(path, { space: NO_LIMITS, onFailure: (error) => expect.fail(error.message) })
  journal.input(1, Date.UTC(2026, 0, 2), start(1))
  if (what === 'positions') {
    const halted = { account: ACCOUNT, lamports: null, slot: 0, halted: true }
    journal.output(1, 0, 0, { kind: 'account', money: halted })
    for (const number of [1, 2]) journal.output(1, 0, number, { kind: 'position', position: position(number) })
    journal.output(1, 0, 3, { kind: 'order', order: order(3) })
  }
  await journal.close()
  return path
}

test('status without a process and without a journal fails and creates nothing', async () => {
  const journal = journalPath()
  await expect(status(journal)).rejects.toMatchObject({
    message: `no process runs on the journal ${journal}`,
    exitCode: 1,
  })
  expect(existsSync(dirname(journal))).toBe(false)
})

test.each([
  ['nothing', /\.000 \S+; no open positions$/, { positions: 0, openOrders: 0, halted: false }],
  [
    'positions',
    /; 2 open positions, and no process to sell them; 1 undecided order; entries are halted$/,
    { positions: 2, openOrders: 1, halted: true },
  ],
] as const)(
  'after the last process has ended, `status` shows the open work that it left: %s',
  async (what, says, data) => {
    const journal = await left(what)
    await expect(status(journal)).rejects.toThrow(says)
    const lines = printed()
    await expect(status(journal, true)).rejects.toMatchObject({ exitCode: 1 })
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ running: false, ...data })
  },
)

test('status of a running process shows its table, even with 3,000 positions', async () => {
  const journal = journalPath()
  mkdirSync(dirname(journal))
  const held = {
    ...{ bot: 'dips', state: 'open', tokens: 1, costSol: 1, valueSol: 2, changePercent: 100 },
    ...{ openedAt: 0, selling: '' },
  }
  const answer = {
    ...{
      title: 'demo',
      openOrders: [],
      startedAt: 0,
      time: 60_000,
      rows: 3,
      orders: 0,
      fills: 0,
      feed: 'stale',
      reconnects: 0,
      brokenLists: [],
      brokenSources: [],
    },
    ...{
      stops: [],
      undecided: [],
      planNotice: '',
      requests: { held: 0, allowed: 60, perMinute: 60, waiting: 0, holds: [] },
    },
    ...{ decisionUs: { p50: 1, p99: 2 }, lastFills: [], notices: [] },
    ...{ beganAt: 0, wallets: [], bots: [] },
    positions: Array.from({ length: 3_000 }, (_, n) => ({ ...held, mint: String(n).padStart(44, '1') })),
  }
  const stop = await serveControl({ journalPath: journal, handle: () => answer, warn: () => {} })
  const lines = printed()
  expect(await status(journal)).toBe(0)
  expect(lines[0]).toContain('60 s')
  expect(lines.join('\n')).toContain('and 2990 more')
  expect(await status(journal, true)).toBe(0)
  expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ running: true, feed: 'stale' })
  await stop()
})

test('`status` reports a process of another version of Sluice in one line', async () => {
  const journal = journalPath()
  mkdirSync(dirname(journal))
  const stop = await serveControl({ journalPath: journal, handle: () => ({ feed: 'live' }), warn: () => {} })
  await expect(status(journal)).rejects.toThrow('runs another version of Sluice')
  await stop()
})
