import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import type { Admitted, RequestHead } from './access/gate.ts'
import { contentPolicy } from './content-policy.ts'
import { Refusal } from './refusal.ts'

// Node's HTTP server with limits on the data and the connections of clients. It passes each request to an app, which
// answers a `Request` with a `Response`.

const MOST_BODY = 4_096
const MOST_CONNECTIONS = 512
/** Maximum number of connections that one address may have. Connections of this machine and of the proxy are not
 *  counted. */
const MOST_OF_ADDRESS = 64
/** A client that does not read is disconnected after this time. */
const STALLED_MS = 60_000

const BOUNDS = {
  maxHeaderSize: 8_192,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  requireHostHeader: true,
} as const

/** Certificate chain and private key (PEM). */
export interface TlsText {
  readonly cert: string
  readonly key: string
}

export interface HttpParts {
  /** Present if the desk itself terminates TLS, without a proxy. */
  readonly tls?: TlsText | undefined
  /** Checks a request before its body is read. Throws a Refusal. */
  readonly admit: (head: RequestHead) => Admitted
  readonly answer: (request: Request, admitted: Admitted) => Response | Promise<Response>
  /**
   * Returns whether this address may have any number of connections. The limit on all connections together still
   * applies.
   */
  readonly isNear: (peer: string) => boolean
  /** Called for each request that is refused. */
  readonly refused: (refused: RefusedRequest) => void
  /** Called with an error that only a bug can cause. */
  readonly failed: (error: unknown) => void
}

export interface RefusedRequest {
  readonly status: number
  readonly code: string
  readonly method: string
  /** Path as the client sent it, without its query; a long path is cut. */
  readonly path: string
  readonly from: string
}

/** Headers of every answer. Pages with styles send their own `content-security-policy` instead. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': contentPolicy(),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Not `no-referrer`: a browser would then send `Origin: null` with the login form, and the desk refuses such a
  // request.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-store',
}
const ONE_YEAR = 31_536_000

/**
 * Connections whose last request was refused before all of it had arrived. The desk closes such a connection, and does
 * not log its early end as a second refusal.
 */
const unfinished = new WeakSet<Socket>()

