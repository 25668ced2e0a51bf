import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { called } from './called.ts'
import { documentedCommands } from './documented-commands.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

test('the commands of docs/backtest.md run', async () => {
  const tape = join(folder.path, 'tape.db')
  await writeTape(tape, [{ time: T0, items: noisyMarket(600, 3, T0) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const config = (name: string, params: object): string => {
    const bots = [{ name: 'dips', strategy: 'dip-buyer', params, exits: { stopLossPercent: 20, maxHoldSeconds: 20 } }]
    return folder.write(name, JSON.stringify({ service, bots }))
  }
  const [a, b] = ['a', 'b'].map((name) => join(folder.path, name)) as [string, string]
  const words = {
    ...{ 'my.yaml': config('my.yaml', {}), 'other.yaml': config('other.yaml', { dropPercent: 25 }), 'tape.db': tape },
    ...{ 'results/a': a, 'results/b': b },
  }
  const ended = await documentedCommands('backtest.md', words)
  expect(ended.map(({ line, code, stderr }) => ({ line, code, stderr }))).toEqual(
    ended.map(({ line }) => ({ line, code: 0, stderr: '' })),
  )
  const [causal, , , compared, advice] = ended.map(({ stdout }) => stdout)
  expect(causal).toMatch(
    /^no look-ahead found: .* each of \d+ rows .* \(--seed 1\); all \d+ compared decisions and fills are equal$/m,
  )
  expect(advice).toContain('Standard is the cheapest plan under which no exit waits')
  expect(compared).toMatch(/^different inputs:\n {2}configuration .*\n {2}dips params dropPercent +15 +25$/m)
  expect(compared).toMatch(/^decisions: the first \d+ are equal; the next ones differ\n {2}A 20.* dips order .* fell /m)

  const json = async (...args: string[]) => JSON.parse((await called(['compare', ...args, '--json'])).stdout)
  const same = await json(a, join(a, 'report.json'))
  expect(same).toMatchObject({ differences: [], decisions: { a: null, b: null } })
  const journals = await json(join(a, 'results.db'), join(b, 'results.db'))
  expect(journals.differences.map(({ what }: { what: string }) => what)).toEqual([
    'configuration',
    'dips params dropPercent',
  ])
  const [{ results }] = journals.bots
  const of = (what: string) => results.find((one: { what: string }) => one.what === what)
  expect(of('orders').a).toBeGreaterThan(of('orders').b)
  expect(await called(['compare', tape, a])).toMatchObject({ code: 0 })
  expect(await called(['compare', a, join(folder.path, 'my.yaml')])).toMatchObject({ code: 1, stdout: '' })
  expect(await called(['compare', a, 'nowhere'])).toMatchObject({ code: 2, stderr: 'sluice: nowhere does not exist\n' })
})
