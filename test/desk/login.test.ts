import { afterEach, expect, test } from 'vitest'
import { type Asked, DeskRig } from '../support/desk-rig.ts'

let rig: DeskRig
afterEach(() => rig.close())

const me = (cookie: string): Asked => ({ path: '/api/me', headers: { cookie } })

test("a link opens one session and works once, and opening the link's page does not use it up", async () => {
  rig = await DeskRig.start()
  const link = rig.link(false, 'phone')
  const page = await rig.ask({ path: `/login?link=${link}` })
  expect(page.body).toContain(`value="${link}"`)
  const first = await rig.postLogin(link)
  expect(first).toMatchObject({ status: 303, headers: { location: '/' } })
  const [set = ''] = [first.headers['set-cookie']].flat()
  expect(set).toMatch(/^sluice-\d+=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/)
  expect(JSON.parse((await rig.ask(me(set.split(';')[0] as string))).body)).toEqual({
    ...{ id: 's1', name: 'phone', readOnly: false },
  })
  expect(await rig.postLogin(link)).toMatchObject({ status: 403, body: expect.stringContaining('LINK_INVALID') })
  expect(rig.logged.filter((line) => line.startsWith('desk: login'))).toEqual([
    'desk: login {"session":"phone","from":"127.0.0.1","readOnly":false}',
    'desk: login refused {"from":"127.0.0.1"}',
  ])
})

test('a login link expires after 5 minutes', async () => {
  rig = await DeskRig.start()
  const link = rig.link()
  rig.now += 5 * 60_000
  expect(await rig.postLogin(link)).toMatchObject({ status: 403, body: expect.stringContaining('LINK_INVALID') })
})

test.each([
  ['24 hours without a request', [24 * 3_600_000]],
  ['7 days, even if it is in use', Array.from({ length: 8 }, () => 23.9 * 3_600_000)],
])('a session ends after %s', async (_name, steps) => {
  rig = await DeskRig.start()
  const cookie = await rig.login()
  const statuses: number[] = []
  for (const step of steps) {
    rig.now += step
    statuses.push((await rig.ask(me(cookie))).status)
  }
  expect(statuses.at(-1)).toBe(401)
  expect(statuses.slice(0, -1).every((status) => status === 200)).toBe(true)
})

test("a login sets a new cookie, even in a browser that has one, and ends the browser's previous session", async () => {
  rig = await DeskRig.start()
  const planted = `sluice-${rig.port}=${'A'.repeat(32)}`
  const first = await rig.postLogin(rig.link(), { cookie: planted })
  const cookie = ([first.headers['set-cookie']].flat()[0] ?? '').split(';')[0] as string
  expect(cookie).not.toBe(planted)
  expect((await rig.ask(me(planted))).status).toBe(401)
  expect((await rig.postLogin(rig.link(), { cookie })).status).toBe(303)
  expect((await rig.ask(me(cookie))).status).toBe(401)
})

// Browsers send a cookie to all ports of a host, so a program at another port can set a cookie with the name of the
// desk's cookie. If its path is longer, the browser sends it before the desk's cookie.
test('a program at another port cannot end a session, because cookies that belong to no session are ignored', async () => {
  rig = await DeskRig.start()
  const cookie = await rig.login(false, 'phone')
  const name = `sluice-${rig.port}`
  const foreign = [`${name}=`, `${name}=x`, `${name}=${'A'.repeat(32)}`, `${name}="a;b"`, `${name}==${cookie}`]
  for (const planted of [...foreign, foreign.join('; '), cookie])
    for (const cookies of [`${planted}; ${cookie}`, `${cookie}; ${planted}`]) {
      expect(JSON.parse((await rig.ask(me(cookies))).body), cookies).toMatchObject({ name: 'phone' })
      const stranger = cookies.replaceAll(cookie, `${name}=${'B'.repeat(32)}`)
      expect((await rig.ask(me(stranger))).status, stranger).toBe(401)
    }
  const again = await rig.postLogin(rig.link(false, 'tablet'), { cookie: `${foreign[2]}; ${cookie}` })
  const [next = ''] = [again.headers['set-cookie']].flat()
  expect((await rig.ask(me(`${foreign[2]}; ${cookie}; ${next.split(';')[0]}`))).body).toContain('tablet')
})

