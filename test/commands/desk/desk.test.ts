import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RESULTS } from '../../../src/backtest/results-folder.ts'
import { launch, sluice } from '../../e2e/process.ts'
import { until } from '../../e2e/until.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { tradedJournal } from '../../support/traded-journal.ts'

const { path } = temporaryFolder()

test('the desk opens the folder of a backtest, and names a folder without one', async ({ onTestFinished }) => {
  const folder = join(path, 'run')
  mkdirSync(folder)
  const missing = await sluice(['desk', '--journal', folder])
  expect(missing.code).not.toBe(0)
  expect(missing.stderr).toContain(`${join(folder, RESULTS)}: no such journal`)

  copyFileSync(tradedJournal(), join(folder, RESULTS))
  const desk = launch(['desk', '--journal', folder, '--port', '0', '--print-link'])
  onTestFinished(() => void desk.child.kill('SIGKILL'))
  const link = await until('a link', () => /http\S+login\?link=\S+/.exec(desk.stdout)?.[0])
  expect((await fetch(link)).status).toBe(200)
  desk.child.kill('SIGINT')
  await desk.ended
})
