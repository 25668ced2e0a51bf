import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Http, HttpResult } from '../../src/base/machine.ts'
import { shownAs } from '../../src/config/secret.ts'
import type { Input } from '../../src/engine/messages.ts'
import type { Alert } from '../../src/live/alerts.ts'
import { type PollParts, SourcePoll } from '../../src/live/source-polls.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'

const answered = (body: string, status = 200): HttpResult => ({ kind: 'answered', status, headers: {}, body })
const fear = (value: unknown): HttpResult => answered(JSON.stringify({ value, other: 1 }))

/** Polls a source every 10 s. The source gives the answers one after the other, and the last answer repeats. */
function polled(answers: readonly (HttpResult | Promise<HttpResult>)[]) {
  const clock = new SimulatedClock(1_000)
  const asked: number[] = []
  const posted: Input[] = []
  const alerts: Alert[] = []
  const lines: string[] = []
  const http: Http = async () => {
    asked.push(clock.now())
    return (await answers[Math.min(asked.length, answers.length) - 1]) as HttpResult
  }
  const say = (_fields: unknown, text: string): number => lines.push(text)
  const parts = {
    ...{ clock, redact: (text: string) => text.replaceAll('secret', '***'), log: { info: say, warn: say } },
    ...{ post: (input: Input) => posted.push(input), alert: (alert: Alert) => alerts.push(alert) },
  } as unknown as PollParts
  const source = { bot: 'a', name: 'fear', url: shownAs('env:X', () => 'https://fear.invalid/'), everyMs: 10_000 }
  const poll = new SourcePoll({ ...source, schema: z.object({ value: z.number() }) }, http, parts)
  const stop = poll.start()
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 1_000) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advanceTo(clock.now() + 1_000)
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { poll, stop, pass, asked, posted, alerts, lines }
}

test('a source is requested at once and then at its interval, and the input for an unchanged answer has no data', async () => {
  const { pass, asked, posted, stop } = polled([fear(1), fear(1), fear(2)])
  await pass(30_000)
  expect(asked).toEqual([1_000, 11_000, 21_000, 31_000])
  const input = { kind: 'source', bot: 'a', name: 'fear' }
  expect(posted).toEqual([{ ...input, data: { value: 1 } }, input, { ...input, data: { value: 2 } }, input])
  stop()
  await pass(30_000)
  expect(asked).toHaveLength(4)
})

test.each<[string, HttpResult, string]>([
  ['another shape', fear('high'), 'value: expected a number, found "high"'],
  ['no JSON', answered('<html>'), 'the answer is not JSON'],
  ['an error status', answered('{"value": 1}', 503), 'HTTP 503'],
  [
    'a redirect',
    answered('', 302),
    'HTTP 302: the address redirects, and Sluice does not follow redirects; write the final address',
  ],
  ['no answer', { kind: 'lost', reason: 'no answer within 10000 ms' }, 'no answer within 10000 ms'],
])(
  'a wrong answer of a source (%s) is logged, causes an alert after five in a row, and never reaches the engine',
  async (_what, wrong, problem) => {
    const { poll, pass, posted, alerts, lines } = polled([fear(1), ...Array(7).fill(wrong), fear(2)])
    await pass(40_000)
    expect(poll.problem).toBe(`source fear of a: ${problem} (4 failures in a row)`)
    expect(alerts).toEqual([])
    await pass(30_000)
    const text = `the source fear returned no valid answer: ${problem}; the strategy keeps its last data`
    expect(alerts).toMatchObject([{ kind: 'source-broken', bot: 'a', text: `${text} (5 times in a row)` }])
    await pass(10_000)
    expect(lines).toEqual([text, 'the source answers again, after 7 failures'])
    expect(posted).toMatchObject([{ data: { value: 1 } }, { data: { value: 2 } }])
    expect(poll.problem).toBeUndefined()
  },
)

test('a source that answers late is not requested again before it has answered', async () => {
  const late = Promise.withResolvers<HttpResult>()
  const { pass, asked, posted } = polled([late.promise, fear(2)])
  await pass(25_000)
  expect(asked).toEqual([1_000])
  late.resolve(fear(1))
  await pass(10_000)
  expect(asked).toEqual([1_000, 31_000])
  expect(posted).toMatchObject([{ data: { value: 1 } }, { data: { value: 2 } }])
})
