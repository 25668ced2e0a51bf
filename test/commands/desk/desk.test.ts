import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { RESULTS, SWEEP_PAGE, SWEEP_STORE } from '../../../src/backtest/results-folder.ts'
import { SweepStore } from '../../../src/backtest/sweep/store.ts'
import { launch, sluice } from '../../e2e/process.ts'
import { until } from '../../e2e/until.ts'
import { DeskRig } from '../../support/desk-rig.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { tradedJournal } from '../../support/traded-journal.ts'

const { path } = temporaryFolder()

test('`sluice desk` opens the folder of a backtest, and reports a folder without a backtest', async ({
  onTestFinished,
}) => {
  const folder = join(path, 'run')
  mkdirSync(folder)
  const missing = await sluice(['desk', '--journal', folder])
  expect(missing.code).not.toBe(0)
  expect(missing.stderr).toContain(`${join(folder, RESULTS)}: no such journal`)

  writeFileSync(join(folder, RESULTS), 'no journal')
  const unreadable = await sluice(['desk', '--journal', folder])
  expect([unreadable.code, unreadable.stdout]).toEqual([1, ''])
  expect(unreadable.stderr).toContain(join(folder, RESULTS))
  copyFileSync(tradedJournal(), join(folder, RESULTS))
  const desk = launch(['desk', '--journal', folder, '--port', '0', '--print-link'])
  onTestFinished(() => void desk.child.kill('SIGKILL'))
  const link = await until('a link', () => /http\S+login\?link=\S+/.exec(desk.stdout)?.[0])
  expect((await fetch(link)).status).toBe(200)
  desk.child.kill('SIGINT')
  await desk.ended
})

test('`sluice desk` opens the folder of a sweep, or several folders of results, and shows only these results', async ({
  onTestFinished,
}) => {
  const folder = join(path, 'studies')
  const store = new SweepStore(join(folder, 'sweep', SWEEP_STORE), 'dips')
  store.close()
  writeFileSync(join(folder, 'sweep', SWEEP_PAGE), '<h1>Sweep</h1>')
  for (const given of [folder, join(folder, 'sweep')]) {
    const rig = await DeskRig.start({}, { isRun: false, results: given })
    onTestFinished(() => rig.close())
    const headers = { cookie: await rig.login(true) }
    const ask = async (at: string) => JSON.parse((await rig.ask({ path: at, headers })).body)
    expect(await ask('/api/view')).toMatchObject({ source: 'results', title: basename(given), bots: [], positions: [] })
    expect(await ask('/api/results')).toMatchObject({
      runs: [{ name: 'sweep', kind: 'sweep', page: '/results/sweep/' }],
    })
    expect((await rig.ask({ path: '/results/sweep/', headers })).body).toContain('<h1>Sweep</h1>')
    expect(await ask('/api/money')).toEqual({
      code: 'NOT_FOUND',
      error: 'this desk shows the results of backtests, and has no journal',
    })
  }
  const desk = launch(['desk', '--journal', folder, '--port', '0', '--print-link'])
  onTestFinished(() => void desk.child.kill('SIGKILL'))
  await until('a link', () => /http\S+login\?link=\S+/.exec(desk.stdout)?.[0])
  desk.child.kill('SIGINT')
  await desk.ended
})
