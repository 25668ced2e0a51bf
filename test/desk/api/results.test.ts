import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Results } from '../../../src/desk/api/results.ts'
import { called } from '../../e2e/called.ts'
import { ApiRig } from '../../support/desk-api.ts'
import { noisyMarket, writeTape } from '../../support/recorded-tape.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

test('the API lists the backtests and sweeps of a folder with their results and pages, and compares them with the journal', async () => {
  const tape = join(folder.path, 'tape.db')
  await writeTape(tape, [{ time: T0, items: noisyMarket(300, 3, T0) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', exits: { stopLossPercent: 20, maxHoldSeconds: 20 } }]
  const config = folder.write('my.yaml', JSON.stringify({ service, bots }))
  const [runs, other] = [join(folder.path, 'runs'), join(folder.path, 'other')]
  const [one, sweep, same] = [join(runs, 'one <b>'), join(runs, 'sweep'), join(other, 'one <b>')]
  const ran = [
    await called(['backtest', config, '--journal', tape, '--out', one]),
    await called(['backtest', config, '--journal', tape, '--out', same]),
    await called(['sweep', config, '--journal', tape, '--out', sweep, '--range', 'dropPercent=20,30', '--jobs', '1']),
  ]
  expect(ran.map(({ code }) => code)).toEqual([0, 0, 0])
  const report = JSON.parse(readFileSync(join(one, 'report.json'), 'utf8'))
  folder.write('runs/broken/report.json', '{')
  folder.write('runs/empty/notes.txt', '')

  const api = new ApiRig(join(one, 'results.db'), [runs, same, join(folder.path, 'nowhere')])
  const found = api.get('results').runs
  expect(
    found.map(({ name, kind, path }) => ({ name, kind, path })).sort((a, b) => (a.path < b.path ? -1 : 1)),
  ).toEqual([
    { name: expect.stringMatching(/^one <b>(-2)?$/), kind: 'backtest', path: same },
    { name: expect.stringMatching(/^one <b>(-2)?$/), kind: 'backtest', path: one },
    { name: 'sweep', kind: 'sweep', path: sweep },
  ])
  expect(new Set(found.map(({ page }) => page))).toEqual(
    new Set(['/results/one%20%3Cb%3E/', '/results/one%20%3Cb%3E-2/', '/results/sweep/']),
  )
  const nets = found.flatMap(({ kind, netSol }) => (kind === 'backtest' ? [netSol] : []))
  expect(nets).toEqual([report.bots[0].netSol, report.bots[0].netSol])

  const results = new Results([runs])
  expect(results.pageOf('sweep')).toBe(join(sweep, 'sweep.html'))
  for (const name of ['../one', 'empty', '', '..', '/etc/passwd']) expect(results.pageOf(name)).toBeUndefined()

  // The journal of a backtest has no tape, so the symbols come from the report next to it.
  const fill = () => new ApiRig(join(one, 'results.db'), [runs]).get('fills').fills[0]
  const names = { ...report.names, [fill()?.mint ?? '']: { symbol: 'CAT', name: 'Cat on the Moon' } }
  folder.write('runs/one <b>/report.json', JSON.stringify({ ...report, names }))
  expect(fill()?.symbol).toBe('CAT')
  folder.write('runs/one <b>/report.json', '{')
  expect(fill()?.symbol).toBe('')
  folder.write('runs/one <b>/report.json', JSON.stringify(report))

  const { run, differences, decisions } = api.get('compare', { run: 'one <b>' })
  expect([run, differences, decisions?.a, decisions?.b]).toEqual(['one <b>', [], null, null])
  expect(decisions?.equal).toBeGreaterThan(0)
  expect(api.refusal('compare', [['run', 'sweep']]).status).toBe(404)
})
