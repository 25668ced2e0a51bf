import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer } from './answers.ts'

export interface Request {
  method: string
  /** Without the query. */
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** Returns undefined to close the connection without an answer. */
export type Handle = (request: Request) => Answer | undefined | Promise<Answer | undefined>

const LARGEST_BODY_BYTES = 1_000_000
/** Longer than the time between two orders, so that a kept-alive connection is rarely closed under a request. */
const KEEP_ALIVE_MS = 65_000

/** Listens on loopback only, because the sandbox reveals its own keys. The first matching path prefix handles the
 *  request. */
export function serve(port: number, handlers: readonly (readonly [prefix: string, handle: Handle])[]): Promise<Server> {
  const server = createServer((message, response) => {
    respond(message, response, handlers).catch(() => response.destroy())
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

async function respond(
  message: IncomingMessage,
  response: ServerResponse,
  handlers: Parameters<typeof serve>[1],
): Promise<void> {
  const path = (message.url ?? '/').split('?', 1)[0]!
  const handle = handlers.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1]
  const body = await readBody(message)
  const request = { method: message.method ?? 'GET', path, headers: message.headers, body: body ?? '' }
  const answer = await answerTo(request, body === undefined, handle)
  if (!answer) {
    message.socket.destroy()
    return
  }
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
  response.end(answer.body)
}

function answerTo(request: Request, tooLarge: boolean, handle: Handle | undefined): ReturnType<Handle> {
  if (!isLoopback(request.headers.host)) return { status: 403, body: '{"error":"loopback only"}' }
  if (tooLarge) return { status: 413, body: '{"error":"body too large"}' }
  return handle ? handle(request) : { status: 404, body: '{"error":"not found"}' }
}

/** Rejects other host names: a web page could reach loopback through its own name (DNS rebinding). */
function isLoopback(host: string | undefined): boolean {
  return host === undefined || /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)
}

/** Returns undefined if the body is too large; the rest is discarded. */
async function readBody(message: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= LARGEST_BODY_BYTES) chunks.push(chunk)
  }
  return bytes <= LARGEST_BODY_BYTES ? Buffer.concat(chunks).toString() : undefined
}
