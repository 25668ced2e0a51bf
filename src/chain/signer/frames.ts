import { type ErrorCode, ExitCode } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import type { SignRequest } from './signer.ts'

// How an engine and a signer talk: frames of a length (uint32, little-endian) and so many bytes. The signer begins with
// `hello` or `failed`; then every request is answered, one by one. Both sides take the other for hostile.

export type Answer =
  | { readonly kind: 'hello'; readonly publicKey: Uint8Array }
  | { readonly kind: 'failed'; readonly exitCode: ExitCode; readonly reason: string }
  | { readonly kind: 'signed'; readonly id: number; readonly signature: Uint8Array }
  | { readonly kind: 'refused'; readonly id: number; readonly code: RefusalCode; readonly reason: string }

export type RefusalCode = Extract<ErrorCode, 'SIGNER_REFUSED' | 'SIGNER_CAP'>

const CODES: readonly RefusalCode[] = ['SIGNER_REFUSED', 'SIGNER_CAP']
const KINDS = ['hello', 'failed', 'signed', 'refused'] as const
const PROTOCOL = 1
/** Neither a request nor an answer is longer. */
const MOST_BYTES = 4_096
const MOST_TEXT = 255
/** More lamports than there are. */
const MOST_LAMPORTS = 2n ** 60n
const LENGTH_BYTES = 4

/** Cuts what arrives into frames, holding on to no more than one that is not whole. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /** The frames that are whole now. Throws Malformed where one is announced that cannot be. */
  take(chunk: Uint8Array): Uint8Array[] {
    const frames: Uint8Array[] = []
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = 0
    while (bytes.length - at >= LENGTH_BYTES) {
      const length = view.getUint32(at, true)
      if (length === 0 || length > MOST_BYTES) throw new Malformed(`a frame of ${length} bytes`)
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
  if (flag > 1) throw new Malformed('a flag that is neither 0 nor 1')
  const boundLamports = reader.uint64()
  if (boundLamports > MOST_LAMPORTS) throw new Malformed('a bound of more lamports than there are')
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
  if (kind === undefined) throw new Malformed('an answer that is none')
  if (kind === 'hello') {
    if (reader.byte() !== PROTOCOL) throw new Malformed('a signer of another version')
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
  if (code === undefined) throw new Malformed('a refusal that is none')
  return { kind, id, code, reason: readTail(reader) }
}

function frame(parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length > MOST_BYTES) throw new RangeError(`a frame of ${length} bytes, and at most ${MOST_BYTES} travel`)
  const head = Buffer.alloc(LENGTH_BYTES)
  head.writeUInt32LE(length)
  return Buffer.concat([head, ...parts])
}

/** A name: visible ASCII, so that it may stand in a log. */
function text(value: string): Buffer {
  if (!/^[\x20-\x7e]{0,255}$/.test(value)) throw new RangeError(`not a name that travels: ${JSON.stringify(value)}`)
  return Buffer.from(`${String.fromCharCode(value.length)}${value}`, 'latin1')
}

function readText(reader: ByteReader): string {
  const bytes = reader.bytes(reader.byte())
  if (bytes.some((byte) => byte < 32 || byte > 126)) throw new Malformed('a name that is not visible ASCII')
  return Buffer.from(bytes).toString('latin1')
}

function tail(reason: string): Buffer {
  return Buffer.from(reason.slice(0, MOST_TEXT))
}

/** The other side's words: nothing in them may steer a terminal. */
function readTail(reader: ByteReader): string {
  return printable(Buffer.from(reader.bytes(reader.left)).toString())
}

function exactly(reader: ByteReader, length: number): Uint8Array {
  const bytes = Uint8Array.from(reader.bytes(length))
  if (reader.left > 0) throw new Malformed('bytes behind the answer')
  return bytes
}
