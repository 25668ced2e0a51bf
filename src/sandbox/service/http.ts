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
  /** Path of the URL, without the query. */
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** Handles a request. The result undefined closes the connection without an answer. */
export type Handle = (request: Request) => Answer | undefined | Promise<Answer | undefined>

const LARGEST_BODY_BYTES = 1_000_000
/** Time for which an idle connection stays open. It is longer than the usual time between two orders, so that a
 *  connection is rarely closed during a request. */
const KEEP_ALIVE_MS = 65_000

/** Starts the server. It listens on loopback only, because the sandbox's answers contain its keys. The first handler
 *  with a prefix of the path handles the request. */
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

/** Whether the host name is that of loopback. Other names are refused, because a web page could otherwise reach
 *  loopback through its own host name (DNS rebinding). */
function isLoopback(host: string | undefined): boolean {
  return host === undefined || /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)
}

/** Reads the body of a request; undefined if it is too large. The rest is discarded. */
async function readBody(message: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= LARGEST_BODY_BYTES) chunks.push(chunk)
  }
  return bytes <= LARGEST_BODY_BYTES ? Buffer.concat(chunks).toString() : undefined
}
