import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { Gate } from '../../src/desk/access/gate.ts'
import { Logins } from '../../src/desk/access/logins.ts'
import type { ToDesk } from '../../src/desk/messages.ts'
import { type Answer, type Asked, DeskRig } from '../support/desk-rig.ts'
import { MINT } from '../support/engine-rig.ts'

let rig: DeskRig
let cookie: string
beforeEach(async () => {
  rig = await DeskRig.start({}, { acts: true })
  cookie = await rig.login()
})
afterEach(() => rig.close())

const json = { 'content-type': 'application/json' }
const evil = 'https://evil.example'

function post(path: string, body: unknown, headers: Asked['headers'] = {}): Promise<Answer> {
  const own = { cookie, origin: rig.origin, ...json }
  return rig.ask({ method: 'POST', path, headers: { ...own, ...headers }, body: JSON.stringify(body) })
}

/** Answers the calls of the desk as the main thread would. */
function answerCalls(answer: Partial<Extract<ToDesk, { kind: 'answer' }>> = {}): void {
  const pass = rig.said.push.bind(rig.said)
  rig.said.push = (...messages) => {
    for (const message of messages)
      if (message.kind === 'call')
        queueMicrotask(() => {
          const text = `${message.step} ${message.command.command}${message.by === '' ? '' : ` by ${message.by}`}`
          rig.desk.take({ kind: 'answer', id: message.id, refused: false, text, ...answer })
        })
    return pass(...messages)
  }
}

