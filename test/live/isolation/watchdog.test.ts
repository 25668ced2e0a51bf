import { expect, test } from 'vitest'
import { Cell } from '../../../src/live/isolation/engine-thread.ts'
import { type ThreadUsage, threadId, threadUsage, Watchdog } from '../../../src/live/isolation/watchdog.ts'

/** Returns the reports of a watchdog about a thread after this many polls. `show` sets the state before each poll. */
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
  ['a thread that waits for work is never reported', 1_000, () => {}, []],
  ['a thread that makes progress is not reported', 1_000, (cells, look) => cells.set([0, look >> 3, 500]), []],
  [
    'a thread that makes no progress is reported once, with the bot whose handler runs',
    200,
    (cells) => cells.set([2, 5, 500]),
    ['2 500'],
  ],
  ['each stage of the work has its own deadline', 110, (cells) => cells.set([1, 5, 2_000]), ['1 2000']],
  [
    'the report names the bot that was seen most often',
    40,
    (cells, look) => cells.set([look % 3 === 0 ? 1 : 0, 5, 500]),
    ['0 500'],
  ],
  ['the report names no bot if none was seen', 40, (cells) => cells.set([-1, 5, 500]), ['-1 500']],
  [
    'bots that were seen before the last progress do not count',
    60,
    (c, look) => c.set([look < 20 ? 1 : 2, look < 20 ? 5 : 6, 500]),
    ['2 500'],
  ],
])('the watchdog of a thread: %s', (_name, looks, show, said) => {
  expect(Object.values(Cell)).toEqual([0, 1, 2, 3])
  expect(watched(looks, show)).toEqual(said)
})

const stuck = (cells: Int32Array) => cells.set([2, 5, 500])

test.each<[string, (look: number) => ThreadUsage, string[]]>([
  [
    'a thread that runs all the time is reported at its deadline',
    (look) => ({ cpuMs: look * 20, sleeps: false }),
    ['2 500'],
  ],
  ['a thread that sleeps until its deadline is reported as well', () => ({ cpuMs: 70, sleeps: true }), ['2 500']],
  [
    'a thread that gets little processor time is reported later',
    (look) => ({ cpuMs: look * 5, sleeps: false }),
    ['2 1020'],
  ],
  [
    'a thread that gets hardly any processor time is reported in the end',
    () => ({ cpuMs: 70, sleeps: false }),
    ['2 5000'],
  ],
])('the watchdog uses the processor time that the system reports: %s', (_name, usageOf, said) => {
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
