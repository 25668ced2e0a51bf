import type { Socket as NetSocket } from 'node:net'
import { WebSocket } from 'ws'
import type { Dial, SocketEvents } from '../core/ports.ts'
import { FrameCutter } from './frame-cutter.ts'

const HANDSHAKE_MS = 10_000
/** More than any frame that is read, less than would hurt. */
const LONGEST_FRAME = 16 * 1_048_576

/** Sockets of the machine. No compression: it costs forty times the parsing. */
export const dialWebSocket: Dial = (url, on) => {
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: LONGEST_FRAME,
    skipUTF8Validation: false,
    followRedirects: false,
    handshakeTimeout: HANDSHAKE_MS,
  })
  let reason = ''
  socket.on('open', () => {
    cutFrames(socket, on)
    on.open()
  })
  socket.on('message', (data: Buffer, isBinary) => {
    on.message(data, isBinary)
    on.settled()
  })
  socket.on('error', (error) => {
    reason ||= error.message
  })
  socket.on('close', (code) => on.closed(reason || `code ${code}`))
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    terminate: () => socket.terminate(),
  }
}

/** Puts the cutter between the connection and the library. Were the library's inside another one some day, it would go on alone. */
function cutFrames(socket: WebSocket, on: SocketEvents): void {
  const connection = (socket as unknown as { _socket?: NetSocket })._socket
  const [library, ...others] = connection?.listeners('data') ?? []
  if (connection === undefined || library === undefined || others.length > 0) return
  let isFailed = false
  socket.on('error', () => {
    isFailed = true
  })
  const cutter = new FrameCutter(
    (data, start, end) => on.message(data, false, start, end),
    (bytes) => library.call(connection, bytes),
    () => !isFailed && socket.readyState === WebSocket.OPEN,
  )
  connection.removeListener('data', library as (chunk: Buffer) => void)
  connection.on('data', (chunk: Buffer) => {
    cutter.push(chunk)
    on.settled()
  })
}
