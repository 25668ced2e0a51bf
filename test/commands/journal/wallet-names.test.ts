import { beforeAll, expect, test, vi } from 'vitest'
import { command as ledger } from '../../../src/commands/journal/ledger.ts'
import { command as report } from '../../../src/commands/journal/report.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { LIMITS, LOSSES, TOLD } from '../../support/losses.ts'
import { recordPaperRun } from '../../support/paper-run.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const path = journalPath()

beforeAll(async () => {
  const config = {
    service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
    paper: { seed: 3, latency: { p50Seconds: 0.5, p95Seconds: 0.6 } },
    wallets: { main: {}, side: {} },
    bots: Object.entries(LIMITS).map(([name, limits], index) => ({
      ...{ name, limits, strategy: folder.write('told.ts', TOLD), wallet: index === 0 ? 'main' : 'side' },
      exits: { stopLossPercent: 20, windowPrints: 5 },
    })),
  }
  await recordPaperRun(path, folder.write('wallets.yaml', JSON.stringify(config)), LOSSES)
})

async function printed(command: typeof ledger | typeof report, json: boolean): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    await command.run([], { journal: path, json })
    return log.mock.calls.map(([line]) => line).join('\n')
  } finally {
    log.mockRestore()
  }
}

test('`report` names the wallet of each bot, and shows a total for each wallet and for all wallets', async () => {
  const lines = (await printed(report, false)).split('\n')
  const [first, ...others] = Object.keys(LIMITS)
  expect(lines.find((line) => line.startsWith(`${first}, `))).toContain(`${first}, paper, wallet main: `)
  const sums = lines.filter((line) => /^(wallet \w+|\d wallets), paper: /.test(line))
  expect(sums.map((line) => line.replace(/: \S+ SOL/, ':'))).toEqual([
    'wallet main, paper: net of 1 bot',
    `wallet side, paper: net of ${others.length} bot${others.length === 1 ? '' : 's'}`,
    `2 wallets, paper: net of ${others.length + 1} bots`,
  ])
  const [main = 0, side = 0, all = 0] = sums.map((line) => Number(/: (\S+) SOL/.exec(line)?.[1]))
  expect(all).toBeCloseTo(main + side, 3)
})

test('`ledger` names the wallet of each account, and the remainder of each account is 0', async () => {
  const { ledger: accounts } = JSON.parse(await printed(ledger, true)) as {
    ledger: { walletName: string; audit: { remainderLamports: number } }[]
  }
  expect(accounts.map(({ walletName }) => walletName)).toEqual(['main', 'side'])
  expect(accounts.map(({ audit }) => audit.remainderLamports)).toEqual([0, 0])
  expect(await printed(ledger, false)).toContain('wallet main, paper|s.example||wallet:main\n')
})
