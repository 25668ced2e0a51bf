import { readFileSync } from 'node:fs'
import { type Context, Hono } from 'hono'
import { SluiceError } from '../base/errors.ts'
import type { Logins } from './access/logins.ts'
import { METRICS_PATH } from './access/scrapers.ts'
import { Rate } from './access/token-bucket.ts'
import { type Actor, actionRoutes } from './actions.ts'
import type { ApiAnswer } from './api/routes.ts'
import { type DeskEnv, requireType, sessionOf } from './env.ts'
import { LOGIN_CSS, loginPage } from './login-page.ts'
import type { PageFile } from './page-files.ts'
import { Refusal } from './refusal.ts'
import type { ShownView } from './shown-view.ts'

export interface DeskParts {
  readonly logins: Logins
  /** Files of the page by their path, `/` for the page itself. */
  readonly page: () => Promise<ReadonlyMap<string, PageFile>>
  readonly shown: Pick<ShownView, 'view' | 'events'>
  /** Answers a GET request of the API. `path`: the part after `/api/`. Throws a SluiceError if there is no journal. */
  readonly api: (path: string, query: Iterable<readonly [string, string]>) => ApiAnswer
  /** Path of the file with the report of a backtest or a sweep; undefined if there is none of this name. */
  readonly resultPage: (name: string) => string | undefined
  /** Carries out actions; undefined if the desk is read-only. */
  readonly actor: Actor | undefined
  readonly now: () => number
  /** The metrics as text; undefined if there are none. */
  readonly metrics: (() => Promise<{ readonly type: string; readonly text: string }>) | undefined
  /** `stalled`: the main thread does not respond. `recorded`: the desk shows a journal, and no bots run. */
  readonly health: () => 'running' | 'stalled' | 'recorded'
  /** Notifies the operator of logins and failed logins. */
  readonly told: (event: 'login' | 'logout' | 'login refused', fields: Readonly<Record<string, unknown>>) => void
}

const WRONG_LOGINS = { burst: 5, perSecond: 1 / 12 }
const FOREVER = 'private, max-age=31536000, immutable'
const LINK = /^[\w-]{32}$/

/** The desk as a function from requests to answers. Every request has already passed the gate. */
export function deskApp(parts: DeskParts): Hono<DeskEnv> {
  const app = new Hono<DeskEnv>()
  app.get('/health', () => healthAnswer(parts.health()))
  login(app, parts)
  sessions(app, parts)
  app.route('/', actionRoutes(parts.actor, parts.now))
  app.get('/events', ({ req }) => parts.shown.events(req.raw))
  app.get('/api/view', () => Response.json(parts.shown.view))
  const { metrics } = parts
  if (metrics !== undefined)
    app.get(METRICS_PATH, async () => {
      const { type, text } = await metrics()
      return new Response(text, { headers: { 'content-type': type } })
    })
  app.get('/api/*', ({ req }) => {
    const { status, body } = parts.api(
      decodeURIComponent(req.path.slice('/api/'.length)),
      new URL(req.url).searchParams,
    )
    return Response.json(body, { status })
  })
  app.get('/results/:name/', ({ req }) => resultPage(parts.resultPage(req.param('name'))))
  app.get('/', async ({ env }, next) => (env.session === undefined ? redirect('/login') : next()))
  app.get('*', async (context) => pageFile(context, await parts.page()))
  app.notFound(() => new Refusal(404, 'NOT_FOUND', 'there is nothing at this path').toResponse())
  app.onError((error) => {
    if (error instanceof Refusal) return error.toResponse()
    if (error instanceof SluiceError) return new Refusal(503, 'JOURNAL_UNREADABLE', error.message).toResponse()
    throw error
  })
  return app
}

/**
 * The report of a backtest contains its own script. The sandbox directive gives the report an origin of its own, so its
 * script cannot use the session of the desk.
 */
const RESULT_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
  'x-frame-options': 'SAMEORIGIN',
}

function resultPage(path: string | undefined): Response {
  if (path === undefined) throw new Refusal(404, 'NOT_FOUND', 'there is no result of this name')
  return new Response(new Uint8Array(readFileSync(path)), { headers: RESULT_HEADERS })
}

/** The health of the process, for a watcher without a session. The answer contains nothing else. */
function healthAnswer(health: ReturnType<DeskParts['health']>): Response {
  if (health === 'stalled') throw new Refusal(503, 'STALLED', 'the thread that trades does not respond')
  if (health === 'recorded') throw new Refusal(503, 'NOT_RUNNING', 'no bots run: this desk shows a recorded journal')
  return Response.json({ ok: true })
}

function login(app: Hono<DeskEnv>, { logins, now, told, page }: DeskParts): void {
  const wrong = new Rate(WRONG_LOGINS, now)
  app.get('/login.css', () => new Response(LOGIN_CSS, { headers: { 'content-type': 'text/css; charset=utf-8' } }))
  app.get('/login', ({ req }) => {
    const link = req.query('link')
    // The page is read in advance, so that it is ready when the user presses the login button.
    page().catch(() => {})
    return html(loginPage(link !== undefined && LINK.test(link) ? link : undefined))
  })
  app.post('/login', async ({ req, env }) => {
    const { address, cookieName, isSecure } = env
    if (!wrong.allows(address)) throw new Refusal(429, 'TOO_MANY', 'too many wrong links: wait a minute')
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
      wrong.take(address)
      told('login refused', { from: address })
      throw error
    }
  })
}

function sessions(app: Hono<DeskEnv>, { logins, told }: DeskParts): void {
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

/**
 * A browser keeps files whose names contain a hash of their content. For other files it asks each time whether they
 * have changed.
 */
function pageFile({ req }: Context<DeskEnv>, page: ReadonlyMap<string, PageFile>): Response {
  const file = page.get(req.path)
  if (file === undefined) throw new Refusal(404, 'NOT_FOUND', 'there is nothing at this path')
  const headers = {
    'content-type': file.type,
    etag: file.etag,
    'cache-control': file.isFixed ? FOREVER : 'no-cache',
    vary: 'accept-encoding',
  }
  if (req.header('if-none-match') === file.etag) return new Response(null, { status: 304, headers })
  const isZipped = /\bgzip\b/.test(req.header('accept-encoding') ?? '')
  const body = isZipped ? file.gzip : file.body
  return new Response(new Uint8Array(body), {
    headers: { ...headers, ...(isZipped && { 'content-encoding': 'gzip' }) },
  })
}

function html(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/html; charset=utf-8' } })
}

function redirect(location: '/' | '/login', cookie?: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location, ...(cookie !== undefined && { 'set-cookie': cookie }) },
  })
}

function cookieText(name: string, value: string, isSecure: boolean): string {
  const end = value === '' ? '; Max-Age=0' : ''
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${end}`
}