const asks: [string, number, string, () => Asked | Promise<Asked>][] = [
  [
    'a host name that is not that of the desk (DNS rebinding)',
    403,
    'HOST_REFUSED',
    () => ({ headers: { cookie, host: `evil.example:${rig.port}` } }),
  ],
  [
    'a loopback host with the port of another server',
    403,
    'HOST_REFUSED',
    () => ({ headers: { cookie, host: '127.0.0.1:1' } }),
  ],
  [
    'a host name that ends like that of the desk',
    403,
    'HOST_REFUSED',
    () => ({ headers: { host: `a.localhost:${rig.port}` } }),
  ],
  [
    'a request with forwarding headers to a desk without a proxy',
    403,
    'PROXY_REFUSED',
    () => ({ headers: { 'x-forwarded-for': '1.2.3.4' } }),
  ],
  [
    'a POST request from another site',
    403,
    'CROSS_SITE',
    () => ({ method: 'POST', path: '/logout', headers: { cookie, origin: evil } }),
  ],
  [
    'a POST request with the origin null',
    403,
    'CROSS_SITE',
    () => ({ method: 'POST', path: '/logout', headers: { cookie, origin: 'null' } }),
  ],
  [
    'a POST request without an origin',
    403,
    'CROSS_SITE',
    () => ({ method: 'POST', path: '/logout', headers: { cookie } }),
  ],
  [
    'a POST request from a page at another port',
    403,
    'CROSS_SITE',
    () => ({ method: 'POST', path: '/logout', headers: { cookie, 'sec-fetch-site': 'same-site' } }),
  ],
  [
    'a DELETE request from another site',
    403,
    'CROSS_SITE',
    () => ({ method: 'DELETE', path: '/api/sessions/s1', headers: { cookie, origin: evil } }),
  ],
  [
    'a GET request from another site',
    403,
    'CROSS_SITE',
    () => ({ path: '/api/me', headers: { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' } }),
  ],
  [
    'the login page in a frame of another site',
    403,
    'CROSS_SITE',
    () => ({
      path: '/login',
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    }),
  ],
  ['a GET request without a session', 401, 'LOGIN_REQUIRED', () => ({ path: '/api/me' })],
  [
    'a request for the stream without a session',
    401,
    'LOGIN_REQUIRED',
    () => ({ path: '/events', headers: { 'last-event-id': '1-1' } }),
  ],
  [
    'a request with a malformed cookie',
    401,
    'LOGIN_REQUIRED',
    () => ({ path: '/api/me', headers: { cookie: `sluice-${rig.port}="\u00e9%00;;=` } }),
  ],
  [
    'a request with the cookies of two sessions',
    401,
    'LOGIN_REQUIRED',
    async () => ({ path: '/api/me', headers: { cookie: `${cookie}; ${await rig.login()}` } }),
  ],
  [
    'a request with the cookie of another port',
    401,
    'LOGIN_REQUIRED',
    () => ({ path: '/api/me', headers: { cookie: cookie.replace(/sluice-\d+/, 'sluice-1') } }),
  ],
  [
    'a path that leaves its folder',
    400,
    'REQUEST_INVALID',
    () => ({ path: '/app/../../etc/passwd', headers: { cookie } }),
  ],
  [
    'an encoded path that leaves its folder',
    400,
    'REQUEST_INVALID',
    () => ({ path: '/app/%2e%2e/%2e%2e/etc/passwd', headers: { cookie } }),
  ],
  [
    'a path with an encoded slash',
    400,
    'REQUEST_INVALID',
    () => ({ path: '/results/..%2f..%2fsluice.db', headers: { cookie } }),
  ],
  ['a path with a backslash', 400, 'REQUEST_INVALID', () => ({ path: '/app/..%5c..%5csecret', headers: { cookie } })],
  ['a path with a zero byte', 400, 'REQUEST_INVALID', () => ({ path: '/app/a%00.js', headers: { cookie } })],
  [
    'a line end in the path (header injection)',
    400,
    'REQUEST_INVALID',
    () => ({ path: '/app/a%0d%0aset-cookie:%20x=y', headers: { cookie } }),
  ],
  ['broken escapes in the path', 400, 'REQUEST_INVALID', () => ({ path: '/app/%zz', headers: { cookie } })],
  [
    'broken escapes in the query',
    400,
    'REQUEST_INVALID',
    () => ({ path: '/api/log?level=%e0%a4', headers: { cookie } }),
  ],
  [
    'a path that begins with two slashes',
    400,
    'REQUEST_INVALID',
    () => ({ path: '//evil.example/', headers: { cookie } }),
  ],
  ['a path that is too long', 414, 'TOO_LARGE', () => ({ path: `/${'a'.repeat(3_000)}`, headers: { cookie } })],
  ['an unknown path', 404, 'NOT_FOUND', () => ({ path: '/etc/passwd', headers: { cookie } })],
  [
    'a path that is a property name of every JavaScript object',
    404,
    'NOT_FOUND',
    () => ({ path: '/__proto__', headers: { cookie } }),
  ],
  [
    'a request to revoke a session that does not exist',
    404,
    'NOT_FOUND',
    () => ({ method: 'DELETE', path: '/api/sessions/__proto__', headers: { cookie, origin: rig.origin } }),
  ],
  [
    'a request with an unsupported method',
    405,
    'METHOD_REFUSED',
    () => ({ method: 'PUT', path: '/api/me', headers: { cookie, origin: rig.origin } }),
  ],
  [
    'a request with too many headers',
    431,
    'TOO_LARGE',
    () => ({ headers: Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`x-${at}`, 'a'])) }),
  ],
  [
    'a request with headers that are too long',
    431,
    'TOO_LARGE',
    () => ({ headers: { cookie, 'x-long': 'a'.repeat(9_000) } }),
  ],
]

test.each(asks)('the desk refuses %s with %i %s, one sentence and one log line', async (_name, status, code, ask) => {
  const answer = await rig.ask(await ask())
  const before = rig.logged.filter((line) => line.startsWith('desk: refused'))
  expect({ status: answer.status, ...JSON.parse(answer.body) }).toMatchObject({ status, code })
  expect(JSON.parse(answer.body).error).toMatch(/^[^\n<>]{10,120}$/)
  expect(before).toEqual([expect.stringContaining(`"code":"${code}"`)])
  expect(answer.headers['set-cookie']).toBeUndefined()
})

