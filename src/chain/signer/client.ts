import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/machine.ts'
import { Malformed } from '../../solana/byte-reader.ts'
import { type Answer, decodeAnswer, encodeRequest, FrameReader } from './frames.ts'
import type { SignRequest, SignResult } from './port.ts'

/** A connection to a signer. */
export interface Line {
  readonly stream: Duplex
  /** Closes the connection, so that no open request can be answered any more. If the other side is a child process,
   *  resolves when the child has ended. */
  cut(): Promise<unknown>
  /** Returns why the signer ended, as text for a person; '' if unknown. */
  why(): string
}

/** Time limits in ms: BEGIN_MS for the first message of a signer, which may still be starting; ANSWER_MS for the answer
 *  to a request. */
const BEGIN_MS = 30_000
export const ANSWER_MS = 2_000
/** Prefix of the SPKI encoding of an ed25519 key. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** One connection to a signer, from the signer's first message to the end of the connection. Each signature in an
 *  answer is verified. */
export class SignerClient {
  readonly #line: Line
  readonly #clock: Clock
  readonly #ended: (why: string) => void
  readonly #reader = new FrameReader()
  readonly #waiting = new Map<number, { request: SignRequest; answer: (result: SignResult) => void }>()
  #began: ((begun: Extract<Answer, { kind: 'hello' | 'failed' }>) => void) | undefined
  #publicKey: KeyObject | undefined
  #over: string | undefined
  #lastId = 0

  /** `ended` is called once, with the reason, when the connection has ended. */
  constructor(line: Line, clock: Clock, ended: (why: string) => void) {
    this.#line = line
    this.#clock = clock
    this.#ended = ended
    line.stream.on('data', (chunk: Uint8Array) => this.#take(chunk))
    line.stream.on('error', () => void this.end('the connection broke'))
    line.stream.once('end', () => void this.end('it ended'))
    line.stream.once('close', () => void this.end('it ended'))
  }

  /** Waits for the first message of the signer. If the connection ends before the message arrives, resolves with an
   *  answer of kind `failed`. */
  begin(): Promise<Extract<Answer, { kind: 'hello' | 'failed' }>> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(
        BEGIN_MS,
        () => void this.end(`the signer sent no first message within ${BEGIN_MS / 1000} s`),
      )
      this.#began = (begun) => {
        cancel()
        this.#began = undefined
        resolve(begun)
      }
      if (this.#over !== undefined) this.#began({ kind: 'failed', exitCode: 1, reason: this.#over })
    })
  }

  ask(request: SignRequest): Promise<SignResult> {
    if (this.#over !== undefined) return Promise.resolve(down(this.#over))
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ANSWER_MS, () => void this.end(`no answer within ${ANSWER_MS / 1000} s`))
      const answer = (result: SignResult): void => {
        cancel()
        this.#waiting.delete(id)
        resolve(result)
      }
      this.#waiting.set(id, { request, answer })
      try {
        this.#line.stream.write(encodeRequest(id, request))
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        answer({ ok: false, code: 'SIGNER_REFUSED', reason: `invalid request: ${error.message}` })
      }
    })
  }

  /** Ends the connection. It is closed before the waiting requests are answered with an error, so that the signer
   *  cannot sign them afterwards. */
  end(why: string): Promise<unknown> {
    const cut = this.#line.cut()
    if (this.#over !== undefined) return cut
    const said = this.#line.why()
    this.#over = said === '' ? why : said
    this.#began?.({ kind: 'failed', exitCode: 1, reason: this.#over })
    for (const { answer } of [...this.#waiting.values()]) answer(down(this.#over))
    this.#ended(this.#over)
    return cut
  }

  #take(chunk: Uint8Array): void {
    if (this.#over !== undefined) return
    try {
      for (const bytes of this.#reader.take(chunk)) this.#hear(decodeAnswer(bytes))
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      void this.end(`the signer sent an invalid answer: ${error.message}`)
    }
  }

  #hear(answer: Answer): void {
    if (answer.kind === 'hello' || answer.kind === 'failed') {
      if (this.#began === undefined) throw new Malformed('the signer sent its first message twice')
      if (answer.kind === 'hello') {
        const key = Buffer.concat([SPKI, answer.publicKey])
        this.#publicKey = createPublicKey({ key, format: 'der', type: 'spki' })
      }
      this.#began(answer)
      return
    }
    const waiting = this.#waiting.get(answer.id)
    if (waiting === undefined) throw new Malformed('no request waits for this answer')
    if (answer.kind === 'refused') waiting.answer({ ok: false, code: answer.code, reason: answer.reason })
    else if (this.#isOver(waiting.request.message, answer.signature))
      waiting.answer({ ok: true, signature: answer.signature })
    else throw new Malformed('the signature is not valid for the message of the request')
  }

  #isOver(message: Uint8Array, signature: Uint8Array): boolean {
    return this.#publicKey !== undefined && verify(null, message, this.#publicKey, signature)
  }
}

export function down(why: string): SignResult {
  return { ok: false, code: 'SIGNER_DOWN', reason: `the signer is down: ${why}` }
}
