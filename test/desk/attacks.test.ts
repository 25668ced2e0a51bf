import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Gate } from '../../src/desk/access/gate.ts'
import { Logins } from '../../src/desk/access/logins.ts'
import { isSessionName } from '../../src/live/control/command.ts'
import { type Answer, type Asked, DeskRig } from '../support/desk-rig.ts'
import { MINT } from '../support/engine-rig.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { tradedJournal } from '../support/traded-journal.ts'
import { viewOf } from '../support/view-sample.ts'

temporaryFolder()
const journal = tradedJournal()
let rig: DeskRig
let cookie: string
beforeEach(async () => {
  rig = await DeskRig.start({}, { journal, acts: true })
  rig.desk.take({ kind: 'view', view: viewOf() })
  cookie = await rig.login()
})
afterEach(() => rig.close())

const evil = 'https://evil.example'
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends requests one after the other, each with the session. */
async function each(...asks: readonly Asked[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const ask of asks) answers.push(await rig.ask({ ...ask, headers: { cookie, ...ask.headers } }))
  return answers
}

/** Posts JSON with the session, as the page does. */
function post(path: string, body: object, headers: Asked['headers'] = {}): Promise<Answer> {
  const own = { cookie, origin: rig.origin, 'content-type': 'application/json' }
  return rig.ask({ method: 'POST', path, headers: { ...own, ...headers }, body: JSON.stringify(body) })
}

/** Requests the preview of an action, allows it as the main thread would, and returns its nonce (one-time code). */
async function nonceOf(action: object, headers?: Asked['headers']): Promise<string> {
  const answered = post('/api/actions/preview', action, headers)
  await expect.poll(() => rig.said.findLast(({ kind }) => kind === 'call')).toBeDefined()
  const call = rig.said.findLast((said) => said.kind === 'call')
  if (call?.kind === 'call') rig.desk.take({ kind: 'answer', id: call.id, refused: false, text: 'it will sell' })
  return JSON.parse((await answered).body).nonce
}

/** Sends bytes unchanged. Returns one answer for each status line that came before the end of the connection. */
function raw(text: string): Promise<Answer[]> {
  return new Promise((resolve) => {
    const socket = connect(rig.port, '127.0.0.1', () => socket.write(text))
    let got = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      got += part
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      const answers = got.split(/(?=HTTP\/1\.1 \d{3} )/)
      resolve(
        answers.map((one) => ({
          ...{ status: Number(one.slice(9, 12)), headers: {} },
          body: /\{"error".*?\}/.exec(one)?.[0] ?? one,
        })),
      )
    })
  })
}

const lines = (...more: string[]): string =>
  [`Host: 127.0.0.1:${rig.port}`, `Cookie: ${cookie}`, ...more, '', ''].join('\r\n')
const host = (name: string): Asked => ({ path: '/api/me', headers: { host: name } })
const cross = (headers: Asked['headers'], path = '/api/actions/confirm'): Asked => ({
  ...{ method: 'POST', path, headers: { 'content-type': 'application/json', ...headers } },
  body: '{"nonce":"A"}',
})

