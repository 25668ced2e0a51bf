import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { SluiceError } from '../base/errors.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import type { DeskConfig } from '../config/config.ts'
import type { Worth } from '../engine/accounting/money.ts'
import { type JournalReader, openReader } from '../journal/reader/reader.ts'
import type { View } from '../runtime/view/view.ts'
import { worthsIn } from '../runtime/view/view-worths.ts'
import { CertificateWatch } from './access/certificate-watch.ts'
import { Gate, isLoopback } from './access/gate.ts'
import { Logins } from './access/logins.ts'
import { Scrapers } from './access/scrapers.ts'
import { Api } from './api/routes.ts'
import { Calls } from './calls.ts'
import { createHttp, type RefusedRequest, renewTls, type TlsText } from './http.ts'
import { LogBudget } from './log-budget.ts'
import type { DeskStart, FromDesk, ToDesk } from './messages.ts'
import { pageFiles } from './page-files.ts'
import { Refusal } from './refusal.ts'
import { type DeskParts, deskApp } from './server.ts'
import { type OpenedSource, ShownView } from './shown-view.ts'

/** Number of ports that are tried if the default port is in use and the configuration does not set a port. */
const PORTS_TRIED = 20
const SWEEP_MS = 10_000
/** The main thread counts as stalled after this time without a message from it, ms. */
const STALLED_MS = 10_000

/** A desk that is served. */
export interface ServedDesk {
  readonly origin: string
  readonly port: number
  take(message: ToDesk): void
  close(): Promise<void>
}

/** Serves the desk. Sends messages to the main thread with `say`; the first message is `ready`. Rejects if the desk
 *  cannot be served. */
