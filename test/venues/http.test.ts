import { channel } from 'node:diagnostics_channel'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import type { HttpResult } from '../../src/base/machine.ts'
import { openHttp } from '../../src/venues/http.ts'

type Play = (socket: Socket, text: string) => void

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

const answer = (body: string, status = '200 OK', headers = ''): string =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`

/**
 * Starts a server that calls a handler for each connection: `connect` when the connection opens, and `request` when the
 * first bytes of a request arrive.
 */
async function serve(parts: {
  connect?: (socket: Socket) => void
  request?: Play
}): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    parts.connect?.(socket)
    socket.on('data', (data) => {
      requests.push(data.toString())
      parts.request?.(socket, data.toString())
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  open.push({
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  })
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}/api/trade/buy`, requests }
}

function post(url: string, options: { timeoutMs?: number; connectTimeoutMs?: number } = {}): Promise<HttpResult> {
  const { http, close } = openHttp(options)
  open.push({ close })
  return http({ method: 'POST', url, headers: { authorization: 'Bearer k' }, body: '{"amount":1}' })
}

/**
 * Delays every timer of `heldMs` until the returned function is called, as on a suspended machine. The timers then fire
 * before the client writes its next byte.
 */
function heldBack(heldMs: number): () => void {
  const after = globalThis.setTimeout
  const held: (() => void)[] = []
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms?: number) => {
    if (ms === heldMs) held.push(run)
    return after(run, ms === heldMs ? 2 ** 30 : ms)
  }) as typeof setTimeout)
  onTestFinished(() => spy.mockRestore())
  return () => {
    for (const run of held.splice(0)) run()
  }
}

test('the HTTP client returns an answer with its status, its headers and its complete body', async () => {
  const { url, requests } = await serve({
    request: (socket) => socket.write(answer('{"ok":1}', '429 Slow', 'retry-after: 3\r\n')),
  })
  expect(await post(url)).toMatchObject({
    kind: 'answered',
    status: 429,
    headers: { 'retry-after': '3' },
    body: '{"ok":1}',
  })
  expect(requests[0]).toMatch(/^POST \/api\/trade\/buy HTTP\/1\.1\r\n/)
  expect(requests[0]).toContain('authorization: Bearer k')
})