describe('actions', () => {
  const preview = (fields: object, headers?: Asked['headers']) => post('/api/actions/preview', fields, headers)
  const confirm = (nonce: unknown, headers?: Asked['headers']) => post('/api/actions/confirm', { nonce }, headers)

  test('the desk describes an action, asks for one confirmation, and carries it out in the name of the session', async () => {
    answerCalls()
    const shown = JSON.parse((await preview({ action: 'sell', mint: MINT })).body)
    expect(shown).toEqual({ text: 'preview sell', nonce: expect.any(String), expiresAt: rig.now + 60_000 })
    expect(await confirm(shown.nonce)).toMatchObject({ status: 200, body: '{"text":"carry out sell by desk s1"}' })
    expect(await confirm(shown.nonce)).toMatchObject({ status: 409, body: expect.stringContaining('NONCE_INVALID') })
    expect(rig.said.filter((one) => one.kind === 'call' && one.step === 'carry out')).toHaveLength(1)
  })

  test.each(['halt', 'resume', 'flatten'])(
    'the desk describes the action %s for one wallet, and carries it out for this wallet only',
    async (action) => {
      answerCalls()
      const { nonce } = JSON.parse((await preview({ action, wallet: 'side' })).body)
      expect((await confirm(nonce)).status).toBe(200)
      const calls = rig.said.flatMap((one) => (one.kind === 'call' ? [[one.step, one.command]] : []))
      const command = { command: action, wallet: 'side' }
      expect(calls).toEqual([
        ['preview', command],
        ['carry out', command],
      ])
    },
  )

  test('a nonce (one-time code) is valid only for its session and for a minute', async () => {
    answerCalls()
    const nonceOf = async () => JSON.parse((await preview({ action: 'flatten' })).body).nonce as string
    const other = await rig.login()
    expect((await confirm(await nonceOf(), { cookie: other })).status).toBe(409)
    const late = await nonceOf()
    rig.now += 60_000
    expect((await confirm(late)).status).toBe(409)
    for (const nonce of [undefined, null, 1, '', 'A'.repeat(32), {}]) expect((await confirm(nonce)).status).toBe(409)
    expect(rig.said.some((one) => one.kind === 'call' && one.step === 'carry out')).toBe(false)
  })

  test('neither a read-only session nor a session of a read-only desk can carry out actions', async () => {
    answerCalls()
    const { nonce } = JSON.parse((await preview({ action: 'halt' })).body)
    const looking = await rig.login(true)
    for (const answer of [
      await preview({ action: 'halt' }, { cookie: looking }),
      await confirm(nonce, { cookie: looking }),
    ])
      expect(answer).toMatchObject({ status: 403, body: expect.stringContaining('READ_ONLY') })
    await rig.close()
    rig = await DeskRig.start({ readOnly: true }, { acts: true })
    cookie = await rig.login(false)
    expect(await preview({ action: 'halt' })).toMatchObject({ status: 403 })
    expect(JSON.parse((await rig.ask({ path: '/api/me', headers: { cookie } })).body)).toMatchObject({ readOnly: true })
  })

  test.each<[string, unknown]>([
    ['no name of an action', {}],
    ['the action resolve, which only the terminal offers', { action: 'resolve', order: 'o1', verdict: 'not-executed' }],
    ['the action adopt, which only the terminal offers', { action: 'adopt', mint: MINT, bot: 'dips' }],
    ['the name constructor, which every object has', { action: 'constructor' }],
    ['text that is not a mint', { action: 'sell', mint: '<img src=x>' }],
    ['text that is not an order', { action: 'cancel', order: '../o1' }],
    ['an amount that is not a number', { action: 'buy', mint: MINT, bot: 'dips', sol: '1' }],
    ['an amount below 0', { action: 'buy', mint: MINT, bot: 'dips', sol: -1 }],
    ['an unknown field', { action: 'halt', command: 'status' }],
    ['a wallet that is not text', { action: 'halt', wallet: ['side'] }],
    ['an empty name of a wallet', { action: 'flatten', wallet: '' }],
    ['a list in place of an object', [{ action: 'halt' }]],
    ['null in place of an object', null],
  ])('the desk refuses an action request with %s with status 400', async (_name, fields) => {
    expect(await preview(fields as object)).toMatchObject({
      status: 400,
      body: expect.stringContaining('REQUEST_INVALID'),
    })
  })

  test('the desk refuses a request body of another type, broken JSON, and bytes that are not UTF-8', async () => {
    expect((await preview({ action: 'halt' }, { 'content-type': 'text/plain' })).status).toBe(415)
    const broken = { method: 'POST', path: '/api/actions/preview', headers: { cookie, origin: rig.origin, ...json } }
    expect((await rig.ask({ ...broken, body: '{"action":' })).status).toBe(400)
    expect((await rig.ask({ ...broken, body: Buffer.from([0x22, 0xff, 0x22]) as never })).status).toBe(400)
  })

  test('the page shows the reason that the main thread gave for a refusal', async () => {
    answerCalls({ refused: true, text: 'no bot holds it' })
    expect(await preview({ action: 'sell', mint: MINT })).toMatchObject({
      ...{ status: 409, body: JSON.stringify({ error: 'no bot holds it', code: 'ACTION_REFUSED' }) },
    })
  })
})

