import { expect, test } from 'vitest'
import type { HttpResult } from '../../src/base/machine.ts'
import { Heartbeat } from '../../src/live/heartbeat.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'

const answered = (status: number): HttpResult => ({ kind: 'answered', status, headers: {}, body: '' })
const lost: HttpResult = { kind: 'lost', reason: 'socket hang up' }

/** Sends a heartbeat every 60 s. The requests receive the answers one after the other; the last answer repeats. */
function beating(answers: readonly (HttpResult | 'never')[]) {
  const clock = new SimulatedClock(0)
  const beats: { at: number; body: string | undefined }[] = []
  const lines: string[] = []
  const heartbeat = new Heartbeat({
    ...{ url: 'https://beats.example/secret', everyMs: 60_000, clock },
    http: (request) => {
      const answer = answers[Math.min(beats.length, answers.length - 1)] as HttpResult | 'never'
      beats.push({ at: clock.now(), body: request.body })
      return answer === 'never' ? new Promise(() => {}) : Promise.resolve(answer)
    },
    log: {
      info: (fields: unknown, text: string) => lines.push(`info ${text} ${JSON.stringify(fields)}`),
      warn: (text: string) => lines.push(`warn ${text}`),
    } as never,
  })
  const pass = async (ms: number): Promise<void> => {
    const end = clock.now() + ms
    for (await settled(); clock.nextAt() <= end; await settled()) clock.advanceTo(clock.nextAt())
    clock.advanceTo(end)
  }
  return { beats, lines, pass, heartbeat }
}

const settled = (): Promise<void> => new Promise(setImmediate)

test('a heartbeat is sent at the start and then at each interval, and contains nothing about the bots', async () => {
  const { beats, lines, pass } = beating([answered(200)])
  await pass(180_000)
  expect(beats.map(({ at }) => at)).toEqual([0, 60_000, 120_000, 180_000])
  expect(new Set(beats.map(({ body }) => body))).toEqual(new Set(['{"source":"sluice"}']))
  expect(lines).toEqual([])
})

test('failures of the heartbeat are logged once, and so is the next success, and no line contains the address', async () => {
  const { lines, pass } = beating([answered(200), lost, answered(404), answered(302), answered(204), lost])
  await pass(5 * 60_000)
  expect(lines).toEqual([
    'warn a heartbeat failed: socket hang up; Sluice tries again every 60 s',
    'info the heartbeat works again {"failures":3}',
    'warn a heartbeat failed: socket hang up; Sluice tries again every 60 s',
  ])
  expect(lines.join()).not.toContain('secret')
})

test('while a heartbeat has no answer, no second heartbeat is sent', async () => {
  const { beats, pass } = beating(['never'])
  await pass(600_000)
  expect(beats).toHaveLength(1)
})

test('after the stop, no heartbeat is sent and nothing is logged', async () => {
  const { beats, lines, pass, heartbeat } = beating([lost])
  heartbeat.stop()
  await pass(600_000)
  expect({ beats: beats.length, lines }).toEqual({ beats: 1, lines: [] })
})
