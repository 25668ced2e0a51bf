import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CHAIN_DEFAULTS } from '../../src/config/default-values.ts'
import { IoQueue, MessagePacer, Pace, RpcPacer } from '../../src/live/pacing.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

/** Records the names and times of calls. Times are ms from now, rounded down to a multiple of `step`, because the
 *  library Bottleneck starts each call some ms late. */
function notes(step = 50) {
  const start = Date.now()
  const done: [string, number][] = []
  const note = (name: string) => async () => void done.push([name, Math.floor((Date.now() - start) / step) * step])
  return { done, note }
}

test('messages to the service are sent at equal intervals, by priority, at the current rate of the plan', async () => {
  const { done, note } = notes(20)
  const pacer = new MessagePacer(50)
  for (const name of ['a', 'b', 'c', 'd']) void pacer.run(note(name))
  void pacer.run(note('ping'), Pace.first)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(done.map(([name]) => name)).toEqual(['a', 'b', 'ping', 'c', 'd']) // b has already run
  expect(done.map(([, at]) => at)).toEqual([0, 20, 40, 60, 80])
  pacer.setPerSecond(2)
  done.length = 0
  for (const name of ['a', 'b']) void pacer.run(note(name))
  await vi.advanceTimersByTimeAsync(5_000)
  expect((done[1]?.[1] ?? 0) - (done[0]?.[1] ?? 0)).toBeGreaterThanOrEqual(500)
})

test('a paced call that fails rejects the promise of its caller', async () => {
  const sent = new MessagePacer(50).run(() => Promise.reject(new Error('closed')))
  const refused = expect(sent).rejects.toThrow('closed')
  await vi.advanceTimersByTimeAsync(100)
  await refused
})

test.each([
  ['eight calls a second for an RPC', 'https://rpc.example/key', ['getSlot', 'getSlot', 'getBalance'], [0, 100, 250]],
  [
    'one sent transaction a second for an RPC',
    'https://rpc.example/key',
    ['sendTransaction', 'sendTransaction', 'getSlot'],
    [0, 100, 1_000],
  ],
  [
    'four calls of a method in ten seconds for a public RPC',
    'https://api.devnet.solana.com',
    ['getSlot', 'getSlot', 'getBalance'],
    [0, 100, 2_500],
  ],
])('the default rate is %s', async (_what, url, methods, times) => {
  const { done, note } = notes()
  const pacer = new RpcPacer(CHAIN_DEFAULTS)
  for (const method of methods) void pacer.run(url, method, note(method))
  await vi.advanceTimersByTimeAsync(20_000)
  expect(done.map(([, at]) => at)).toEqual(times)
})

test('calls to different RPC providers do not wait for each other', async () => {
  const { done, note } = notes()
  const pacer = new RpcPacer({ requestsPerSecond: 1, sendsPerSecond: 1 })
  void pacer.run('https://a.example', 'getSlot', note('a'))
  void pacer.run('https://b.example', 'getSlot', note('b'))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(done.map(([, at]) => at)).toEqual([0, 0])
})

test('the number of concurrent RPC calls is limited, and sent transactions come before other calls', async () => {
  const { done, note } = notes()
  const queue = new IoQueue(1)
  const busy = queue.run(Pace.history, note('under way'))
  for (const kind of ['history', 'audit', 'normal', 'fill', 'status', 'first'] as const)
    void queue.run(Pace[kind], note(kind))
  await busy
  await queue.idle()
  expect(done.map(([name]) => name)).toEqual(['under way', 'first', 'status', 'fill', 'normal', 'audit', 'history'])
})
