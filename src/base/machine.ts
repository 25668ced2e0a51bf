import type { Millis } from './units.ts'

/** A system or simulated clock. Delays are monotonic and never end early. Timers fire in the order of their due times,
 *  and in the order of creation for equal times, regardless of delays of the event loop. */
export interface Clock {
  now(): Millis
  after(ms: number, run: () => void): Cancel
}

/** The clock and identity of the machine's boot. */
export interface Machine {
  readonly clock: Clock
  /** Milliseconds since boot; monotonic. */
  readonly monotonicMs: () => number
  /** Id of the boot that `hrtime` counts from. */
  readonly boot: string
}

// Ports that a simulation replaces: `venues/` and `chain/` use these instead of undici, ws or web3.js.
/** One HTTPS exchange. Never rejects; resolves when the answer is complete or can no longer arrive (hard limit 60
 *  s). */
export type Http = (request: HttpRequest) => Promise<HttpResult>

export interface HttpRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
}

export type HttpResult =
  | { kind: 'unsent'; reason: string } // proved by the client's diagnostics: no byte was sent
  | {
      kind: 'answered'
      status: number
      headers: Readonly<Record<string, string>>
      body: string
      /** The raw body, if it is not text. */
      bytes?: Uint8Array
    }
  | { kind: 'lost'; reason: string }

export type Dial = (url: string, on: SocketEvents) => Socket

export interface SocketEvents {
  open(): void
  /** A message: bytes `start..end` of `data`; default: all. A chunk may contain many messages, and a view of each would
   *  cost more than reading it. */
  message(data: Uint8Array, binary: boolean, start?: number, end?: number): void
  /** All messages of one read have been delivered. */
  settled(): void
  closed(reason: string): void // exactly once
}

export interface Socket {
  send(text: string): void
  terminate(): void
}

export type Cancel = () => void
export type Stop = () => Promise<void>
