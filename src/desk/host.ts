import { Worker, type WorkerOptions } from 'node:worker_threads'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import { validCertificate } from '../config/certificate.ts'
import type { DeskConfig } from '../config/config.ts'
import { deskDanger } from '../config/consistency.ts'
import type { RemoteCommand } from '../live/control/command.ts'
import type { Preview } from '../live/control/preview.ts'
import type { Log } from '../runtime/log.ts'
import type { LiveView } from '../runtime/view/view-updates.ts'
import type { DeskStart, FromDesk, ToDesk } from './messages.ts'

/** Memory limits of the desk's thread. A thread that needs more is ended, and trading continues. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }
const ANSWER_MS = 5_000
/**
 * Delays before the restarts of a desk that fails repeatedly: one delay for each failure. If the desk fails once more,
 * it is not restarted. Once a restarted desk has run for `SETTLED_MS`, its next failure counts as the first one.
 */
const AGAIN_MS = [1_000, 10_000, 60_000, 60_000, 60_000]
const SETTLED_MS = 600_000
/**
 * Time that the desk's thread has to close its server and its journal at a stop. After this time, the thread is
 * terminated. A running SQL query of the thread cannot be interrupted, so a stop does not wait until it has finished.
 */
const CLOSE_MS = 400
const ALIVE_EVERY_MS = 1_000

export interface DeskParts {
  readonly config: DeskConfig
  /** Path of the journal that the desk shows. */
  readonly journal: string
  /** Folder of backtests and sweeps that the desk shows instead of a journal. */
  readonly results?: string | undefined
  /** The view of the bots that run in this process; absent if the desk shows a recorded journal. */
  readonly view?: LiveView
  /** Carries out the actions of the desk; absent if the desk is read-only. */
  readonly operator?: DeskOperator
  /** Hash of the token with which the metrics may be read; absent if there are no metrics. */
  readonly scrapeHash?: string | undefined
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Alerts the operator that the desk is down. */
  readonly alert: (text: string) => void
}

/** Carries out actions in the main thread. Both functions may throw a SluiceError. */
export interface DeskOperator {
  preview(command: RemoteCommand): Preview
  handle(command: RemoteCommand, by: string): object | Promise<object>
}

/**
 * The main thread's side of the desk: it starts the desk's thread, and restarts this thread if the thread fails. A
 * failure of the desk's thread never affects the caller.
 */
export class Desk {
  readonly #parts: DeskParts
  #worker: Worker | undefined
  #sessions: DeskStart['sessions'] = []
  #failures = 0
  #startedAt = 0
  #again: NodeJS.Timeout | undefined
  #unlisten = (): void => {}
  readonly #alive: NodeJS.Timeout
  #isClosed = false
  #nextLink = 1
  readonly #links = new Map<number, (url: string) => void>()
  readonly #ready = Promise.withResolvers<string | undefined>()
  #origin: string | undefined

  constructor(parts: DeskParts) {
    this.#parts = parts
    this.#alive = setInterval(() => this.#post({ kind: 'alive' }), ALIVE_EVERY_MS).unref()
    this.#start()
  }

  /** Address of the page; undefined while the desk is down. */
  get origin(): string | undefined {
    return this.#origin
  }

  /** Whether a browser is logged in. */
  get hasSessions(): boolean {
    return this.#sessions.length > 0
  }

  /** Resolves with the address of the page once the desk is served, or with undefined if the first start failed. */
  get ready(): Promise<string | undefined> {
    return this.#ready.promise
  }

