import { sign } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { Malformed } from '../../solana/byte-reader.ts'
import { decodeRequest, encodeAnswer, FrameReader, type RefusalCode } from './frames.ts'
import type { WalletKey } from './key-file.ts'
import type { SignRequest } from './port.ts'
import { type Rules, refusalOf } from './rules.ts'
import type { Spending } from './spending-caps.ts'

export interface Conversation {
  readonly publicKey: Uint8Array
  readonly decide: (request: SignRequest) => Decision
  /** Called once, when the connection has closed, with the reason; '' if the peer closed it. */
  readonly over: (why: string) => void
}

/** Codes of errors that only mean that the peer has gone. */
const GONE = ['EPIPE', 'ECONNRESET']

/** Answers the requests of one engine one at a time, and yields to other connections in between. An invalid request
 *  closes the connection. While a client does not read its answers, its requests are not read either. */
export function serve(stream: Duplex, { publicKey, decide, over }: Conversation): void {
  const reader = new FrameReader()
  let why = ''
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!GONE.includes(error.code ?? '')) why ||= error.code ?? error.message
  })
  stream.once('close', () => over(why))
  stream.once('end', () => stream.destroy())
  const unlessMalformed = (run: () => void): void => {
    // A client that has ended its side of the stream still gets the answers to requests that were read before.
    if (stream.destroyed) return
    try {
      run()
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      why = error.message
      stream.destroy()
    }
  }
  const answer = (frames: readonly Uint8Array[], at: number): void => {
    const bytes = frames[at]
    if (bytes === undefined) {
      stream.resume()
      return
    }
    const { id, request } = decodeRequest(bytes)
    const hasRoom = stream.write(encodeAnswer({ id, ...decide(request) }))
    const goOn = () => unlessMalformed(() => answer(frames, at + 1))
    if (!hasRoom) stream.once('drain', goOn)
    else if (at + 1 < frames.length) setImmediate(goOn)
    else goOn()
  }
  stream.on('data', (chunk: Uint8Array) =>
    unlessMalformed(() => {
      stream.pause()
      answer(reader.take(chunk), 0)
    }),
  )
  stream.write(encodeAnswer({ kind: 'hello', publicKey }))
}

export type Decision =
  | { readonly kind: 'signed'; readonly signature: Uint8Array }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly reason: string }

/** Decides on one request: checks it, counts its declared maximum cost against the caps, then signs its message. */
export function decide(request: SignRequest, key: WalletKey, rules: Rules, spending: Pick<Spending, 'take'>): Decision {
  const objection = refusalOf(request, rules)
  if (objection !== undefined) return { kind: 'refused', code: 'SIGNER_REFUSED', reason: objection }
  const over = spending.take(request.boundLamports)
  if (over !== undefined) return { kind: 'refused', code: 'SIGNER_CAP', reason: over }
  return { kind: 'signed', signature: sign(null, request.message, key.privateKey) }
}