test('a session can list and revoke sessions, and a read-only session can revoke only itself', async () => {
  rig = await DeskRig.start()
  const [full, looking] = [await rig.login(false, 'full'), await rig.login(true, 'looking')]
  const list = JSON.parse((await rig.ask({ path: '/api/sessions', headers: { cookie: full } })).body)
  expect(list.sessions).toMatchObject([
    { id: 's1', name: 'full', readOnly: false, isOwn: true, address: '127.0.0.1' },
    { id: 's2', name: 'looking', readOnly: true, isOwn: false },
  ])
  const end = (cookie: string, id: string) =>
    rig.ask({ method: 'DELETE', path: `/api/sessions/${id}`, headers: { cookie, origin: rig.origin } })
  expect((await end(looking, 's1')).status).toBe(403)
  expect((await end(full, 's2')).status).toBe(200)
  expect((await rig.ask(me(looking))).status).toBe(401)
  expect((await end(full, 's2')).status).toBe(404)
  await rig.ask({ method: 'POST', path: '/logout', headers: { cookie: full, origin: rig.origin } })
  expect((await rig.ask(me(full))).status).toBe(401)
})

test('a desk that restarts in the same process keeps its sessions', async () => {
  rig = await DeskRig.start()
  const cookie = await rig.login(false, 'phone')
  const kept = rig.said.findLast((one) => one.kind === 'sessions')
  if (kept?.kind !== 'sessions') throw new Error('the desk did not report its sessions')
  expect(JSON.stringify(kept)).not.toContain(cookie.split('=')[1])
  const { port } = rig
  await rig.close()
  rig = await DeskRig.start({ port }, { sessions: kept.sessions })
  expect(JSON.parse((await rig.ask(me(cookie))).body)).toMatchObject({ id: 's1', name: 'phone' })
})

test('after five wrong login links, the desk refuses further wrong links for some time, but the right link still works', async () => {
  rig = await DeskRig.start()
  const wrong = async (): Promise<number> => (await rig.postLogin('B'.repeat(32))).status
  const statuses: number[] = []
  for (let tries = 0; tries < 7; tries++) statuses.push(await wrong())
  expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429])
  // Only the wrong links within the limit are reported.
  expect(rig.logged.filter((line) => line.startsWith('desk: login refused'))).toHaveLength(5)
  expect((await rig.postLogin(rig.link())).status).toBe(303)
  expect(await wrong()).toBe(429)
  rig.now += 15_000
  expect(await wrong()).toBe(403)
})

test('a flood of requests and of wrong links from this machine stops neither a login nor the health check', async () => {
  rig = await DeskRig.start()
  const flood = Array.from({ length: 120 }, async (_none, index) =>
    index % 2 === 0 ? (await rig.ask({ path: '/api/me' })).status : (await rig.postLogin('B'.repeat(32))).status,
  )
  expect(new Set(await Promise.all(flood))).toEqual(new Set([401, 403, 429]))
  expect((await rig.ask({ path: '/api/me' })).status).toBe(429)
  expect((await rig.ask({ path: '/health' })).status).toBe(200)
  const link = rig.link()
  expect((await rig.ask({ path: `/login?link=${link}` })).status).toBe(200)
  expect((await rig.postLogin(link)).status).toBe(303)
})

test('if the default port is taken, the desk uses the next free port', async () => {
  rig = await DeskRig.start()
  const { deskFrom } = await import('../../src/config/convert-sections.ts')
  const { serveDesk } = await import('../../src/desk/thread.ts')
  const config = { ...deskFrom({}, ''), port: rig.port }
  const said: unknown[] = []
  const start = { config, journal: '', acts: false, sessions: [], isRun: true }
  const other = await serveDesk(start, (message) => said.push(message))
  expect(other.port).toBeGreaterThan(rig.port)
  expect(said).toMatchObject([{ kind: 'ready', isOtherPort: true }])
  await other.close()
  const fixed = serveDesk({ ...start, config: { ...config, isPortFixed: true } }, () => {})
  await expect(fixed).rejects.toThrow('EADDRINUSE')
})
