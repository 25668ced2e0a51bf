import type { Millis } from './units.ts'

/** A system or simulated clock. Delays are monotonic and never end early. Timers fire in the order of their due times;
 *  timers with the same due time fire in the order in which they were set, even if the event loop is late. */
export interface Clock {
  now(): Millis
  after(ms: number, run: () => void): Cancel
}

/** The clock of the machine, and the identity of its current boot. */
export interface Machine {
  readonly clock: Clock
  /** Milliseconds since boot; monotonic. */
  readonly monotonicMs: () => number
  /** Id of the current boot. `monotonicMs` counts from the start of that boot. */
  readonly boot: string
}

// Ports that a simulation replaces. `venues/` and `chain/` use them instead of undici, ws or web3.js.
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
  | { kind: 'unsent'; reason: string } // The client's diagnostics prove that no byte was sent.
  | {
      kind: 'answered'
      status: number
      headers: Readonly<Record<string, string>>
      body: string
      /** The body as bytes, if it is not text. */
      bytes?: Uint8Array
    }
  | { kind: 'lost'; reason: string }

export type Dial = (url: string, on: SocketEvents) => Socket

export interface SocketEvents {
  open(): void
  /** Delivers one message: the bytes `start..end` of `data`, by default all of them. `data` may contain many messages,
   *  and creating a view for each message would cost more than reading it. */
  message(data: Uint8Array, binary: boolean, start?: number, end?: number): void
  /** Called when all messages of one read of the socket have been delivered. */
  settled(): void
  closed(reason: string): void // called exactly once
}

export interface Socket {
  send(text: string): void
  terminate(): void
}

export type Cancel = () => void
export type Stop = () => Promise<void>
