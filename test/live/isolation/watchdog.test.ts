import { expect, test } from 'vitest'
import { Cell } from '../../../src/live/isolation/engine-thread.ts'
import { type ThreadUsage, threadId, threadUsage, Watchdog } from '../../../src/live/isolation/watchdog.ts'

/** Returns the verdict of a watchdog on a thread after this many polls. `show` sets the state before each poll. */
function watched(
  looks: number,
  show: (cells: Int32Array, look: number) => void,
  usageOf: (look: number) => ThreadUsage | undefined = () => undefined,
): string[] {
  const cells = new Int32Array(new SharedArrayBuffer(16)).fill(-1, 0, 1)
  const said: string[] = []
  let at = 0
  const watchdog = new Watchdog(
    cells,
    (bot, ms) => void said.push(`${bot} ${ms}`),
    () => usageOf(at++),
  )
  for (let look = 0; look < looks; look++) {
    show(cells, look)
    watchdog.look()
  }
  return said
}

test.each<[string, number, (cells: Int32Array, look: number) => void, string[]]>([
  ['one that waits for work is never late', 1_000, () => {}, []],
  ['one that makes progress is not', 1_000, (cells, look) => cells.set([0, look >> 3, 500]), []],
  [
    'one that makes none is, once, and the bot whose handler runs is named',
    200,
    (cells) => cells.set([2, 5, 500]),
    ['2 500'],
  ],
  ['each stage has a deadline of its own', 110, (cells) => cells.set([1, 5, 2_000]), ['1 2000']],
  ['the bot that is seen most is named', 40, (cells, look) => cells.set([look % 3 === 0 ? 1 : 0, 5, 500]), ['0 500']],
  ['nobody is, where none of them was seen', 40, (cells) => cells.set([-1, 5, 500]), ['-1 500']],
  [
    'what was seen before the last progress does not count',
    60,
    (c, look) => c.set([look < 20 ? 1 : 2, look < 20 ? 5 : 6, 500]),
    ['2 500'],
  ],
])('%s', (_name, looks, show, said) => {
  expect(Object.values(Cell)).toEqual([0, 1, 2, 3])
  expect(watched(looks, show)).toEqual(said)
})

const stuck = (cells: Int32Array) => cells.set([2, 5, 500])

test.each<[string, (look: number) => ThreadUsage, string[]]>([
  ['one that runs all the time is late at its deadline', (look) => ({ cpuMs: look * 20, sleeps: false }), ['2 500']],
  ['one that sleeps through it, too', () => ({ cpuMs: 70, sleeps: true }), ['2 500']],
  [
    'one that is hardly let run is given time until it has run',
    (look) => ({ cpuMs: look * 5, sleeps: false }),
    ['2 1020'],
  ],
  ['but not for ever', () => ({ cpuMs: 70, sleeps: false }), ['2 5000']],
])('with the thread usage of the system: %s', (_name, usageOf, said) => {
  expect(watched(400, stuck, usageOf)).toEqual(said)
})

test.runIf(process.platform === 'linux')('Linux reports how long a thread has run', () => {
  const id = threadId()
  const before = threadUsage(id)?.cpuMs as number
  while ((threadUsage(id)?.cpuMs as number) === before);
  expect(threadUsage(id)?.cpuMs).toBeGreaterThan(before)
  expect(threadUsage(id)?.sleeps).toBe(false)
  expect(threadUsage(0)).toBeUndefined()
})
