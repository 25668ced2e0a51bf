import type { Socket as NetSocket } from 'node:net'
import { WebSocket } from 'ws'
import type { Dial, SocketEvents } from '../base/machine.ts'

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

/** Puts the cutter between the connection and the library. Were the library's inside another one some day, it would go
 *  on alone. */
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

/** A whole text frame of one fragment, unmasked, as servers send them. */
const TEXT = 0x81
/** A frame of 64 KB or more has a longer head, and is nothing to hurry for. */
const LONG = 127
const MASK = 0x80

/** Takes whole text messages out of what a socket read before the WebSocket library sees them: the library's own way
 *  from a chunk to a message costs more than all that the feed does with one. Whatever is not such a frame, or lies
 *  across two chunks, goes to the library byte by byte, in order. */
export class FrameCutter {
  readonly #message: (data: Uint8Array, start: number, end: number) => void
  readonly #passOn: (bytes: Buffer) => void
  readonly #isOpen: () => boolean
  /** Bytes still to come of the frame that the library is reading. */
  #owed = 0
  /** The beginning of a frame's head. */
  #held: Buffer | undefined

  /** `isOpen`: false once nothing more is to be read, as after a close frame. */
  constructor(
    message: (data: Uint8Array, start: number, end: number) => void,
    passOn: (bytes: Buffer) => void,
    isOpen: () => boolean,
  ) {
    this.#message = message
    this.#passOn = passOn
    this.#isOpen = isOpen
  }

  push(chunk: Buffer): void {
    const data = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = undefined
    for (let at = 0; at < data.length && this.#isOpen(); ) {
      if (this.#owed > 0) {
        const end = Math.min(data.length, at + this.#owed)
        this.#owed -= end - at
        this.#passOn(data.subarray(at, end))
        at = end
        continue
      }
      const head = headLength(data, at)
      if (at + head > data.length) {
        this.#held = data.subarray(at)
        return
      }
      const end = at + head + payloadLength(data, at)
      if (head <= 4 && data[at] === TEXT && end <= data.length) {
        this.#message(data, at + head, end)
        at = end
      } else this.#owed = end - at
    }
  }
}

/** Bytes before the payload; as far as it can be told, the whole head may not be there yet. */
function headLength(data: Buffer, at: number): number {
  if (at + 2 > data.length) return 2
  const second = data[at + 1] as number
  const length = second & LONG
  return 2 + (length === LONG ? 8 : length === 126 ? 2 : 0) + (second & MASK ? 4 : 0)
}

/** With a whole head. A length beyond all bounds is the library's to refuse. */
function payloadLength(data: Buffer, at: number): number {
  const length = (data[at + 1] as number) & LONG
  if (length < 126) return length
  return length === 126 ? data.readUInt16BE(at + 2) : data.readUInt32BE(at + 2) * 2 ** 32 + data.readUInt32BE(at + 6)
}