export function createHttp(parts: HttpParts): Server {
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    serve(parts, incoming, outgoing).catch((error) => {
      outgoing.destroy()
      parts.failed(error)
    })
  }
  const server = parts.tls
    ? createTlsServer({ ...BOUNDS, ...contextOf(parts.tls), handshakeTimeout: BOUNDS.headersTimeout }, listener)
    : createServer(BOUNDS, listener)
  server.maxConnections = MOST_CONNECTIONS
  boundAddresses(server, parts.isNear)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const refusal = brokenRequest(error.code)
    const { status, code } = refusal
    if (!unfinished.has(socket)) parts.refused({ status, code, method: '', path: '', from: socket.remoteAddress ?? '' })
    unfinished.add(socket)
    if (!socket.writable) return
    const body = JSON.stringify({ error: refusal.message, code: refusal.code })
    socket.end(
      `HTTP/1.1 ${refusal.status} Refused\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      () => socket.destroy(),
    )
  })
  return server
}

/** Replaces the certificate that the server uses for new connections. */
export function renewTls(server: Server, tls: TlsText): void {
  if (server instanceof TlsServer) server.setSecureContext(contextOf(tls))
}

function contextOf({ cert, key }: TlsText): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2' }
}

function brokenRequest(code: string | undefined): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal(408, 'TOO_SLOW', 'the request took too long')
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal(431, 'TOO_LARGE', 'the headers are too long')
  return new Refusal(400, 'REQUEST_INVALID', 'this is not a valid HTTP request')
}

/** Limits the connections of each address, and closes connections above the limit. */
function boundAddresses(server: Server, isNear: (peer: string) => boolean): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? ''
    if (isNear(peer)) return
    const count = counts.get(peer) ?? 0
    if (count >= MOST_OF_ADDRESS) {
      socket.destroy()
      return
    }
    counts.set(peer, count + 1)
    socket.once('close', () => {
      const left = (counts.get(peer) ?? 1) - 1
      if (left === 0) counts.delete(peer)
      else counts.set(peer, left)
    })
  })
}

async function serve(parts: HttpParts, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  let admitted: Admitted | undefined
  let response: Response
  try {
    requireOneHost(incoming)
    admitted = parts.admit(headOf(incoming))
    const body = await bodyOf(incoming)
    response = await parts.answer(requestOf(incoming, admitted, body, outgoing), admitted)
  } catch (error) {
    if (!(error instanceof Refusal)) parts.failed(error)
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'FAILED', 'the desk failed: see the log')
    response = refusal.toResponse()
    // The connection is closed after the answer, because the rest of the request's body is not read.
    if (hasBody(incoming) && !incoming.complete) {
      response.headers.set('connection', 'close')
      if (unfinished.has(incoming.socket)) return
      unfinished.add(incoming.socket)
    }
  }
  if (response.status >= 400) parts.refused(await refusedRequest(response, incoming, admitted))
  await send(response, outgoing, admitted)
}

/**
 * Refuses a request with several Host headers, because Node uses the first one, while a proxy may have checked the last
 * one.
 */
function requireOneHost({ rawHeaders }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) throw new Refusal(400, 'REQUEST_INVALID', 'the request has several Host headers')
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

async function refusedRequest(
  response: Response,
  { method = '', url = '', socket }: IncomingMessage,
  admitted: Admitted | undefined,
): Promise<RefusedRequest> {
  const body = await response.clone().text()
  const code = /"code":"([A-Z_]+)"/.exec(body)?.[1] ?? ''
  const path = (url.split('?')[0] as string).slice(0, 100)
  return { status: response.status, code, method, path, from: admitted?.address ?? socket.remoteAddress ?? '' }
}

function headOf({ method = '', url = '', headers, rawHeaders, socket }: IncomingMessage): RequestHead {
  return { method, target: url, headers, headerCount: rawHeaders.length / 2, peer: socket.remoteAddress ?? '' }
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const tooLarge = new Refusal(413, 'TOO_LARGE', `the body is longer than ${MOST_BODY} bytes`)
  if (Number(incoming.headers['content-length'] ?? 0) > MOST_BODY) throw tooLarge
  const chunks: Buffer[] = []
  let bytes = 0
  const parts = incoming.iterator({ destroyOnReturn: false })
  try {
    for await (const chunk of parts as AsyncIterableIterator<Buffer>) {
      bytes += chunk.length
      if (bytes > MOST_BODY) throw tooLarge
      chunks.push(chunk)
    }
  } catch (error) {
    // An error other than `tooLarge` means that the client has disconnected or took too long.
    throw error === tooLarge
      ? error
      : new Refusal(400, 'REQUEST_INVALID', 'the request ended before its body was complete')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new Refusal(400, 'REQUEST_INVALID', 'the body is not UTF-8')
  }
}

/** The request as the app receives it. Its signal is aborted when the client disconnects or its session ends. */
function requestOf(
  { method = 'GET', url = '/', headers }: IncomingMessage,
  { session }: Admitted,
  body: string,
  outgoing: ServerResponse,
): Request {
  const closed = new AbortController()
  outgoing.once('close', () => closed.abort())
  const signal = session === undefined ? closed.signal : AbortSignal.any([closed.signal, session.end.signal])
  const kept = ['accept', 'content-type', 'last-event-id', 'if-none-match', 'user-agent', 'accept-encoding']
  const given = kept.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]] as const] : []))
  const isRead = method === 'GET' || method === 'HEAD'
  return new Request(`http://desk${url}`, {
    method,
    headers: [...given] as [string, string][],
    signal,
    ...(!isRead && { body }),
  })
}

async function send(response: Response, outgoing: ServerResponse, admitted: Admitted | undefined): Promise<void> {
  if (outgoing.destroyed) return
  const own = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  outgoing.writeHead(response.status, {
    ...HEADERS,
    ...(admitted?.isSecure === true && { 'strict-transport-security': `max-age=${ONE_YEAR}` }),
    ...own,
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
  })
  if (response.body === null) {
    outgoing.end()
    return
  }
  const reader = response.body.getReader()
  const stop = (): void => void reader.cancel().catch(() => {})
  outgoing.once('close', stop)
  const session = admitted?.session
  const cut = (): void => void outgoing.destroy()
  session?.end.signal.addEventListener('abort', cut, { once: true })
  if (session !== undefined) session.streams++
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      if (!outgoing.write(part.value)) await drained(outgoing)
    outgoing.end()
  } finally {
    if (session !== undefined) session.streams--
    session?.end.signal.removeEventListener('abort', cut)
  }
}

/** Waits until the client has read the sent data. Disconnects a client that does not read. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    const timer = setTimeout(() => outgoing.destroy(), STALLED_MS)
    outgoing.on('drain', done).on('close', done)
  })
}
