import type { Cancel, Clock } from '../base/machine.ts'
import type { Rpc } from './rpc/rpc.ts'

export interface SenderParts {
  /** In the order of preference; each keeps to its own budget of sends. */
  readonly providers: readonly Rpc[]
  readonly clock: Clock
  /** A provider answered with the signature of something else. */
  readonly alarm: (text: string) => void
}

/** Until the first resend, and from one to the next; the last one for all after it. */
const WAITS_MS = [500, 1_000, 2_000]
/** What it would do was simulated already, and a node must not send it on for longer than we want. */
const HOW = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }

/** Sends signed bytes, the same ones again and again, until it is told to stop: the chain takes a transaction once,
 *  however often it comes. What a node answers is not believed either way: what became of the bytes is read from the
 *  chain. */
export class Sender {
  readonly #parts: SenderParts
  readonly #stops = new Set<Cancel>()
  /** Providers that a resend waits at. One at a time, so that what is sent for the first time never stands behind many
   *  of them. */
  readonly #busy = new Set<Rpc>()
  #isAlarmed = false

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** First to all providers, then to one after the other, while `mayGo`. `bytes`: base64. */
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

  /** That it was sent already is as good as that it was sent. */
  async #post(provider: Rpc, bytes: string, signature: string): Promise<void> {
    const result = await provider('sendTransaction', [bytes, HOW])
    if (!result.ok || result.value === signature || this.#isAlarmed) return
    this.#isAlarmed = true
    const answer = typeof result.value === 'string' ? result.value.slice(0, 100) : 'what is no signature'
    this.#parts.alarm(`an RPC took ${signature} and answered with ${answer}`)
  }
}
