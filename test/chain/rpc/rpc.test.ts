import { beforeEach, expect, test } from 'vitest'
import type { HttpRequest, HttpResult } from '../../../src/base/machine.ts'
import { openRpc, openRpcs } from '../../../src/chain/rpc/rpc.ts'
import { RPC_BEHIND, RPC_OTHER_CLUSTER, RPC_UNREACHABLE } from '../../../src/chain/rpc/rpc-errors.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { settled } from '../scripted-chain.ts'

const FIRST = 'https://one.example/?api-key=hush'
const SECOND = 'https://two.example/hush'

let clock: SimulatedClock
let requests: HttpRequest[]
let answers: Record<string, (id: number) => HttpResult | Promise<HttpResult>>
let paced: string[]

beforeEach(() => {
  clock = new SimulatedClock(1_000_000)
  requests = []
  paced = []
  answers = { [FIRST]: result('first'), [SECOND]: result('second') }
})

const reply =
  (body: object, status = 200, headers = {}) =>
  (id: number): HttpResult => ({
    kind: 'answered',
    status,
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id, ...body }),
  })
const result = (value: unknown) => reply({ result: value })
const parts = (urls = [FIRST, SECOND]): Parameters<typeof openRpc>[0] => ({
  http: async (request) => {
    requests.push(request)
    return (answers[request.url] as (id: number) => HttpResult)(JSON.parse(request.body ?? '').id)
  },
  clock,
  urls,
  pace: (url, { method }, run) => {
    paced.push(`${url === FIRST ? 1 : 2} ${method}`)
    return run()
  },
})
const open = (urls?: string[]) => openRpc(parts(urls))

test("a call waits for its turn under the provider's rate and is sent as JSON-RPC", async () => {
  expect(await open()('getSlot', [{ commitment: 'confirmed' }])).toEqual({ ok: true, value: 'first' })
  expect(requests[0]).toMatchObject({ method: 'POST', url: FIRST, headers: { 'content-type': 'application/json' } })
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: 'getSlot',
    params: [{ commitment: 'confirmed' }],
  })
  expect(paced).toEqual(['1 getSlot'])
})

test('null is a valid result', async () => {
  answers[FIRST] = result(null)
  expect(await open()('getTransaction', ['x'])).toEqual({ ok: true, value: null })
})

test('an error that the call itself caused is returned without a retry', async () => {
  answers[FIRST] = reply({ error: { code: -32_602, message: 'Invalid params' } })
  expect(await open()('getSlot', [])).toEqual({ ok: false, code: -32_602, message: 'Invalid params' })
  expect(requests).toHaveLength(1)
})

test.each<[string, (id: number) => HttpResult]>([
  ['a provider that cannot be reached', () => ({ kind: 'unsent', reason: 'ECONNREFUSED' })],
  ['a provider that does not send its answer', () => ({ kind: 'lost', reason: 'ECONNRESET' })],
  ['a provider that answers 429', reply({}, 429)],
  ['a provider that answers with HTML', () => ({ kind: 'answered', status: 502, headers: {}, body: '<html>' })],
  [
    'a provider that sends the answer to another call',
    () => ({ kind: 'answered', status: 200, headers: {}, body: '{"id":99,"result":1}' }),
  ],
  ['a provider that answers null', () => ({ kind: 'answered', status: 200, headers: {}, body: 'null' })],
  ['a provider that is unhealthy', reply({ error: { code: -32_005, message: 'Node is behind by 42 slots' } })],
])('%s is paused, and the next provider is called', async (_name, bad) => {
  const rpc = open()
  answers[FIRST] = bad
  expect(await rpc('getSlot', [])).toEqual({ ok: true, value: 'second' })
  answers[FIRST] = result('first')
  expect(await rpc('getSlot', [])).toEqual({ ok: true, value: 'second' })
  clock.advanceTo(clock.now() + 1_000)
  expect(await rpc('getSlot', [])).toEqual({ ok: true, value: 'first' })
  expect(requests.map(({ url }) => (url === FIRST ? 1 : 2))).toEqual([1, 2, 2, 1])
})

test('the pauses of a provider become longer with consecutive failures, and a Retry-After header is respected', async () => {
  const rpc = open([FIRST])
  const rests: number[] = []
  answers[FIRST] = () => ({ kind: 'lost', reason: 'x' })
  for (let count = 0; count < 9; count++) {
    await rpc('getSlot', [])
    const from = clock.now()
    const before = requests.length
    while (requests.length === before) {
      clock.advanceTo(clock.now() + 500)
      if (clock.now() - from > 100_000) break
      answers[FIRST] = () => ({ kind: 'lost', reason: 'x' })
      await rpc('getSlot', [])
    }
    rests.push(clock.now() - from)
    clock.advanceTo(clock.now() + 60_000)
  }
  expect(rests.slice(0, 3)).toEqual([1_000, 4_000, 16_000])
  expect(Math.max(...rests)).toBe(60_000)
  answers[FIRST] = reply({}, 429, { 'retry-after': '7' })
  await rpc('getSlot', [])
  answers[FIRST] = result('back')
  clock.advanceTo(clock.now() + 6_999)
  expect((await rpc('getSlot', [])).ok).toBe(false)
  clock.advanceTo(clock.now() + 1)
  expect(await rpc('getSlot', [])).toEqual({ ok: true, value: 'back' })
})

