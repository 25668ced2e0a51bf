import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { documentedCommands } from './documented-commands.ts'

vi.setConfig({ testTimeout: 120_000 })

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

test('the commands of docs/backtest.md', async () => {
  const tape = join(folder.path, 'tape.db')
  await writeTape(tape, [{ time: T0, items: noisyMarket(600, 3, T0) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', exits: { stopLossPercent: 20, maxHoldSeconds: 20 } }]
  const words = { 'my.yaml': folder.write('my.yaml', JSON.stringify({ service, bots })), 'tape.db': tape }
  const ended = await documentedCommands('backtest.md', words)
  expect(ended.map(({ line, code, stderr }) => ({ line, code, stderr }))).toEqual(
    ended.map(({ line }) => ({ line, code: 0, stderr: '' })),
  )
  const [causal, advice] = ended.map(({ stdout }) => stdout)
  expect(causal).toMatch(/^cut after rows [\d, ]+ \(--seed 1\): \d+ decisions and fills, all equal$/m)
  expect(advice).toContain('Standard is the cheapest plan under which no exit waits')
})