export async function serveDesk(
  { config, journal, results, acts, sessions, isRun, scrapeHash, committing }: DeskStart,
  say: (message: FromDesk) => void,
  now: () => Millis = Date.now,
): Promise<ServedDesk> {
  const log = new LogBudget((level, text, fields) => say({ kind: 'log', level, text, fields }), now)
  const logins = new Logins({
    ...{ now, sessions, readOnly: config.readOnly },
    changed: (sessions) => say({ kind: 'sessions', sessions }),
  })
  const calls = new Calls(say)
  const api = new LazyApi(journal, results, () => worthsIn(shown.view))
  const failed = (error: unknown): void => log.write('error', `desk: ${textOf(error)}`, {})
  const shown: ShownView = new ShownView({
    ...{ now, committing, reader: () => api.reader, watched: (isWatched) => say({ kind: 'watched', isWatched }) },
    open: isRun ? undefined : await recordedOpener(api, { journal, results }, { now, after: timerOf }, failed),
  })
  let aliveAt = now()
  const app = deskApp({
    ...{ logins, now, shown, page: pageFiles, actor: acts && !config.readOnly ? calls : undefined },
    api: (path, query) => api.get().answer(path, query),
    resultPage: (name) => api.get().results.pageOf(name),
    metrics: scrapeHash === undefined ? undefined : await metricsOf(shown, now, () => now() - aliveAt),
    health: () => (isRun ? (now() - aliveAt < STALLED_MS ? 'running' : 'stalled') : 'recorded'),
    told: (event, fields) => log.write(event === 'login refused' ? 'warn' : 'info', `desk: ${event}`, fields),
  })
  let gate: Gate | undefined
  const certificate = watchOf(config, now, say, (renewed) => renewTls(server, renewed))
  const server = createHttp({
    tls: certificate?.certificate,
    admit: (head) => (gate as Gate).admit(head),
    answer: (request, admitted) => app.fetch(request, admitted),
    isNear: (peer) => isLoopback(peer) || config.proxy?.includes(peer) === true,
    refused: ({ ...fields }: RefusedRequest) => log.write('info', 'desk: refused a request', fields),
    failed,
  })
  const port = await listen(server, config.port, config.isPortFixed ? 1 : PORTS_TRIED, config.bind)
  const { origin, proxy, tls } = config
  const scrapers = scrapeHash === undefined ? undefined : new Scrapers(scrapeHash, now)
  gate = new Gate({ port, isTls: tls !== undefined, origin, proxy }, logins, now, scrapers)
  const sweep = setInterval(() => {
    logins.sweep()
    log.flush()
    certificate?.look()
  }, SWEEP_MS)
  const pageOrigin =
    origin !== undefined && (tls !== undefined || proxy !== undefined) ? origin : nearOrigin(config.bind, port)
  say({ kind: 'ready', origin: pageOrigin, isOtherPort: config.port !== 0 && port !== config.port })
  certificate?.begin()
  const cool = warmUp(isRun ? undefined : () => shown.view, api)
  return {
    ...{ origin: pageOrigin, port },
    take: (message) => {
      if (message.kind === 'alive') aliveAt = now()
      else if (message.kind === 'view') shown.begin(message.view, message.news)
      else if (message.kind === 'change') shown.take(message.change)
      else if (message.kind === 'answer') calls.answered(message)
      else if (message.kind === 'link')
        say({ kind: 'link', id: message.id, url: `${pageOrigin}/login?link=${logins.link(message)}` })
    },
    close: async () => {
      clearInterval(sweep)
      cool()
      shown.close()
      server.closeAllConnections()
      api.close()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** Watches the certificate of a desk that itself terminates TLS. */
function watchOf(
  { tls, origin }: DeskConfig,
  now: () => Millis,
  say: (message: FromDesk) => void,
  renew: (tls: TlsText) => void,
): CertificateWatch | undefined {
  if (tls === undefined) return undefined
  const tell = (text: string, isUrgent: boolean): void =>
    say(isUrgent ? { kind: 'alert', text } : { kind: 'log', level: 'info', text, fields: {} })
  return new CertificateWatch({ files: tls, origin, now, renew, tell })
}

/** Loads the view of a desk without running bots. Returns a function that opens it. */
async function recordedOpener(
  api: LazyApi,
  shown: Pick<DeskStart, 'journal' | 'results'>,
  clock: Clock,
  failed: (error: unknown) => void,
): Promise<() => OpenedSource> {
  const { recordedSource } = await import('./recorded-source.ts')
  return () => recordedSource(() => api.reader, shown, clock, failed)
}

/** Pause between two steps of the warm-up, ms. During the pause, the thread handles requests and changes of the view.
 *  */
const REST_MS = 5

/** Reads the data that the first requests will need, step by step. Returns a function that stops the reading. */
function warmUp(readView: (() => View) | undefined, api: LazyApi): Cancel {
  const steps = stepsOf(readView, api)
  const step = (): Cancel =>
    timerOf(REST_MS, () => {
      try {
        if (steps.next().done !== true) cancel = step()
      } catch (error) {
        // The journal does not exist yet, or cannot be read. The answer to the first request will contain the reason.
        if (!(error instanceof SluiceError || error instanceof Refusal)) throw error
      }
    })
  let cancel = step()
  return () => cancel()
}

function* stepsOf(readView: (() => View) | undefined, api: LazyApi): Generator<void, void, undefined> {
  readView?.()
  yield
  const { journal } = api.get()
  yield
  yield* journal.warmUp()
}

/** Starts a timer that does not keep the thread alive. */
function timerOf(ms: number, run: () => void): Cancel {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/** Loads the metrics. A desk without metrics does not load prom-client. */
async function metricsOf(
  shown: ShownView,
  now: () => Millis,
  silentMs: () => number,
): Promise<NonNullable<DeskParts['metrics']>> {
  const { openExposition } = await import('./metrics/exposition.ts')
  const { contentType: type, read } = openExposition()
  return async () => ({ type, text: await read({ view: shown.view, now: now(), silentMs: silentMs() }) })
}

/** Listens on the first free one of `tries` ports, beginning with `first`. Returns the port. */
async function listen(server: Server, first: number, tries: number, bind: string): Promise<number> {
  for (let port = first; ; port++) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ port, host: bind, exclusive: true }, () => {
          server.off('error', reject)
          resolve()
        })
      })
      return (server.address() as AddressInfo).port
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!isTaken || port + 1 >= first + tries || port === 65_535) throw error
    }
  }
}

/**
 * The API of a journal or of a folder of results. The API is opened at its first use, because the desk may start before
 * the journal exists.
 */
class LazyApi {
  readonly #path: string
  readonly #results: string | undefined
  readonly #worth: () => Worth
  #reader: JournalReader | undefined
  #api: Api | undefined

  constructor(path: string, results: string | undefined, worth: () => Worth) {
    this.#path = path
    this.#results = results
    this.#worth = worth
  }

  get reader(): JournalReader {
    this.#reader ??= openReader(this.#path)
    return this.#reader
  }

  get(): Api {
    this.#api ??=
      this.#results === undefined
        ? new Api(this.reader, [dirname(this.#path), 'results'], this.#worth)
        : new Api(undefined, [this.#results], this.#worth)
    return this.#api
  }

  close(): void {
    this.#reader?.close()
  }
}

function nearOrigin(bind: string, port: number): string {
  return `http://${bind === '::1' ? '[::1]' : '127.0.0.1'}:${port}`
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
