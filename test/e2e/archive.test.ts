import { renameSync } from 'node:fs'
import { expect, test } from 'vitest'
import { listTape, verifyTape } from '../../src/journal/archive/recorded-days.ts'
import { writeDays } from '../support/tape-days.ts'
import { openStage, orderIn, tell } from './stage.ts'
import { until } from './until.ts'

test('a trading process archives the closed days of its journal without a command, and readers still find all rows', async ({
  onTestFinished,
}) => {
  const stage = await openStage({ config: { journal: { archive: true } } }, onTestFinished)
  renameSync(await writeDays({ seed: 4, days: 3 }), stage.journal)
  const recorded = stage.tape()
  const { rows } = listTape(stage.journal).journal
  const running = await stage.go()
  await tell(running.handle, stage, 'buy')
  // The journal's thread moves the closed days into the archive. Before that, it may merge small blocks of these days.
  await until('the archive', () => {
    const { days } = listTape(stage.journal)
    return days.every(({ whole }) => whole === 1) && days.reduce((sum, day) => sum + day.rows, 0) === rows
  })
  await until('the log line about the archive', () =>
    stage.log.some((line) => /tape: market data of \d closed days? archived/.test(line)),
  )
  await tell(running.handle, stage, 'sell')
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  await stage.settled()
  await running.stop()
  expect([...verifyTape(stage.journal, [])].filter(({ problem }) => problem !== '')).toEqual([])
  expect(stage.tape().slice(0, recorded.length)).toEqual(recorded)
  // Only the segment of this run can be replayed: `writeDays` recorded the first segment without code of a strategy.
  expect(await stage.complaints()).toEqual([expect.stringMatching(/^replay: \{"segment":1,.*"skipped":"it was/)])
})
