import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { called } from './called.ts'
import { documentedCommands } from './documented-commands.ts'
import { launch } from './process.ts'
import { until } from './until.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const journal = join(folder.path, 'tape.db')
const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 200 }

function config(name: string, params: object, strategy = 'dip-buyer'): string {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  return folder.write(name, JSON.stringify({ service, bots: [{ name: 'dips', strategy, params, exits }] }))
}

interface Found {
  readonly sets: number
  readonly failed: number
  readonly results: {
    set: number
    params: { dropPercent: number }
    netSol: number
    holdOutSol: number
    inSampleSol: number
  }[]
}

function sweep(...args: string[]) {
  return called(['sweep', join(folder.path, 'dips.yaml'), '--journal', journal, ...args])
}

function storedIn(store: string): unknown[] {
  if (!existsSync(store)) return []
  const db = new Database(store, { readonly: true })
  try {
    return db.prepare('SELECT * FROM result').all()
  } catch {
    return [] // its table does not exist yet
  } finally {
    db.close()
  }
}

test('a sweep has the same results as backtests of its param sets, and after a kill it continues with the same result', async () => {
  await writeTape(journal, [{ time: T0, items: noisyMarket(4_000, 3, T0) }])
  config('dips.yaml', { sizeSol: 0.05 })
  const drawn = ['--random', '16', '--seed', '4', '--range', 'dropPercent=5:40', '--json']

  const whole = await sweep(...drawn, '--jobs', '2')
  expect(whole).toMatchObject({ code: 0, stderr: '' })
  const found = JSON.parse(whole.stdout) as Found
  expect(found).toMatchObject({
    bot: 'dips',
    strategy: 'dip-buyer',
    events: 4_000,
    sets: 16,
    failed: 0,
    holdOutPercent: 30,
  })
  const samples = found.results.map(({ inSampleSol }) => inSampleSol).filter((sol) => sol !== 0)
  expect(samples).toEqual([...samples].sort((a, b) => b - a))
  const [{ params, netSol, inSampleSol, holdOutSol }] = found.results as [Found['results'][number]]
  const one = await called(['backtest', config('one.yaml', params), '--journal', journal, '--json'])
  expect(JSON.parse(one.stdout)).toMatchObject({ netSol })
  expect(inSampleSol + holdOutSol).toBeCloseTo(netSol, 9)

  const out = join(folder.path, 'out')
  const store = join(out, 'sweep.db')
  const again = ['sweep', join(folder.path, 'dips.yaml'), '--journal', journal, ...drawn, '--jobs', '1', '--out', out]
  const first = launch(again, { SLUICE_FAILPOINT: 'sweep-pass' }) // SIGKILL after the first of two passes
  expect(await first.ended).toBeNull()
  const kept = storedIn(store)
  expect(first.stdout).toBe('')
  expect(kept).toHaveLength(8) // the first of two passes
  const goesOn = await sweep(...drawn, '--jobs', '1', '--out', out)
  expect(goesOn).toEqual({ ...whole, stderr: '8 of 16 param sets are already finished and are not computed again\n' })
  expect(storedIn(store)).toHaveLength(16)
  expect(storedIn(store)).toEqual(expect.arrayContaining(kept))
  expect(statSync(store).mode & 0o077).toBe(0)
  const html = readFileSync(join(out, 'sweep.html'), 'utf8')
  expect(html).not.toMatch(/<script|https?:|src=/)
  expect(html).toContain('in the hold-out')

  const other = await sweep('--range', 'dropPercent=5:6:1', '--out', out)
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('has the results of another sweep') })
})

test('if a strategy throws in some param sets of a sweep, only these sets have no result', async () => {
  const strategy = folder.write(
    'fragile.ts',
    `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'fragile', about: '', keys: ['trades'], params: z.object({ size: z.number().min(1).max(3) }),
  start: ({ size }) => ({ onTrade(trade) { if (size > 2 && trade.price > 0) throw new Error('too large <b>') } }) })
`,
  )
  const file = config('fragile.yaml', { size: 1 }, strategy)
  const args = ['sweep', file, '--journal', journal, '--range', 'size=1:3:1', '--jobs', '1', '--hold-out', '0']
  const { code, stdout } = await called(args)
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /1 param set without a result, because the strategy threw: \/\S+\/fragile\.ts:3:\d+: Error: too large <b>/,
  )
  expect(stdout).toContain('There is no hold-out')
})

test('after Ctrl-C, a sweep reports the finished param sets, and that the same command computes the others', async () => {
  const out = join(folder.path, 'interrupted')
  // The command cannot finish so many param sets before Ctrl-C.
  const range = ['--range', 'dropPercent=5:85:0.01', '--jobs', '1']
  const args = ['sweep', join(folder.path, 'dips.yaml'), '--journal', journal, ...range]
  const one = launch([...args, '--out', out])
  await until('what is kept', () => {
    expect(one.child.exitCode, one.stderr).toBe(null)
    return storedIn(join(out, 'sweep.db')).length > 0
  })
  one.child.kill('SIGINT')
  expect(await one.ended).toBe(130)
  const kept = storedIn(join(out, 'sweep.db')).length
  expect(one.stderr).toContain(
    `${kept} of 8001 param sets are kept in ${join(out, 'sweep.db')}, and the same command computes the others`,
  )
  expect(one.stdout).toBe('')
})

test('the commands of docs/sweep.md run', async () => {
  const tape = join(folder.path, 'small.db')
  await writeTape(tape, [{ time: T0, items: noisyMarket(300, 3, T0) }])
  const words = { 'my.yaml': config('dips.yaml', {}), 'tape.db': tape, 'results/sweep': join(folder.path, 'kept') }
  const ended = await documentedCommands('sweep.md', words)
  expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(4).fill({ code: 0, stderr: '' }))
})