test('the next provider is called if the first does not answer within 10 s', async () => {
  answers[FIRST] = () => new Promise(() => {})
  const answer = open()('getSlot', [])
  await settled()
  clock.advanceTo(clock.now() + 10_000)
  expect(await answer).toEqual({ ok: true, value: 'second' })
})

test('if no provider answers, the error contains no address', async () => {
  answers = { [FIRST]: () => ({ kind: 'unsent', reason: `connect ${FIRST}` }), [SECOND]: reply({}, 500) }
  const rpc = open()
  for (let round = 0; round < 2; round++) {
    const answer = await rpc('getSlot', [])
    expect(answer).toMatchObject({ ok: false, code: RPC_UNREACHABLE })
    expect(JSON.stringify(answer)).not.toMatch(/hush|example/)
  }
  expect(await open([])('getSlot', [])).toMatchObject({ ok: false, code: RPC_UNREACHABLE })
})

test('a provider that is behind the requested Solana slot is not paused for other calls', async () => {
  const behind = reply({ error: { code: RPC_BEHIND, message: 'Minimum context slot has not been reached' } })
  const rpc = open()
  answers[FIRST] = behind
  expect(await rpc('getBalance', [])).toEqual({ ok: true, value: 'second' })
  answers[FIRST] = result('first')
  expect(await rpc('getSlot', [])).toEqual({ ok: true, value: 'first' })
  answers = { [FIRST]: behind, [SECOND]: behind }
  expect(await rpc('getBalance', [])).toMatchObject({ ok: false, code: RPC_BEHIND })
})

test.each([
  [-32_001, 'Block 5 cleaned up, does not exist on node. First available block: 9'],
  [-32_004, 'Block not available for slot 5'],
  [-32_007, 'Slot 5 was skipped, or missing due to ledger jump to recent snapshot'],
  [-32_009, 'Slot 5 was skipped, or missing in long-term storage'],
  [-32_014, 'Block status not yet available for slot 5'],
])(
  'the error %i concerns the requested Solana slot, so the next provider is called, and the first one is not paused',
  async (code, message) => {
    const rpc = open()
    answers[FIRST] = reply({ error: { code, message } })
    expect(await rpc('getBlockTime', [5])).toEqual({ ok: true, value: 'second' })
    answers[FIRST] = result('first')
    expect(await rpc('getBalance', [])).toEqual({ ok: true, value: 'first' })
    answers = { [FIRST]: reply({ error: { code, message } }), [SECOND]: () => ({ kind: 'lost', reason: 'x' }) }
    expect(await rpc('getBlockTime', [5])).toEqual({ ok: false, code, message })
  },
)

test('a provider that serves another chain gets no call except for its genesis hash', async () => {
  const rpcs = openRpcs(parts())
  rpcs.pin('second')
  expect(await rpcs.each[0]?.('getBalance', [])).toMatchObject({ ok: false, code: RPC_OTHER_CLUSTER })
  expect(await rpcs.each[0]?.('getBalance', [])).toMatchObject({ ok: false, code: RPC_OTHER_CLUSTER })
  expect(await rpcs.each[1]?.('getBalance', [])).toEqual({ ok: true, value: 'second' })
  expect(requests.map(({ url, body }) => [url === FIRST ? 1 : 2, JSON.parse(body ?? '').method])).toEqual([
    [1, 'getGenesisHash'],
    [2, 'getGenesisHash'],
    [2, 'getBalance'],
  ])
})

test('the next provider is called if the first serves another chain', async () => {
  const rpcs = openRpcs(parts())
  rpcs.pin('second')
  expect(await rpcs.any('getBalance', [])).toEqual({ ok: true, value: 'second' })
})

test('a provider whose chain is unknown is asked again for its genesis hash', async () => {
  const rpcs = openRpcs(parts([FIRST]))
  rpcs.pin('first')
  answers[FIRST] = () => ({ kind: 'lost', reason: 'x' })
  expect((await rpcs.any('getBalance', [])).ok).toBe(false)
  answers[FIRST] = result('first')
  clock.advanceTo(clock.now() + 1_000)
  expect(await rpcs.any('getBalance', [])).toEqual({ ok: true, value: 'first' })
})
