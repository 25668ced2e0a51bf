// A separate process that replaces the service: a WebSocket server that sends market frames when the bench tells it to,
// and an HTTP server that receives the POST requests of orders.
import { createServer, type Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { encodeFrames, marketTexts, stampNow, stampPlaces } from './frames.ts'

/** Commands of the bench. */
export type ToServer =
  | { readonly kind: 'blast'; readonly count: number }
  | { readonly kind: 'pace'; readonly perSecond: number; readonly seconds: number; readonly onceSubscribed?: boolean }
  | { readonly kind: 'text'; readonly text: string }

/** Messages of the server: its addresses, and the time at which the first byte of each POST arrived. */
export type FromServer =
  | { readonly kind: 'listening'; readonly feedPort: number; readonly postPort: number }
  | { readonly kind: 'post'; readonly at: number }

/** Number of different frames. It is so large that a repeated frame is no longer recognized as a duplicate. */
const FRAMES = 65_536
const CHUNK_BYTES = 65_536
const REFUSAL = '{"error":{"code":"INSUFFICIENT_BALANCE","message":"no"}}'

const { bytes, ends } = encodeFrames(marketTexts(FRAMES))
const places = stampPlaces(bytes, ends)
let client: WebSocket | undefined
let next = 0
/** Starts to send the frames. Called when they were requested and a client has subscribed. */
let begin = (): void => {}

function say(message: FromServer): void {
  process.send?.(message)
}

function rawSocket(): Socket {
  return (client as unknown as { _socket: Socket })._socket
}

/** Sends frames as fast as the client reads them. */
function blast(left: number): void {
  const socket = rawSocket()
  while (left > 0) {
    const from = next === 0 ? 0 : (ends[next - 1] as number)
    let to = next
    while (to < FRAMES && left > 0 && (ends[to] as number) - from <= CHUNK_BYTES) {
      to++
      left--
    }
    next = to % FRAMES
    if (!socket.write(bytes.subarray(from, ends[to - 1]))) {
      socket.once('drain', () => blast(left))
      return
    }
  }
}

/** Sends frames at a steady rate. Each frame is stamped with its sending time. */
function pace(perSecond: number, seconds: number): void {
  const began = performance.now()
  const count = perSecond * seconds
  let sent = 0
  const step = (): void => {
    const due = Math.min(count, Math.floor(((performance.now() - began) / 1000) * perSecond))
    while (sent < due) {
      const from = next === 0 ? 0 : (ends[next - 1] as number)
      const now = String(stampNow())
      let to = next
      for (; to < FRAMES && sent < due; to++, sent++) bytes.write(now, places[to] as number, 'latin1')
      rawSocket().write(Buffer.from(bytes.subarray(from, ends[to - 1])))
      next = to % FRAMES
    }
    if (sent < count) setTimeout(step, 1)
  }
  step()
}

/** Starts a steady rate of frames, now or when a client has subscribed. */
function start({ perSecond, seconds, onceSubscribed }: Extract<ToServer, { kind: 'pace' }>): void {
  begin = () => {
    begin = () => {}
    pace(perSecond, seconds)
  }
  if (onceSubscribed !== true) begin()
}

function answer(socket: Socket): void {
  let isNew = true
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    if (isNew) say({ kind: 'post', at: stampNow() })
    isNew = chunk.at(-1) === 125 // the closing brace of the body
    if (!isNew) return
    const head = `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${REFUSAL.length}\r\n\r\n`
    socket.write(head + REFUSAL)
  })
}

function converse(socket: WebSocket): void {
  client = socket
  socket.on('message', (data) => {
    const { method, keys } = JSON.parse(String(data)) as { method: string; keys?: string[] }
    if (method === 'authenticate') socket.send('{"type":"authenticated","userId":"bench","plan":"Premium"}')
    if (method === 'subscribe') {
      socket.send(JSON.stringify({ type: 'subscribed', keys }))
      begin()
    }
    if (method === 'ping') socket.send('{"type":"pong"}')
  })
}

process.on('message', (message: ToServer) => {
  if (message.kind === 'blast') blast(message.count)
  else if (message.kind === 'pace') start(message)
  else client?.send(message.text)
})
process.on('disconnect', () => process.exit())

const feed = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
feed.on('connection', converse)
feed.on('listening', () => {
  const posts = createServer(answer).listen(0, '127.0.0.1', () => {
    const portOf = (server: { address(): unknown }): number => (server.address() as { port: number }).port
    say({ kind: 'listening', feedPort: portOf(feed), postPort: portOf(posts) })
  })
})
