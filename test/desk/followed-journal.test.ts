import { expect, test } from 'vitest'
import { FollowedJournal } from '../../src/desk/followed-journal.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { recordedView } from '../../src/runtime/view/recorded-view.ts'
import type { Change, View } from '../../src/runtime/view/view.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { journalPath } from '../support/journal-samples.ts'
import { recordPaperRun } from '../support/paper-run.ts'
import { noisyMarket } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { viewOf } from '../support/view-sample.ts'

const T0 = Date.UTC(2026, 10, 22, 12)
const folder = temporaryFolder()

/** A simulated journal. `written`: number of its rows. `changes`: the changes of the view that were announced. */
class TestJournal {
  readonly clock = new SimulatedClock(0)
  written = 1
  reads = 0
  takesMs = 0
  isBroken = false
  readonly failures: string[] = []
  readonly changes: Change[] = []
  readonly followed: FollowedJournal

  constructor() {
    this.followed = new FollowedJournal({
      clock: this.clock,
      read: (n) => this.#read(n),
      version: () => this.written,
      failed: (error) => this.failures.push((error as Error).message),
    })
    this.followed.listen((change) => this.changes.push(change))
  }

  #read(n: number): View {
    this.reads++
    if (this.isBroken) throw new Error('busy')
    this.clock.advanceTo(this.clock.now() + this.takesMs)
    return { ...viewOf(), id: `1-${n}`, rows: this.written }
  }

  wait(ms: number): void {
    this.clock.advanceTo(this.clock.now() + ms)
  }
}

test('a journal that grows is read again within a second, and a journal that does not grow is not read', () => {
  const journal = new TestJournal()
  journal.wait(10_000)
  expect([journal.reads, journal.changes]).toEqual([1, []])
  journal.written = 2
  journal.wait(1_000)
  expect(journal.changes).toMatchObject([{ from: '1-0', id: '1-1', set: { rows: 2 } }])
  expect(journal.followed.view).toMatchObject({ id: '1-1', rows: 2 })
  journal.followed.close()
  journal.written = 3
  journal.wait(10_000)
  expect(journal.reads).toBe(2)
})

test('while a journal cannot be read, the desk shows its last view and tries again to read it', () => {
  const journal = new TestJournal()
  journal.written = 2
  journal.isBroken = true
  journal.wait(2_000)
  expect([journal.failures, journal.followed.view.rows]).toEqual([['busy', 'busy'], 1])
  journal.isBroken = false
  journal.wait(1_000)
  expect(journal.followed.view.rows).toBe(2)
})

test('the desk spends at most a tenth of the time on reading a large journal', () => {
  const journal = new TestJournal()
  journal.takesMs = 2_000
  for (let second = 0; second < 200; second++) {
    journal.written++
    journal.wait(1_000)
  }
  expect(journal.reads).toBeGreaterThan(5)
  expect(journal.reads).toBeLessThan(13)
})

test('the view follows a journal that another process writes, also after a restart of that process', async () => {
  const path = journalPath()
  const config = folder.write(
    'dips.yaml',
    JSON.stringify({
      service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
      bots: [{ name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 8, sizeSol: 0.05 } }],
    }),
  )
  const rows = noisyMarket(600, 1, T0)
  await recordPaperRun(path, config, rows.slice(0, 300), 'cut')
  const reader = openReader(path)
  const clock = new SimulatedClock(0)
  const followed = new FollowedJournal({
    ...{ clock, read: (n: number) => recordedView(reader, 't', n), version: () => reader.version },
    failed: (error) => {
      throw error
    },
  })
  const before = followed.view
  await recordPaperRun(
    path,
    config,
    rows.slice(300).map((row) => ({ ...row, time: row.time + 60_000 })),
    'cut',
  )
  clock.advanceTo(1_000)
  expect([before.id, followed.view.id]).toEqual(['1-0', '2-1'])
  expect(followed.view.time).toBeGreaterThan(before.time)
  followed.close()
  reader.close()
})