/** Sends bytes unchanged, and returns the answer once the server closes the connection. */
function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(rig.port, '127.0.0.1', () => socket.write(text))
    let got = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      got += part
    })
    socket.on('error', () => {}).on('close', () => resolve(got))
  })
}

describe('bounds', () => {
  const head = () =>
    `Host: 127.0.0.1:${rig.port}\r\nOrigin: ${rig.origin}\r\nCookie: ${cookie}\r\nConnection: close\r\n`

  test('the desk refuses a request body that is too long, whether its length is declared or not', async () => {
    const long = 'a'.repeat(5_000)
    expect(await post('/api/actions/confirm', { nonce: long })).toMatchObject({ status: 413 })
    const chunked = `POST /login HTTP/1.1\r\n${head()}Transfer-Encoding: chunked\r\n\r\n1388\r\n${long}\r\n0\r\n\r\n`
    expect(await raw(chunked)).toContain('413')
  })

  test.each([
    ['random bytes', '\u0016\u0003\u0001 not http\r\n\r\n'],
    ['no host name', 'GET / HTTP/1.1\r\n\r\n'],
    ['two content lengths', 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'both a content length and chunks',
      'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('the desk refuses a request with %s with status 400', async (_name, text) => {
    expect(await raw(text)).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('clients without a session are limited in rate, and this does not affect a session', async () => {
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await rig.ask({ path: '/x' })).status))
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(15)
    expect((await rig.ask({ path: '/api/me', headers: { cookie } })).status).toBe(200)
  })
})

test('a browser that has the page receives no copy of it, but the policy again', async () => {
  const { headers } = await rig.ask({ path: '/', headers: { cookie } })
  const again = await rig.ask({ path: '/', headers: { cookie, 'if-none-match': String(headers.etag) } })
  expect(again).toMatchObject({ status: 304, body: '' })
  expect(again.headers['content-security-policy']).toBe(headers['content-security-policy'])
})

test('every answer has the headers that limit what a page may do', async () => {
  for (const path of ['/login', '/', '/api/me', '/nothing']) {
    const { headers } = await rig.ask({ path, headers: { cookie } })
    expect(headers['content-security-policy'], path).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*/)
    // Styles are allowed only by the hash of the page's own style element.
    const style = ['/login', '/'].includes(path) ? "'sha256-[\\w+/=]{44}'" : "'none'"
    expect(headers['content-security-policy'], path).toMatch(new RegExp(`; style-src ${style}; `))
    expect(headers).toMatchObject({
      ...{
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
      },
    })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  }
})

