import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import type { Dispatcher, Pool as UndiciPool } from 'undici'
import type { Http, HttpRequest, HttpResult } from '../base/machine.ts'

export interface HttpOptions {
  /** Time limit from the call to the last byte of the answer. */
  readonly timeoutMs?: number
  readonly connectTimeoutMs?: number
  /** Longest answer, bytes. */
  readonly longestBody?: number
}

/** Only the module of the pool is loaded. All of undici, with fetch, WebSocket, cache and mocks, takes 6 MB of memory
 *  and 40 ms of processor time more. */
const Pool = createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof UndiciPool

const TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 5_000
/** Time for which an idle connection stays open, so that the next order does not wait for a TLS handshake. A shorter
 *  time that the server announces takes precedence. */
const KEEP_ALIVE_MS = 30_000
const LONGEST_BODY = 1_048_576
const LONGEST_REASON = 200

/** Opens an HTTP/1.1 client on undici that never sends a request twice: there is no pipelining, no redirect and no
 *  retry. HTTP/2 is off, because an HTTP/2 client repeats a request that the server declined to process. */
export function openHttp(options: HttpOptions = {}): { http: Http; close: () => Promise<void> } {
  const pools = new Map<string, UndiciPool>()
  const poolOf = (origin: string): UndiciPool => {
    const known = pools.get(origin)
    if (known !== undefined) return known
    const pool = new Pool(origin, {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: 0, // off, because `#timeoutMs` covers the whole exchange
      bodyTimeout: 0,
      connect: { timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS },
    })
    pools.set(origin, pool)
    return pool
  }
  return {
    http: (request) => {
      const url = new URL(request.url)
      return new Exchange(request, url, options).run(poolOf(url.origin))
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}

/** One request and its result. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest
  readonly #url: URL
  readonly #timeoutMs: number
  readonly #longestBody: number
  #settle: (result: HttpResult) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #isSettled = false
  #status = 0
  #headers: Record<string, string> = {}
  readonly #chunks: Buffer[] = []
  #size = 0

  constructor(request: HttpRequest, url: URL, { timeoutMs = TIMEOUT_MS, longestBody = LONGEST_BODY }: HttpOptions) {
    this.#request = request
    this.#url = url
    this.#timeoutMs = timeoutMs
    this.#longestBody = longestBody
  }

  run(dispatcher: Dispatcher): Promise<HttpResult> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#fail(`no answer within ${this.#timeoutMs} ms`), this.#timeoutMs)
      this.#settle = (result) => {
        clearTimeout(timer)
        this.#isSettled = true
        resolve(result)
      }
      const { method, headers, body } = this.#request
      const path = this.#url.pathname + this.#url.search
      try {
        dispatcher.dispatch({ method, path, headers: { ...headers }, body: body ?? null }, this)
      } catch (error) {
        this.#fail(messageOf(error))
      }
    })
  }

  /** undici calls this method just before it writes the head of the request. Before this call, no byte of the request
   *  was written; after it, some bytes may have been written. (The diagnostics channel `undici:client:sendHeaders`
   *  fires later and does not identify the request.) */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The request timed out while it waited for a connection, so it must not be sent any more.
    if (this.#isSettled) controller.abort(new Error('too late'))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200) return
    this.#status = status
    for (const [name, value] of Object.entries(headers)) this.#headers[name] = String(value)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#longestBody) this.#fail(`the answer is longer than ${sizeText(this.#longestBody)}`)
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    if (this.#isSettled) return
    const bytes = Buffer.concat(this.#chunks)
    const answered = { kind: 'answered', status: this.#status, headers: this.#headers, body: bytes.toString() } as const
    this.#settle(isUtf8(bytes) ? answered : { ...answered, bytes })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(messageOf(error))
  }

  #fail(reason: string): void {
    if (this.#isSettled) return
    this.#settle({ kind: this.#controller === undefined ? 'unsent' : 'lost', reason })
    this.#controller?.abort(new Error(reason))
  }
}

function sizeText(bytes: number): string {
  return bytes < 1_048_576 ? `${bytes / 1024} kB` : `${bytes / 1_048_576} MB`
}

function messageOf(error: unknown): string {
  const text =
    error instanceof Error ? error.message || ('code' in error && String(error.code)) || error.name : 'unknown error'
  return text.slice(0, LONGEST_REASON)
}
