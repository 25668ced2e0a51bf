import { renameSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { issue } from '../support/certificates.ts'
import { DeskRig } from '../support/desk-rig.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const DAY_MS = 86_400_000
const START = Date.now()
/** The interval at which the desk checks the files of its certificate. */
const LOOK_MS = 10_000
const host = 'desk.example.com'
const day = (days: number): number => START + days * DAY_MS
const first = issue({ host, from: day(-1), to: day(89) })
const second = issue({ host, from: day(-1), to: day(179) })

let rig: DeskRig
beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(async () => {
  await rig.close()
  vi.useRealTimers()
})

const files = { certificate: join(folder.path, 'chain.pem'), key: join(folder.path, 'key.pem') }

/** Replaces a file as certbot does: the name is a link, and then points to another file. */
function replace(name: 'chain.pem' | 'key.pem', text: string): void {
  renameSync(folder.write(`${name}.new`, text), join(folder.path, name))
}

async function serve(issued = first): Promise<void> {
  replace('chain.pem', issued.cert)
  replace('key.pem', issued.key)
  rig = await DeskRig.start({ origin: `https://${host}`, tls: files }, {}, START)
}

/** Advances the clock, and lets the desk check its certificate files. */
function look(afterMs = LOOK_MS): void {
  rig.now += afterMs - LOOK_MS
  rig.now += LOOK_MS
  vi.advanceTimersByTime(LOOK_MS)
}

const told = (): string[] => rig.said.flatMap((one) => (one.kind === 'alert' ? [one.text] : []))

interface Seen {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly fingerprint: string
}

/** Sends a request over TLS, and verifies the certificate as a browser does. */
function ask(trusted: string, path = '/login', name = host): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const where = { host: '127.0.0.1', port: rig.port, servername: host, ca: trusted, agent: false } as const
    const sent = request({ ...where, path, headers: { host: name } }, (answer) => {
      const { fingerprint256: fingerprint } = (answer.socket as TLSSocket).getPeerCertificate()
      answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, fingerprint }))
    })
    sent.on('error', reject).end()
  })
}

test('the desk is served over TLS, with cookies and headers for TLS, and only to its own host name', async () => {
  await serve()
  expect(rig.said).toContainEqual({ kind: 'ready', origin: `https://${host}`, isOtherPort: false })
  const answer = await ask(first.cert)
  expect(answer).toMatchObject({ status: 200, headers: { 'strict-transport-security': 'max-age=31536000' } })
  expect((await ask(first.cert, '/login', `127.0.0.1:${rig.port}`)).status).toBe(403)
  await expect(ask(second.cert)).rejects.toThrow('self-signed certificate')
})

test('the desk uses renewed certificate files for new connections, and open connections continue', async () => {
  await serve()
  const open = connect({ host: '127.0.0.1', port: rig.port, servername: host, ca: first.cert })
  await new Promise((resolve) => open.once('secureConnect', resolve))
  const before = await ask(first.cert)
  replace('chain.pem', second.cert)
  look() // the key is still that of the certificate before
  expect((await ask(first.cert)).fingerprint).toBe(before.fingerprint)
  replace('key.pem', second.key)
  look()
  expect((await ask(second.cert)).fingerprint).not.toBe(before.fingerprint)
  expect(rig.logged).toContainEqual(expect.stringContaining('the desk uses the renewed certificate of'))
  expect(told()).toEqual([])
  open.write(`GET /login HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const text = await new Promise<string>((resolve) => open.once('data', (part: Buffer) => resolve(`${part}`)))
  expect(text).toMatch(/^HTTP\/1\.1 200 /)
})

test('if the files of the certificate do not match for a minute, the desk reports this once and continues with the previous certificate', async () => {
  await serve()
  replace('key.pem', second.key)
  for (let looks = 0; looks < 20; looks++) look()
  expect(told()).toEqual([
    expect.stringMatching(
      /^the desk keeps the certificate that it has, valid until .* UTC: desk\.tls\.key: .*key\.pem: the key does not belong/,
    ),
  ])
  expect((await ask(first.cert)).status).toBe(200)
  replace('key.pem', first.key)
  look()
  expect(told()).toHaveLength(1)
})

test('the desk reports the expiry of its certificate 14 days and 3 days before, and when it occurs, and continues', async () => {
  await serve()
  look(74 * DAY_MS)
  expect(told()).toEqual([])
  look(2 * DAY_MS)
  look()
  expect(told()).toEqual([
    expect.stringMatching(
      /^the certificate of the desk expires at .* UTC: renew it; the desk then reads the new files/,
    ),
  ])
  look(11 * DAY_MS)
  look(3 * DAY_MS)
  look(DAY_MS)
  expect(told().slice(1)).toEqual([
    expect.stringContaining('expires at'),
    expect.stringMatching(/expired at .* UTC, and browsers refuse it: renew it/),
  ])
  const renewed = issue({ host, from: day(-1), to: day(500) })
  replace('chain.pem', renewed.cert)
  replace('key.pem', renewed.key)
  look()
  expect((await ask(renewed.cert)).status).toBe(200)
  expect(told()).toHaveLength(3)
})

test('the expiry of a certificate that is valid for six days is reported only about a day before', async () => {
  await serve(issue({ host, from: day(0) - 3_600_000, to: day(6) }))
  look(4 * DAY_MS)
  expect(told()).toEqual([])
  look(1.1 * DAY_MS)
  expect(told()).toHaveLength(1)
})

test('plain HTTP, random bytes and an old TLS version on the TLS port are disconnected, and the next client is served', async () => {
  await serve()
  const cut = (text: string): Promise<string> =>
    new Promise((resolve) => {
      let got = ''
      const socket = connectPlain(rig.port, '127.0.0.1', () => socket.write(text))
      socket.on('data', (part) => {
        got += part.toString('latin1')
      })
      socket.on('error', () => {}).on('close', () => resolve(got))
    })
  expect(await cut(`GET /login HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).not.toContain('Sluice')
  await cut('\u0016\u0003\u0001\u0000\u0005hello')
  const old = connect({
    ...{ host: '127.0.0.1', port: rig.port, ca: first.cert },
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
  })
  await new Promise((resolve) => old.on('error', resolve))
  expect((await ask(first.cert)).status).toBe(200)
  expect(rig.said.filter((one) => one.kind === 'log' && one.level === 'error')).toEqual([])
  expect(rig.logged.filter((line) => line.startsWith('desk: refused')).length).toBeGreaterThan(0)
})
