import { readFileSync } from 'node:fs'
import { type Context, Hono } from 'hono'
import { SluiceError } from '../base/errors.ts'
import { type LoginParts, login, redirect, sessions } from './access/login-route.ts'
import { METRICS_PATH } from './access/scrapers.ts'
import { type Actor, actionRoutes } from './actions.ts'
import type { ApiAnswer } from './api/routes.ts'
import type { DeskEnv } from './env.ts'
import type { PageFile } from './page-files.ts'
import { Refusal } from './refusal.ts'
import type { ShownView } from './shown-view.ts'

export interface DeskParts extends LoginParts {
  readonly shown: Pick<ShownView, 'view' | 'events'>
  /** Answers a GET request of the API. `path`: the part after `/api/`. Throws a SluiceError if there is no journal. */
  readonly api: (path: string, query: Iterable<readonly [string, string]>) => ApiAnswer
  /** Path of the file with the report of a backtest or a sweep; undefined if there is none of this name. */
  readonly resultPage: (name: string) => string | undefined
  /** Carries out actions; undefined if the desk is read-only. */
  readonly actor: Actor | undefined
  /** The metrics as text; undefined if there are none. */
  readonly metrics: (() => Promise<{ readonly type: string; readonly text: string }>) | undefined
  /** `stalled`: the main thread does not respond. `recorded`: the desk shows a journal, and no bots run. */
  readonly health: () => 'running' | 'stalled' | 'recorded'
}

const FOREVER = 'private, max-age=31536000, immutable'

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

/**
 * A browser keeps files whose names contain a hash of their content. For other files it asks each time whether they
 * have changed.
 */
function pageFile({ req }: Context<DeskEnv>, page: ReadonlyMap<string, PageFile>): Response {
  const file = page.get(req.path)
  if (file === undefined) throw new Refusal(404, 'NOT_FOUND', 'there is nothing at this path')
  const headers = {
    'content-type': file.type,
    'content-security-policy': file.contentPolicy,
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