test.each<[string, Parameters<typeof serve>[0]]>([
  ['the connection ends after the head of the request', { request: (socket) => socket.destroy() }],
  ['the connection ends with a reset', { request: (socket) => socket.resetAndDestroy() }],
  ['the connection ends inside the head of the answer', { request: (socket) => socket.end('HTTP/1.1 200 O') }],
  [
    'the connection ends inside the body of the answer',
    { request: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"sig') },
  ],
  ['the connection ends after bytes that are not HTTP', { request: (socket) => socket.end('hello\r\n\r\n') }],
])('an HTTP request has the result lost if %s', async (_name, parts) => {
  const { url } = await serve(parts)
  expect(await post(url)).toMatchObject({ kind: 'lost' })
})

test('an HTTP request whose connection is refused has the result unsent', async () => {
  const { url } = await serve({})
  await open.pop()?.close()
  expect(await post(url)).toMatchObject({ kind: 'unsent' })
})

test('an HTTP request to an unknown host name has the result unsent', async () => {
  expect(await post('http://host.invalid/api')).toMatchObject({ kind: 'unsent' })
})

test('an HTTP request to a server with an untrusted certificate or without TLS has the result unsent', async () => {
  const { url } = await serve({ connect: (socket) => socket.end('no TLS here\r\n') })
  expect(await post(url.replace('http:', 'https:'))).toMatchObject({ kind: 'unsent' })
})

test("a connection that closes at once never gives the result unsent after the request's head was written", async () => {
  let written = 0
  const onHead = (): void => {
    written++
  }
  channel('undici:client:sendHeaders').subscribe(onHead)
  const { url } = await serve({ connect: (socket) => socket.destroy() })
  const result = await post(url)
  channel('undici:client:sendHeaders').unsubscribe(onHead)
  expect(result.kind).toBe(written > 0 ? 'lost' : 'unsent')
})

test('an HTTP request without an answer within the time limit has the result lost, and its socket is destroyed', async () => {
  const closed = Promise.withResolvers<void>()
  const pass = heldBack(30)
  const { url } = await serve({
    request: (socket) => {
      socket.on('close', () => closed.resolve())
      pass()
    },
  })
  expect(await post(url, { timeoutMs: 30 })).toEqual({ kind: 'lost', reason: 'no answer within 30 ms' })
  await closed.promise
})

test('an HTTP request with an answer of more than 1 MB has the result lost', async () => {
  const { url } = await serve({ request: (socket) => socket.write(answer('x'.repeat(1_200_000))) })
  expect(await post(url)).toMatchObject({ kind: 'lost', reason: 'the answer is longer than 1 MB' })
})

test('the HTTP client returns a redirect as an answer, and sends no second request', async () => {
  const { url, requests } = await serve({
    request: (socket) => socket.write(answer('', '307 Elsewhere', 'location: /api/trade/sell\r\n')),
  })
  expect(await post(url)).toMatchObject({ kind: 'answered', status: 307 })
  expect(requests).toHaveLength(1)
})

test('the HTTP client reuses a connection, and a reset of it gives the result lost without another request', async () => {
  let connections = 0
  let count = 0
  const { url, requests } = await serve({
    connect: () => connections++,
    request: (socket) => (++count === 1 ? socket.write(answer('{}')) : socket.resetAndDestroy()),
  })
  const { http, close } = openHttp()
  open.push({ close })
  const request = { method: 'POST', url, headers: {}, body: '{}' } as const
  expect(await http(request)).toMatchObject({ kind: 'answered' })
  await new Promise(setImmediate) // undici marks a connection as free only after its callback has returned
  expect(await http(request)).toMatchObject({ kind: 'lost' })
  expect([connections, requests.length]).toEqual([1, 2])
})

test('two simultaneous HTTP requests get their own results', async () => {
  const lost = await serve({ request: (socket) => socket.destroy() })
  const { http, close } = openHttp()
  open.push({ close })
  const [first, second] = await Promise.all([
    http({ method: 'POST', url: lost.url, headers: {}, body: '{}' }),
    http({ method: 'POST', url: 'http://127.0.0.1:1/', headers: {}, body: '{}' }),
  ])
  expect([first.kind, second.kind]).toEqual(['lost', 'unsent'])
})

test('undici calls onRequestStart before it writes the head', async () => {
  // If undici wrote the head of a request before it calls onRequestStart, a sent request could count as unsent.
  const seen: string[] = []
  const onHead = (): void => {
    seen.push('head')
  }
  channel('undici:client:sendHeaders').subscribe(onHead)
  const { Client } = await import('undici')
  const { url } = await serve({ request: (socket) => socket.write(answer('{}')) })
  const client = new Client(new URL(url).origin, { allowH2: false })
  await new Promise<void>((done, fail) => {
    client.dispatch(
      { method: 'POST', path: '/', body: '{}' },
      {
        onRequestStart: () => seen.push('start'),
        onResponseStart: () => {},
        onResponseData: () => {},
        onResponseEnd: () => done(),
        onResponseError: (_controller, error) => fail(error),
      },
    )
  })
  await client.destroy()
  channel('undici:client:sendHeaders').unsubscribe(onHead)
  expect(seen).toEqual(['start', 'head'])
})

test('an HTTP answer that arrives one byte at a time gives the result lost at the time limit', async () => {
  let timer: NodeJS.Timeout | undefined
  let written = 0
  const pass = heldBack(60)
  const { url } = await serve({
    request: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
      timer = setInterval(() => {
        socket.write('x')
        if (++written === 10) pass()
      }, 5)
    },
  })
  expect(await post(url, { timeoutMs: 60 })).toEqual({ kind: 'lost', reason: 'no answer within 60 ms' })
  clearInterval(timer)
})

test('an HTTP request to a server that never answers the TLS handshake has the result unsent', async () => {
  const { url, requests } = await serve({})
  const result = await post(url.replace('http:', 'https:'), { connectTimeoutMs: 100 })
  expect(result).toMatchObject({ kind: 'unsent' })
  expect(requests.join('')).not.toContain('POST')
})

test('the HTTP client never offers HTTP/2, because HTTP/2 libraries may repeat a request', async () => {
  const { url, requests } = await serve({ request: (socket) => socket.destroy() })
  expect(await post(url.replace('http:', 'https:'))).toMatchObject({ kind: 'unsent' })
  const greeting = requests.join('')
  expect(greeting).not.toBe('')
  expect(greeting).not.toContain('\u0002h2')
})
