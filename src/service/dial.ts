import { WebSocket } from 'ws'
import type { Dial } from '../core/ports.ts'

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
  socket.on('open', () => on.open())
  socket.on('message', (data: Buffer, isBinary) => on.message(data, isBinary))
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