  /** Creates a login link that is valid once, within 5 minutes. */
  async link(readOnly: boolean, name?: string): Promise<string> {
    if (this.#origin === undefined) throw new SluiceError('the desk is down at present: the log contains the reason')
    const id = this.#nextLink++
    const made = Promise.withResolvers<string>()
    this.#links.set(id, made.resolve)
    const late = setTimeout(() => made.reject(new SluiceError('the desk does not answer')), ANSWER_MS)
    this.#post({ kind: 'link', id, readOnly, name })
    try {
      return await made.promise
    } finally {
      clearTimeout(late)
      this.#links.delete(id)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#origin = undefined
    clearTimeout(this.#again)
    clearInterval(this.#alive)
    this.#unlisten()
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    this.#post({ kind: 'close' })
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      void worker.terminate()
      worker.unref()
      late.resolve()
    }, CLOSE_MS)
    await Promise.race([ended, late.promise])
    clearTimeout(timer)
  }

  #start(): void {
    const { config, journal, results, view, operator, scrapeHash } = this.#parts
    const acts = operator !== undefined
    const workerData: DeskStart = {
      ...{ config, journal, results, acts, sessions: this.#sessions, isRun: view !== undefined },
      committing: view?.committing,
      ...(scrapeHash !== undefined && { scrapeHash }),
    }
    this.#startedAt = performance.now()
    const worker = new Worker(new URL('./thread-main.ts', import.meta.url), threadOptions(workerData))
    this.#worker = worker
    worker.on('message', (message: FromDesk) => this.#receive(message))
    worker.on('error', (error: unknown) => this.#down(worker, error instanceof Error ? error.message : String(error)))
    worker.on('exit', (code) => this.#down(worker, `the thread of the desk ended (exit code ${code})`))
    if (view === undefined) return
    this.#unlisten = view.follow({
      begin: (view, news) => this.#post({ kind: 'view', view, news }),
      change: (change) => this.#post({ kind: 'change', change }),
    })
  }

  #post(message: ToDesk): void {
    this.#worker?.postMessage(message)
  }

  #receive(message: FromDesk): void {
    const { log, config } = this.#parts
    switch (message.kind) {
      case 'ready':
        this.#origin = message.origin
        if (message.isOtherPort)
          log.warn({ desk: message.origin }, `port ${config.port} is in use; the desk uses the next free one`)
        else log.info({ desk: message.origin }, 'the desk is served')
        this.#ready.resolve(message.origin)
        break
      case 'link':
        this.#links.get(message.id)?.(message.url)
        break
      case 'call':
        void this.#call(message)
        break
      case 'watched':
        this.#parts.view?.watched(message.isWatched)
        break
      case 'sessions':
        this.#sessions = message.sessions
        break
      case 'log':
        log[message.level]({ ...message.fields }, message.text)
        break
      case 'alert':
        log.warn(message.text)
        this.#parts.alert(message.text)
        break
      case 'failed':
        this.#down(this.#worker, message.reason)
    }
  }

  async #call({ id, step, command, by }: Extract<FromDesk, { kind: 'call' }>): Promise<void> {
    const { operator, log } = this.#parts
    try {
      if (operator === undefined) throw new SluiceError('this desk is read-only, so it carries out no action')
      const answer = step === 'preview' ? operator.preview(command) : await operator.handle(command, by)
      const { text, warning } = answer as Preview
      this.#post({ kind: 'answer', id, refused: false, text, warning })
    } catch (error) {
      if (!(error instanceof SluiceError)) log.error({ err: error }, `desk: ${step} ${command.command}`)
      this.#post({ kind: 'answer', id, refused: true, text: (error as Error).message })
    }
  }

  #down(worker: Worker | undefined, reason: string): void {
    if (worker === undefined || worker !== this.#worker) return
    this.#worker = undefined
    this.#origin = undefined
    this.#unlisten()
    this.#parts.view?.watched(false)
    void worker.terminate()
    this.#ready.resolve(undefined)
    if (this.#isClosed) return
    if (performance.now() - this.#startedAt > SETTLED_MS) this.#failures = 0
    const wait = AGAIN_MS[this.#failures++]
    const next =
      wait === undefined
        ? 'the desk stays down; trading continues'
        : `the desk restarts in ${wait / 1000} s; trading continues`
    const text = `the desk is down: ${reason}; ${next}`
    this.#parts.log.error(text)
    this.#parts.alert(text)
    if (wait !== undefined) this.#again = setTimeout(() => this.#start(), wait).unref()
  }
}

/** Options of the desk's thread. Of this process's environment variables, which may contain keys, the thread receives
 *  only the folder of compiled code. */
export function threadOptions(workerData: DeskStart): WorkerOptions {
  const { NODE_COMPILE_CACHE } = process.env
  const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  return { workerData, env, argv: [], resourceLimits: MEMORY, name: 'desk' }
}

/** Throws a SluiceError if other machines could reach the desk without TLS (exit 4), if other users can read its
 *  private key (exit 4), or if its certificate cannot be used for another reason (exit 2). */
export function requireSafeDesk(desk: DeskConfig, now: Millis): void {
  const danger = deskDanger(desk)
  if (danger !== undefined) throw new SluiceError(`desk.bind ${danger}`, ExitCode.unsafe)
  if (desk.tls !== undefined) validCertificate(desk.tls, desk.origin, now)
}
