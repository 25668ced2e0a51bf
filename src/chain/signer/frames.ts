import { type ErrorCode, ExitCode } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import type { SignRequest } from './port.ts'

// Protocol between an engine and a signer. A frame is a length (a little-endian uint32), followed by that many bytes.
// The signer begins with `hello` or `failed`, then answers every request in order. Each side treats the other as
// hostile.

export type Answer =
  | { readonly kind: 'hello'; readonly publicKey: Uint8Array }
  | { readonly kind: 'failed'; readonly exitCode: ExitCode; readonly reason: string }
  | { readonly kind: 'signed'; readonly id: number; readonly signature: Uint8Array }
  | { readonly kind: 'refused'; readonly id: number; readonly code: RefusalCode; readonly reason: string }

export type RefusalCode = Extract<ErrorCode, 'SIGNER_REFUSED' | 'SIGNER_CAP'>

const CODES: readonly RefusalCode[] = ['SIGNER_REFUSED', 'SIGNER_CAP']
const KINDS = ['hello', 'failed', 'signed', 'refused'] as const
const PROTOCOL = 1
/** Maximum length of a request or an answer, in bytes. */
const MOST_BYTES = 4_096
const MOST_TEXT = 255
/** Upper limit, in lamports, for the maximum cost that a request declares. It is above the supply of SOL. */
const MOST_LAMPORTS = 2n ** 60n
const LENGTH_BYTES = 4

/** Splits a byte stream into frames. Keeps at most one incomplete frame. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Returns the frames that this chunk completes. Throws Malformed if an announced length is invalid. */
  take(chunk: Uint8Array): Uint8Array[] {
    const frames: Uint8Array[] = []
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = 0
    while (bytes.length - at >= LENGTH_BYTES) {
      const length = view.getUint32(at, true)
      if (length === 0 || length > MOST_BYTES)
        throw new Malformed(`a frame has ${length} bytes, but must have 1 to ${MOST_BYTES}`)
      const end = at + LENGTH_BYTES + length
      if (end > bytes.length) break
      frames.push(bytes.subarray(at + LENGTH_BYTES, end))
      at = end
    }
    this.#rest = Buffer.from(bytes.subarray(at))
    return frames
  }
}

export function encodeRequest(id: number, request: SignRequest): Buffer {
  const { orderId, attemptId, policyHash, boundLamports, guarded, message } = request
  const head = Buffer.alloc(13)
  head.writeUInt32LE(id, 0)
  head.writeUInt8(guarded ? 1 : 0, 4)
  head.writeBigUInt64LE(boundLamports, 5)
  return frame([head, text(orderId), text(attemptId), text(policyHash), message])
}

export function decodeRequest(bytes: Uint8Array): { readonly id: number; readonly request: SignRequest } {
  const reader = new ByteReader(bytes)
  const id = reader.uint32()
  const flag = reader.byte()
  if (flag > 1) throw new Malformed('the flag that announces guards must be 0 or 1')
  const boundLamports = reader.uint64()
  if (boundLamports > MOST_LAMPORTS)
    throw new Malformed('the maximum cost that the request declares exceeds the supply of SOL')
  const [orderId, attemptId, policyHash] = [readText(reader), readText(reader), readText(reader)] as const
  const message = reader.bytes(reader.left)
  return { id, request: { orderId, attemptId, policyHash, boundLamports, guarded: flag === 1, message } }
}

export function encodeAnswer(answer: Answer): Buffer {
  const kind = Uint8Array.of(KINDS.indexOf(answer.kind))
  if (answer.kind === 'hello') return frame([kind, Uint8Array.of(PROTOCOL), answer.publicKey])
  if (answer.kind === 'failed') return frame([kind, Uint8Array.of(answer.exitCode), tail(answer.reason)])
  const id = Buffer.alloc(4)
  id.writeUInt32LE(answer.id)
  if (answer.kind === 'signed') return frame([kind, id, answer.signature])
  return frame([kind, id, Uint8Array.of(CODES.indexOf(answer.code)), tail(answer.reason)])
}

export function decodeAnswer(bytes: Uint8Array): Answer {
  const reader = new ByteReader(bytes)
  const kind = KINDS[reader.byte()]
  if (kind === undefined) throw new Malformed('the kind of the answer is unknown')
  if (kind === 'hello') {
    if (reader.byte() !== PROTOCOL) throw new Malformed('the signer speaks another protocol version')
    return { kind, publicKey: exactly(reader, 32) }
  }
  if (kind === 'failed') {
    const code = reader.byte()
    const exitCode = Object.values(ExitCode).find((one) => one === code) ?? ExitCode.failed
    return { kind, exitCode, reason: readTail(reader) }
  }
  const id = reader.uint32()
  if (kind === 'signed') return { kind, id, signature: exactly(reader, 64) }
  const code = CODES[reader.byte()]
  if (code === undefined) throw new Malformed('the code of the refusal is unknown')
  return { kind, id, code, reason: readTail(reader) }
}

function frame(parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length > MOST_BYTES) throw new RangeError(`a frame has ${length} bytes, but at most ${MOST_BYTES} are allowed`)
  const head = Buffer.alloc(LENGTH_BYTES)
  head.writeUInt32LE(length)
  return Buffer.concat([head, ...parts])
}

/** Encodes a name as its length and its characters. A name must be visible ASCII, so that it can be logged. */
function text(value: string): Buffer {
  if (!/^[\x20-\x7e]{0,255}$/.test(value))
    throw new RangeError(`a name must be up to 255 visible ASCII characters: ${JSON.stringify(value)}`)
  return Buffer.from(`${String.fromCharCode(value.length)}${value}`, 'latin1')
}

function readText(reader: ByteReader): string {
  const bytes = reader.bytes(reader.byte())
  if (bytes.some((byte) => byte < 32 || byte > 126)) throw new Malformed('a name must be visible ASCII')
  return Buffer.from(bytes).toString('latin1')
}

function tail(reason: string): Buffer {
  return Buffer.from(reason.slice(0, MOST_TEXT))
}

/** Reads a text that the other side sent, and removes characters that could control a terminal. */
function readTail(reader: ByteReader): string {
  return printable(Buffer.from(reader.bytes(reader.left)).toString())
}

function exactly(reader: ByteReader, length: number): Uint8Array {
  const bytes = Uint8Array.from(reader.bytes(length))
  if (reader.left > 0) throw new Malformed('the answer has more bytes than its kind allows')
  return bytes
}