test('the login page does not repeat a link that contains markup', async () => {
  for (const link of ['"><script>alert(1)</script>', `${'A'.repeat(31)}"`])
    expect((await rig.ask({ path: `/login?link=${encodeURIComponent(link)}` })).body).not.toMatch(/script|value=/)
})

test('random requests are answered with 4xx, the log stays short, and a session still works', async () => {
  const random = seededRandom(7)
  const pick = <T>(list: readonly T[]): T => list[random.integer(list.length)] as T
  const word = (): string => Array.from({ length: random.integer(12) }, () => pick([...'aZ/.%?&=:;\\"<>{}0é'])).join('')
  const before = rig.logged.length
  const failed = rig.said.filter((one) => one.kind === 'log' && one.level === 'error')
  for (let batch = 0; batch < 20; batch++)
    await Promise.all(
      Array.from({ length: 25 }, async () => {
        const method = pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE'])
        const path = encodeURI(`/${pick(['', 'api/', 'app/', 'login', 'results/', 'events'])}${word()}`)
        const headers = { [pick(['cookie', 'origin', 'last-event-id', 'range', 'content-type'])]: encodeURI(word()) }
        const { status } = await rig.ask({ method, path, headers, ...(random.next() < 0.3 && { body: word() }) })
        expect(status < 400 ? path : status, `${method} ${path}`).toSatisfy((value) =>
          typeof value === 'number' ? value < 500 : /^\/(login|\?|$)/.test(value as string),
        )
      }),
    )
  expect(failed).toEqual([])
  expect(rig.logged.length - before).toBeLessThan(60)
  expect((await rig.ask({ path: '/api/me', headers: { cookie } })).status).toBe(200)
})

describe('a desk that other machines can reach', () => {
  const origin = 'https://desk.example.com'
  const gate = (reach: object) => {
    const logins = new Logins({ now: () => 0 })
    return new Gate({ port: 7420, isTls: false, origin, ...reach }, logins, () => 0)
  }
  const proxied = { host: 'desk.example.com', 'x-forwarded-for': '9.9.9.9, 1.2.3.4', 'x-forwarded-proto': 'https' }
  const admit = (reach: object, peer: string, headers: Record<string, string>) =>
    gate(reach).admit({ method: 'GET', target: '/login', headers, headerCount: 3, peer })

  test('behind a proxy, a header names the client, and the cookie is valid for this host only', () => {
    expect(admit({ proxy: ['10.0.0.5'] }, '::ffff:10.0.0.5', proxied)).toMatchObject({
      ...{ address: '1.2.3.4', isSecure: true, cookieName: '__Host-sluice' },
    })
    expect(admit({ isTls: true }, '5.6.7.8', { host: 'desk.example.com' })).toMatchObject({
      address: '5.6.7.8',
      isSecure: true,
    })
  })

  test.each<[string, string, Record<string, string>]>([
    ['a request with forwarding headers from a client that is not the proxy', '10.0.0.6', proxied],
    ['a request that did not come through the proxy', '10.0.0.6', { host: 'desk.example.com' }],
    ['a request through a proxy that forwards plain HTTP', '10.0.0.5', { ...proxied, 'x-forwarded-proto': 'http' }],
    [
      'a request through a proxy that does not name the client',
      '10.0.0.5',
      { ...proxied, 'x-forwarded-for': 'unknown' },
    ],
    ['another host name behind the proxy', '10.0.0.5', { ...proxied, host: 'evil.example' }],
    ['a loopback host name behind the proxy', '10.0.0.5', { ...proxied, host: '127.0.0.1:7420' }],
  ])('a desk behind a proxy refuses %s', (_name, peer, headers) => {
    expect(() => admit({ proxy: ['10.0.0.5'] }, peer, headers)).toThrow()
  })

  test('a desk with TLS does not answer to another host name', () => {
    expect(() => admit({ isTls: true }, '5.6.7.8', { host: 'evil.example' })).toThrow(
      'does not answer requests to this host name',
    )
  })
})
