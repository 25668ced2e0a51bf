import type { Socket as NetSocket } from 'node:net'
import { WebSocket } from 'ws'
import type { Dial, SocketEvents } from '../base/machine.ts'

const HANDSHAKE_MS = 10_000
/** Maximum length of a frame in bytes. It is larger than any frame that the decoder accepts, but small enough to hold
 *  in memory. */
const LONGEST_FRAME = 16 * 1_048_576

/** Opens a WebSocket. Compression is off, because it costs forty times as much as parsing. */
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

/** Inserts the frame cutter between the connection and the WebSocket library. If the library does not listen to the
 *  connection in the expected way, the cutter is left out, and the library reads all frames. */
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

/** First byte of an unfragmented text frame. Servers send frames without a mask. */
const TEXT = 0x81
/** Length code of a frame of 64 KB or more, which has a longer header. The library `ws` reads such frames. */
const LONG = 127
const MASK = 0x80

/** Extracts whole text messages from the bytes of a socket before the WebSocket library receives them. The library
 *  would need more time to split a chunk into messages than the feed needs to process them. Every other frame, and
 *  every frame that is split over two chunks, is passed to the library in order. */
export class FrameCutter {
  readonly #message: (data: Uint8Array, start: number, end: number) => void
  readonly #passOn: (bytes: Buffer) => void
  readonly #isOpen: () => boolean
  /** Number of bytes that the library still needs for the frame that it is reading. */
  #owed = 0
  /** The bytes of an incomplete frame header. */
  #held: Buffer | undefined

  /** `isOpen` returns false once no more data may be read, for example after a close frame. */
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

/** Returns the length of a frame header, or a lower bound if the header is incomplete. */
function headLength(data: Buffer, at: number): number {
  if (at + 2 > data.length) return 2
  const second = data[at + 1] as number
  const length = second & LONG
  return 2 + (length === LONG ? 8 : length === 126 ? 2 : 0) + (second & MASK ? 4 : 0)
}

/** Returns the length of a frame's payload. The header must be complete. The library rejects lengths that are out of
 *  bounds. */
function payloadLength(data: Buffer, at: number): number {
  const length = (data[at + 1] as number) & LONG
  if (length < 126) return length
  return length === 126 ? data.readUInt16BE(at + 2) : data.readUInt32BE(at + 2) * 2 ** 32 + data.readUInt32BE(at + 6)
}