const ATTACKS: readonly (readonly [attack: string, codes: readonly string[], run: () => Promise<readonly Answer[]>])[] =
  [
    [
      'DNS rebinding',
      ['HOST_REFUSED'],
      () =>
        each(
          ...[
            'evil.example',
            '127.0.0.1.evil.example',
            'localhost.evil.example',
            '0.0.0.0',
            'a.localhost',
            '[::ffff:7f00:1]',
          ].map((name) => host(`${name}:${rig.port}`)),
          ...['127.0.0.1', '127.0.0.1:1', `127.0.0.1:${rig.port}.`, `x@127.0.0.1:${rig.port}`].map(host),
        ),
    ],
    [
      'a POST request from another site',
      ['CROSS_SITE'],
      () =>
        each(
          cross({ origin: evil }),
          cross({ origin: 'null' }),
          cross({}),
          cross({ origin: `http://localhost:${rig.port}` }),
          cross({ origin: `http://127.0.0.1:${rig.port + 1}` }),
          cross({ 'sec-fetch-site': 'cross-site' }),
          cross({ origin: rig.origin, 'sec-fetch-site': 'same-site' }),
          cross({ origin: evil, ...form }, '/logout'),
        ),
    ],
    [
      'a nonce that is missing, invented, expired or of another session',
      ['NONCE_INVALID'],
      async () => {
        const nonce = await nonceOf({ action: 'sell', mint: MINT })
        const other = await rig.login()
        const confirm = (body: object, headers?: Asked['headers']) => post('/api/actions/confirm', body, headers)
        const answers = [
          await confirm({}),
          await confirm({ nonce: 'A'.repeat(32) }),
          await confirm({ nonce }, { cookie: other }),
        ]
        rig.now += 60_001
        return [...answers, await confirm({ nonce })]
      },
    ],
    [
      'a read-only session that tries an action',
      ['READ_ONLY'],
      async () => {
        const nonce = await nonceOf({ action: 'flatten' })
        const looking = { cookie: await rig.login(true) }
        return [
          await post('/api/actions/preview', { action: 'flatten' }, looking),
          await post('/api/actions/confirm', { nonce }, looking),
          ...(await each({ method: 'DELETE', path: '/api/sessions/s1', headers: { ...looking, origin: rig.origin } })),
        ]
      },
    ],
    [
      'session fixation by a cookie that was set before the login, and by the cookies of two sessions',
      ['LOGIN_REQUIRED'],
      async () => {
        const planted = `sluice-${rig.port}=${'A'.repeat(32)}`
        const login = await rig.postLogin(rig.link(), { cookie: planted })
        expect(login.headers['set-cookie']).not.toEqual([expect.stringContaining('A'.repeat(32))])
        return each(
          { path: '/api/me', headers: { cookie: planted } },
          { path: '/api/me', headers: { cookie: `${cookie}; ${await rig.login(true)}` } },
        )
      },
    ],
    [
      'path traversal',
      ['REQUEST_INVALID', 'NOT_FOUND'],
      () =>
        each(
          ...[
            '/app/../../etc/passwd',
            '/results/..%2f..%2fetc%2fpasswd/',
            '/results/%2e%2e/',
            '/results/..%5c..%5csecret/',
          ].map((path) => ({ path })),
          ...[
            '/results/....//',
            '/results/%252e%252e%252fsluice.db/',
            '/results/%2Fetc%2Fpasswd/',
            '/results/~/',
            '/results//',
          ].map((path) => ({ path })),
          ...['/results/sluice.db/', '/results/id.json/', '/api/..%2fsecret', '/app/%00', '/app/..;/secret'].map(
            (path) => ({ path }),
          ),
        ),
    ],
    [
      'oversized requests',
      ['TOO_LARGE'],
      async () => [
        ...(await each(
          { path: `/${'a'.repeat(3_000)}` },
          { headers: { 'x-long': 'a'.repeat(9_000) } },
          { path: '/events', headers: { 'last-event-id': '1-'.repeat(5_000) } },
          { headers: Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`x-${at}`, 'a'])) },
        )),
        await post('/api/actions/confirm', { nonce: 'a'.repeat(5_000) }),
      ],
    ],
    [
      'slow requests whose headers or body never end',
      ['TOO_SLOW'],
      async () => {
        const slow = [
          raw('GET / HTTP/1.1\r\nHost: 127'),
          raw(`POST /login HTTP/1.1\r\n${lines(`Origin: ${rig.origin}`, 'Content-Length: 9')}link`),
        ]
        expect((await rig.ask({ path: '/api/me', headers: { cookie } })).status).toBe(200)
        return (await Promise.all(slow)).flat()
      },
    ],
    [
      'header injection',
      ['REQUEST_INVALID', 'LINK_INVALID'],
      async () => [
        ...(await each({ path: '/app/a%0d%0aset-cookie:%20x=y' }, { path: '/login?link=%0d%0aset-cookie:x=y%zz' })),
        await rig.postLogin(encodeURIComponent('a\r\nset-cookie: x=y')),
        ...(await raw(`GET /login HTTP/1.1\r\nX: a\rSet-Cookie: b\r\n${lines()}`)),
      ],
    ],
    [
      'request smuggling',
      ['REQUEST_INVALID'],
      async () =>
        (
          await Promise.all(
            [
              lines('Content-Length: 4', 'Transfer-Encoding: chunked') + '0\r\n\r\nGET /api/me HTTP/1.1\r\n',
              lines('Content-Length: 1', 'Content-Length: 2') + 'ab',
              lines('Transfer-Encoding: xchunked') + '0\r\n\r\n',
              lines('Transfer-Encoding : chunked') + '0\r\n\r\n',
              lines('Content-Length: +1') + 'a',
              lines('Origin: a', ' folded: b'),
              lines('Host: evil.example', 'Connection: close'),
            ].map((text) => raw(`POST /login HTTP/1.1\r\n${text}`)),
          )
        ).flat(),
    ],
    [
      'requests with forwarding headers to a desk without a proxy',
      ['PROXY_REFUSED'],
      () =>
        each(
          ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded'].map((name) => ({
            ...{ path: '/api/me', headers: { [name]: '127.0.0.1' } },
          })),
        ),
    ],
  ]

