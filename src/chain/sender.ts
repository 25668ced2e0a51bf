import type { Cancel, Clock } from '../base/machine.ts'
import type { Rpc } from './rpc/rpc.ts'

export interface SenderParts {
  /** Providers in order of preference. Each has its own rate limit for sends. */
  readonly providers: readonly Rpc[]
  readonly clock: Clock
  /** Reports that a provider's answer has a signature that is not the signature of the transaction it received. */
  readonly alarm: (text: string) => void
}

/** Delays before the first, second and every later resend, ms. */
const WAITS_MS = [500, 1_000, 2_000]
/** Options of sendTransaction. The preflight is skipped because the transaction was simulated before. `maxRetries: 0`:
 *  the node must not rebroadcast longer than intended. */
const HOW = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }

/** Sends the bytes of a signed transaction repeatedly until sending is stopped. This is safe because the chain executes
 *  a transaction at most once. The answers of the nodes are not trusted; the outcome is read from the chain. */
export class Sender {
  readonly #parts: SenderParts
  readonly #stops = new Set<Cancel>()
  /** Providers with a resend in flight. Each has at most one, so that a first send never queues behind several
   *  resends. */
  readonly #busy = new Set<Rpc>()
  #isAlarmed = false

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** Sends a transaction to all providers first, then to one provider after the other while `mayGo` returns true.
   *  `bytes`: the transaction in base64. Returns a function that stops sending. */
  send(bytes: string, signature: string, mayGo: () => boolean = () => true): Cancel {
    const { providers, clock } = this.#parts
    if (!mayGo()) return () => {}
    for (const provider of providers) void this.#post(provider, bytes, signature)
    let cancel: Cancel = () => {}
    const again = (times: number): void => {
      cancel = clock.after(WAITS_MS[Math.min(times, WAITS_MS.length - 1)] as number, () => {
        if (!mayGo()) {
          stop()
          return
        }
        this.#resend(providers[times % providers.length] as Rpc, bytes, signature)
        again(times + 1)
      })
    }
    again(0)
    const stop = (): void => {
      cancel()
      this.#stops.delete(stop)
    }
    this.#stops.add(stop)
    return stop
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }

  #resend(provider: Rpc, bytes: string, signature: string): void {
    if (this.#busy.has(provider)) return
    this.#busy.add(provider)
    void this.#post(provider, bytes, signature).then(() => this.#busy.delete(provider))
  }

  /** Sends the bytes to one provider. An error is ignored, because "already processed" is as good as success. */
  async #post(provider: Rpc, bytes: string, signature: string): Promise<void> {
    const result = await provider('sendTransaction', [bytes, HOW])
    if (!result.ok || result.value === signature || this.#isAlarmed) return
    this.#isAlarmed = true
    const answer = typeof result.value === 'string' ? result.value.slice(0, 100) : 'an invalid signature'
    this.#parts.alarm(`an RPC node received transaction ${signature} but answered with the signature ${answer}`)
  }
}
