import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pageFiles } from '../../../src/desk/page-files.ts'
import type { Change, LogLine } from '../../../src/runtime/view/view.ts'
import { type DeskSize, NOW, recordedAnswer, recordedView, SMALL } from './recorded-desk.ts'

/**
 * Serves the page with recorded data, as the desk of a running process would, and sends the changes that a test makes.
 */
export class FixtureDesk {
  size: DeskSize = SMALL
  readOnly = false
  isRecorded = false
  /** If false, every request fails, as if the process had ended. */
  isUp = true
  /** If true, every request except those of the page's own files gets a 401. */
  isLoggedOut = false
  /** If true, a request for older rows of a list gets a 503. */
  hasNoOlder = false
  /** The time for which a nonce (the one-time code of an action) is valid. */
  nonceMs = 60_000
  /** Ids of the sessions that the page has ended. */
  readonly ended = new Set<string>()
  readonly posts: { path: string; body: Record<string, unknown> }[] = []
  readonly #streams = new Set<ServerResponse>()
  readonly #server: Server
  #count = 0
  readonly #startedAt = Date.now()

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Sends a change to every page. */
  push(change: Omit<Change, 'id' | 'from'>): void {
    const id = `7-${++this.#count}`
    this.#send('change', { id, from: `7-${this.#count - 1}`, ...change })
  }

  log(lines: readonly LogLine[]): void {
    this.#send('log', lines)
  }

  #now(): number {
    return NOW + Date.now() - this.#startedAt
  }

  /** Breaks every stream. */
  cut(): void {
    for (const stream of this.#streams) stream.destroy()
    this.#streams.clear()
  }

  #send(event: string, data: unknown): void {
    for (const stream of this.#streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.isUp) {
      request.socket.destroy()
      return
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://desk')
    response.setHeader('x-content-type-options', 'nosniff')
    const file = (await pageFiles()).get(pathname)
    if (file !== undefined) {
      response.setHeader('content-security-policy', file.contentPolicy)
      response.writeHead(200, { 'content-type': file.type, 'content-encoding': 'gzip' }).end(file.gzip)
    } else if (this.isLoggedOut) send(response, 401, { error: 'log in first', code: 'LOGIN_REQUIRED' })
    else if (pathname === '/events') this.#stream(response)
    else if (pathname.startsWith('/results/')) {
      response.setHeader('content-security-policy', 'sandbox')
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Report</h1>')
    } else if (this.hasNoOlder && searchParams.has('before')) {
      send(response, 503, { error: 'the journal is busy', code: 'JOURNAL_UNREADABLE' })
    } else if (request.method === 'DELETE' && pathname.startsWith('/api/sessions/')) {
      this.ended.add(pathname.slice('/api/sessions/'.length))
      send(response, 200, { text: 'the session has ended' })
    } else if (request.method === 'POST') await this.#act(pathname, request, response)
    else {
      const answer =
        pathname === '/api/me' && this.readOnly
          ? { name: 'viewer', readOnly: true }
          : this.#without(recordedAnswer(pathname, searchParams, this.size))
      if (answer === undefined) send(response, 404, { error: 'there is nothing at this path', code: 'NOT_FOUND' })
      else send(response, 200, answer)
    }
  }

  /** Removes the sessions that have ended from the list of sessions. */
  #without(answer: unknown): unknown {
    const { sessions } = (answer ?? {}) as { sessions?: readonly { id: string }[] }
    return sessions === undefined ? answer : { sessions: sessions.filter(({ id }) => !this.ended.has(id)) }
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const view = {
      ...recordedView(this.size),
      time: this.#now(),
      id: `7-${this.#count}`,
      ...(this.isRecorded ? { source: 'recorded' } : {}),
    }
    response.write(`retry: 200\nevent: view\nid: ${view.id}\ndata: ${JSON.stringify(view)}\n\n`)
    this.#streams.add(response)
    response.on('close', () => this.#streams.delete(response))
  }

  async #act(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const part of request) text += part
    const body = JSON.parse(text)
    this.posts.push({ path, body })
    if (path === '/api/actions/preview') {
      const { action, sol } = body
      if (action === 'buy' && !(sol <= 5))
        send(response, 422, { error: 'the plan allows buys of at most 5 SOL', code: 'BAD_PARAMETER' })
      else
        send(response, 200, {
          ...{
            text: `${action}: this is what would happen`,
            nonce: `nonce-${this.posts.length}`,
            expiresAt: this.#now() + this.nonceMs,
          },
          ...(action === 'flatten' ? { warning: '6 positions are sold at the market' } : {}),
        })
    } else send(response, 200, { text: `done with ${body.nonce}` })
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
