import { expect, test } from 'vitest'
import type { Sink } from '../../src/engine/ports.ts'
import type { Block } from '../../src/market/block.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { type TapeItem, TapeSource } from '../../src/simulation/tape-source.ts'
import { blockOf } from '../support/market-rows.ts'

const rowsAt = (...times: number[]): TapeItem => {
  const block: Block = blockOf(times.map((time) => ({ time, mint: 'mint', price: 1 })))
  return { kind: 'rows', block, from: 0, to: times.length }
}

/** Returns a sink that logs the time of each row. Rows at the times `stops` have outputs: the sink then calls `act` and
 *  accepts no further row of the block. */
function noting(clock: SimulatedClock, log: string[], stops: number[] = [], act = () => {}): Sink {
  return {
    rows(block, from, to) {
      for (let row = from; row < to; row++) {
        const time = block.time[row] as number
        log.push(`row ${time}`)
        if (!stops.includes(time)) continue
        clock.advanceTo(time)
        act()
        return row + 1
      }
      return to
    },
    post: () => {},
  }
}

test("timers due before or at a row's time fire before the row", () => {
  const clock = new SimulatedClock(5)
  const log: string[] = []
  for (const ms of [5, 10, 15, 40]) clock.after(ms, () => log.push(`timer ${clock.now()}`))
  const tape = new TapeSource([rowsAt(10, 12, 15, 20), rowsAt(20, 21, 30)], clock)
  tape.start(noting(clock, log))
  expect(tape.run()).toBe(7)
  const expected = 'timer 10, row 10, row 12, timer 15, row 15, timer 20, row 20, row 20, row 21, row 30, timer 45'
  expect(log.join(', ')).toBe(expected)
})

test('while a tape is played, a timer that a row sets fires between the following rows', () => {
  const clock = new SimulatedClock(0)
  const log: string[] = []
  const tape = new TapeSource([rowsAt(1, 2, 3, 4, 5, 6)], clock)
  tape.start(noting(clock, log, [2], () => clock.after(2, () => log.push('timer'))))
  tape.run()
  expect(log.join(', ')).toBe('row 1, row 2, row 3, timer, row 4, row 5, row 6')
})

test('a tape delivers rows in groups that are as long as possible without a timer in between', () => {
  const clock = new SimulatedClock(0)
  const runs: [number, number][] = []
  const tape = new TapeSource([rowsAt(...Array.from({ length: 1_000 }, (_, index) => index))], clock)
  clock.after(300, () => {})
  clock.after(300, () => {})
  tape.start({
    rows(_block, from, to) {
      runs.push([from, to])
      return to
    },
    post: () => {},
  })
  tape.run()
  expect(runs).toEqual([
    [0, 300],
    [300, 1_000],
  ])
})

test('a tape posts other inputs at their time, after the timers that are due by then', () => {
  const clock = new SimulatedClock(0)
  const log: string[] = []
  const down: TapeItem = { kind: 'input', time: 15, input: { kind: 'feed', status: 'down', confirmed: [] } }
  clock.after(15, () => log.push('timer'))
  const tape = new TapeSource([rowsAt(10), down, rowsAt(15, 20)], clock)
  tape.start({ ...noting(clock, log), post: ({ kind }) => log.push(`${kind} ${clock.now()}`) })
  expect(tape.run()).toBe(3)
  expect(log.join(', ')).toBe('row 10, timer, feed 15, row 15, row 20')
})

test('a tape plays only the requested rows of a block', () => {
  const clock = new SimulatedClock(0)
  const log: string[] = []
  const tape = new TapeSource([{ ...rowsAt(1, 2, 3, 4), from: 1, to: 3 } as TapeItem], clock)
  tape.start(noting(clock, log))
  expect(tape.run()).toBe(2)
  expect(log).toEqual(['row 2', 'row 3'])
})

test('open attempts end after the last row of a tape', () => {
  const clock = new SimulatedClock(0)
  const log: string[] = []
  const tape = new TapeSource([rowsAt(100)], clock)
  tape.start(noting(clock, log, [100], () => clock.after(100_000, () => log.push('timer'))))
  tape.run()
  expect(log).toEqual(['row 100', 'timer'])
})

test('a stop of a tape takes effect between two groups of rows', async () => {
  const clock = new SimulatedClock(0)
  const log: string[] = []
  const tape = new TapeSource([rowsAt(1, 2), rowsAt(3, 4)], clock)
  const stop = tape.start(noting(clock, log, [1], () => void stop()))
  expect(tape.run()).toBe(1)
  expect(log).toEqual(['row 1'])
})

test('playing a tape without rows sends no rows', () => {
  const tape = new TapeSource([rowsAt()], new SimulatedClock(0))
  tape.start(noting(new SimulatedClock(), []))
  expect(tape.run()).toBe(0)
})

test('playing refuses an invalid tape or sink', () => {
  const clock = new SimulatedClock(0)
  expect(() => new TapeSource([], clock).run()).toThrow('was not started')
  const backwards = new TapeSource([rowsAt(10), rowsAt(9)], clock)
  backwards.start(noting(clock, []))
  expect(() => backwards.run()).toThrow('the time of the simulated clock cannot go back')
  const stuck = new TapeSource([rowsAt(200_000)], clock)
  stuck.start({ rows: (_block, from) => from, post: () => {} })
  expect(() => stuck.run()).toThrow('did not accept row')
})
