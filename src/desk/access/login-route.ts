import type { Hono } from 'hono'
import { pagePolicy } from '../content-policy.ts'
import { type DeskEnv, requireType, sessionOf } from '../env.ts'
import { loginPage } from '../login-page.ts'
import type { PageFile } from '../page-files.ts'
import { Refusal } from '../refusal.ts'
import type { Logins } from './logins.ts'
import { TokenBucket } from './token-bucket.ts'

export interface LoginParts {
  readonly logins: Logins
  /** Files of the page by their path, `/` for the page itself. */
  readonly page: () => Promise<ReadonlyMap<string, PageFile>>
  readonly now: () => number
  /** Notifies the operator of logins and failed logins. */
  readonly told: (event: 'login' | 'logout' | 'login refused', fields: Readonly<Record<string, unknown>>) => void
}

/** How many wrong login links are allowed for each address. */
const WRONG_LOGINS = { burst: 5, perSecond: 1 / 12 }
const LINK = /^[\w-]{32}$/

/** Answers requests for the login page, and begins a session for a valid login link. */
export function login(app: Hono<DeskEnv>, { logins, now, told, page }: LoginParts): void {
  const wrong = new TokenBucket(WRONG_LOGINS, now)
  app.get('/login', ({ req }) => {
    const link = req.query('link')
    // The page is read in advance, so that it is ready when the user presses the login button.
    page().catch(() => {})
    return html(loginPage(link !== undefined && LINK.test(link) ? link : undefined))
  })
  app.post('/login', async ({ req, env }) => {
    const { address, cookieName, isSecure } = env
    requireType(req.header('content-type'), 'application/x-www-form-urlencoded')
    const link = new URLSearchParams(await req.text()).get('link') ?? ''
    const browser = (req.header('user-agent') ?? '').slice(0, 200)
    try {
      const { session, cookie } = logins.begin(link, address, browser)
      // Ends the session whose cookie the browser sent with this login, because a third party could have set that
      // cookie.
      if (env.session !== undefined) logins.end(env.session)
      told('login', { session: session.name, from: address, readOnly: session.readOnly })
      const answer = redirect('/', cookieText(cookieName, cookie, isSecure))
      // Another program may have used this port before, and may have left pages, scripts or a service worker in the
      // browser.
      answer.headers.set('clear-site-data', '"cache", "storage"')
      return answer
    } catch (error) {
      // The right link is accepted even after many wrong ones: its 32 random characters cannot be guessed, and any
      // program at the user's address could otherwise lock out the user.
      if (!wrong.take(address)) throw new Refusal(429, 'TOO_MANY', 'too many wrong links: wait a minute')
      // Further wrong links are not reported, because they would displace other notices.
      told('login refused', { from: address })
      throw error
    }
  })
}

/** Answers requests about the sessions: their list, and their end. */
export function sessions(app: Hono<DeskEnv>, { logins, told }: LoginParts): void {
  app.get('/api/me', ({ env }) => {
    const { id, name, readOnly } = sessionOf(env)
    return Response.json({ id, name, readOnly })
  })
  app.get('/api/sessions', ({ env }) => {
    const own = sessionOf(env)
    const list = logins.list().map(({ end: _, streams: _streams, ...session }) => ({
      ...session,
      isOwn: session.id === own.id,
    }))
    return Response.json({ sessions: list })
  })
  app.delete('/api/sessions/:id', ({ req, env }) => {
    const own = sessionOf(env)
    const session = logins.list().find(({ id }) => id === req.param('id'))
    if (session === undefined) throw new Refusal(404, 'NOT_FOUND', 'there is no such session')
    if (own.readOnly && session !== own)
      throw new Refusal(403, 'READ_ONLY', 'this session is read-only: it allows only to view the desk and to log out')
    logins.end(session)
    told('logout', { session: session.name, by: own.name })
    return Response.json({ text: `the session ${session.name} has ended` })
  })
  app.post('/logout', ({ env }) => {
    const own = sessionOf(env)
    logins.end(own)
    told('logout', { session: own.name, by: own.name })
    return redirect('/login', cookieText(env.cookieName, '', env.isSecure))
  })
}

function html(text: string): Response {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy(text) }
  return new Response(text, { headers })
}

export function redirect(location: '/' | '/login', cookie?: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location, ...(cookie !== undefined && { 'set-cookie': cookie }) },
  })
}

function cookieText(name: string, value: string, isSecure: boolean): string {
  const end = value === '' ? '; Max-Age=0' : ''
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${end}`
}
