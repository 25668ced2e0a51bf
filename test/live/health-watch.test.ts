import { expect, test } from 'vitest'
import type { HttpResult } from '../../src/base/machine.ts'
import { HealthWatch } from '../../src/live/health-watch.ts'

const answered = (status: number): HttpResult => ({ kind: 'answered', status, headers: {}, body: '' })
const refused: HttpResult = { kind: 'unsent', reason: 'connect ECONNREFUSED' }

async function watched(answers: readonly HttpResult[], misses = 3): Promise<{ told: string[]; isUp: boolean[] }> {
  let now = 0
  const told: string[] = []
  const isUp: boolean[] = []
  const left = [...answers]
  const watch = new HealthWatch({
    ...{ url: 'https://desk.example/health', misses, now: () => now },
    http: async () => left.shift() as HttpResult,
    tell: (text) => told.push(text),
  })
  for (; left.length > 0; now += 30_000) {
    await watch.look()
    isUp.push(watch.state.isUp)
  }
  return { told, isUp }
}

test('`watch` raises one alarm after three requests in a row without an answer, and reports the next answer once', async () => {
  const { told, isUp } = await watched([
    answered(200),
    refused,
    refused,
    refused,
    refused,
    answered(200),
    answered(200),
  ])
  expect(told).toEqual([
    'desk.example is down: connect ECONNREFUSED, 3 times in a row. Its positions may be without exits: log in to that machine and run `sluice status`',
    'desk.example answers again, after 2m00s',
  ])
  expect(isUp).toEqual([true, true, true, false, false, true, true])
})

test('`watch` raises no alarm after a single request without an answer', async () => {
  const { told } = await watched([answered(200), refused, refused, answered(200), refused, refused, answered(200)])
  expect(told).toEqual([])
})

test.each([
  [503, 'the process answers, but its bots do not run (503)'],
  [302, 'it answers with 302'],
  [404, 'it answers with 404'],
])('for `watch`, an answer with status %i counts as no answer', async (status, reason) => {
  const { told } = await watched([answered(status)], 1)
  expect(told).toEqual([expect.stringContaining(`desk.example is down: ${reason}`)])
})
