import { expect, test } from 'vitest'
import { HOUR } from '../../src/base/units.ts'
import { ArchiveTimer } from '../../src/live/archive-timer.ts'
import type { Ended } from '../../src/live/own-command.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'

const NOON = Date.UTC(2026, 10, 23, 12)
const MIDNIGHT = Date.UTC(2026, 10, 24)
const NOTHING: Ended = { error: null, stdout: '{"days":[],"kept":[]}', stderr: '' }
const ONE: Ended = {
  error: null,
  stdout: '{"days":[{"day":"2026-11-22","rows":7}],"kept":[{"day":"2026-11-21","why":"an order"}]}',
  stderr: '',
}
const FULL: Ended = { error: { code: 1 }, stdout: '', stderr: 'sluice: no space\n' }

/**
 * Starts the timer at noon. The processes of its archive command end with the given results, one after the other.
 * Further processes end with the last result.
 */
function archiving(results: readonly (Ended | 'never')[]) {
  const clock = new SimulatedClock(NOON)
  const starts: { at: number; args: readonly string[] }[] = []
  const lines: string[] = []
  const alerts: string[] = []
  let kills = 0
  const archive = new ArchiveTimer({
    ...{ journal: '/data/sluice.db', clock, alert: (text: string) => void alerts.push(text) },
    log: {
      info: (fields: unknown, text: string) => void lines.push(`info ${text} ${JSON.stringify(fields)}`),
      error: (text: string) => void lines.push(`error ${text}`),
    } as never,
    run: (args) => {
      const result = results[Math.min(starts.length, results.length - 1)] as Ended | 'never'
      starts.push({ at: clock.now(), args })
      return { ended: result === 'never' ? new Promise(() => {}) : Promise.resolve(result), kill: () => void kills++ }
    },
  })
  const pass = async (until: number): Promise<void> => {
    for (await settled(); clock.nextAt() <= until; await settled()) clock.advanceTo(clock.nextAt())
    clock.advanceTo(until)
  }
  return { starts, lines, alerts, archive, pass, kills: () => kills }
}

const settled = (): Promise<void> => new Promise(setImmediate)

test('Sluice archives the closed days of the tape soon after the start, and ten minutes after each midnight (UTC)', async () => {
  const { starts, lines, pass } = archiving([NOTHING, ONE, NOTHING])
  await pass(MIDNIGHT + 25 * HOUR)
  expect(starts.map(({ at }) => at)).toEqual([NOON + 5_000, MIDNIGHT + 600_000, MIDNIGHT + 24 * HOUR + 600_000])
  expect(starts[0]?.args).toEqual(['tape', 'archive', '--journal', '/data/sluice.db', '--json'])
  expect(lines).toEqual([`info tape: market data of 1 closed day archived ${ONE.stdout}`])
})

test('after a failure to archive the tape, Sluice sends one alert and tries again every hour', async () => {
  const { starts, lines, alerts, pass } = archiving([FULL, FULL, ONE, FULL])
  await pass(MIDNIGHT + HOUR)
  const failure = 'the archive of the tape failed: no space; Sluice tries again every hour, and trading continues'
  expect(starts.map(({ at }) => at)).toEqual([
    NOON + 5_000,
    NOON + 5_000 + HOUR,
    NOON + 5_000 + 2 * HOUR,
    MIDNIGHT + 600_000,
  ])
  expect(alerts).toEqual([failure, failure])
  expect(lines.filter((line) => line === `error ${failure}`)).toHaveLength(3)
})

test('the alert about a failed archive names the signal that killed its process', async () => {
  const { alerts, pass } = archiving([{ error: { code: null, signal: 'SIGKILL' }, stdout: '', stderr: '' }])
  await pass(NOON + 6_000)
  expect(alerts).toEqual([expect.stringContaining('failed: its process ended with SIGKILL; Sluice tries again')])
})

test.each<[string, Ended['error']]>([
  ['Ctrl-C ended the archive command as well', { signal: 'SIGINT' }],
  ['another archive command was running', { code: 4 }],
])('Sluice reports no failure to archive the tape if %s', async (_what, error) => {
  const { starts, lines, alerts, pass } = archiving([{ error, stdout: '', stderr: 'sluice: in use' }, ONE])
  await pass(NOON + HOUR + 6_000)
  expect(alerts).toEqual([])
  expect(lines).toEqual([expect.stringContaining('1 closed day archived')])
  expect(starts.map(({ at }) => at)).toEqual([NOON + 5_000, NOON + 5_000 + HOUR])
})

test('`close` kills the running archive command and starts no other one', async () => {
  const { starts, archive, pass, kills } = archiving(['never'])
  await pass(NOON + HOUR)
  archive.close()
  await pass(MIDNIGHT + 2 * HOUR)
  expect([starts.length, kills()]).toEqual([1, 1])
})