test.each(ATTACKS)(
  'attack by %s: the desk refuses each request with one sentence, one log line and no effect',
  async (_attack, codes, run) => {
    const before = rig.logged.filter((line) => line.startsWith('desk: refused')).length
    const answers = await run()
    for (const { status, body } of answers) {
      expect(status, body).toBeGreaterThanOrEqual(400)
      expect(status, body).toBeLessThan(500)
      expect(codes, body).toContain(JSON.parse(body).code)
      expect(JSON.parse(body).error).toMatch(/^[^\n<>]{10,160}$/)
    }
    expect(rig.logged.filter((line) => line.startsWith('desk: refused')).length - before).toBe(answers.length)
    expect(rig.said.filter((said) => said.kind === 'call' && said.step === 'carry out')).toEqual([])
    expect(rig.said.filter((said) => said.kind === 'log' && said.level === 'error')).toEqual([])
    expect((await rig.ask({ path: '/api/me', headers: { cookie } })).status).toBe(200)
  },
)

test('a client that disconnects in the middle of a request body counts as one refused request', async () => {
  const socket = connect(rig.port, '127.0.0.1', () => {
    socket.write(`POST /login HTTP/1.1\r\n${lines(`Origin: ${rig.origin}`, 'Content-Length: 9')}link`)
    setImmediate(() => socket.resetAndDestroy())
  })
  await expect.poll(() => rig.logged.filter((line) => line.includes('REQUEST_INVALID'))).toHaveLength(1)
  expect(rig.said.filter((said) => said.kind === 'log' && said.level === 'error')).toEqual([])
})

test.each(['<b>phone</b>', 'a\u0000b', 'a\r\nb', '\u202eenohp', '"phone"', 'a'.repeat(100)])(
  'a session cannot have the name %j',
  (name) => expect(isSessionName(name)).toBe(false),
)

test('a browser name with markup and control characters appears only as text in JSON', async () => {
  const browser = '<img src=x onerror=alert(1)>'
  await rig.postLogin(rig.link(), { 'user-agent': browser })
  const { headers, body } = await rig.ask({ path: '/api/sessions', headers: { cookie } })
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' })
  expect(JSON.parse(body).sessions.at(-1).browser).toBe(browser)
})

test.each<[string, string, boolean]>([
  ['::1', '[::1]:7420', true],
  ['::1', '[::1]', false],
  ['::1', '[0:0:0:0:0:0:0:1]:7420', false],
  ['::1', '[::1%25lo]:7420', false],
  ['::ffff:127.0.0.1', '127.0.0.1:7420', true],
  ['::ffff:7f00:1', '127.0.0.1:7420', false],
  ['fe80::1', '[fe80::1]:7420', false],
])('the desk accepts a request from the address %s to the host %s: %s', (peer, name, passes) => {
  const gate = new Gate({ port: 7420, isTls: false }, new Logins({ now: () => 0 }), () => 0)
  const admit = () => gate.admit({ method: 'GET', target: '/login', headers: { host: name }, headerCount: 1, peer })
  if (passes) expect(admit()).toMatchObject({ isSecure: false })
  else expect(admit).toThrow()
})
