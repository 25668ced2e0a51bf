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
  /** Id of the current boot of the machine. `monotonicMs` counts from this boot. */
  readonly boot: string
}

// Network ports, which a simulation replaces. `venues/` and `chain/` use them instead of undici, ws or web3.js.
/** Makes one HTTPS request. Never rejects; resolves when the answer is complete or can no longer arrive (after 60 s at
 *  the latest). */
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
      /** Body of the answer as bytes; present if the body is not text. */
      bytes?: Uint8Array
    }
  | { kind: 'lost'; reason: string }

export type Dial = (url: string, on: SocketEvents) => Socket

export interface SocketEvents {
  open(): void
  /** Delivers one message: the bytes `start..end` of `data`, by default all of them. `data` may contain several
   *  messages; creating a view for each of them would take longer than reading the message. */
  message(data: Uint8Array, binary: boolean, start?: number, end?: number): void
  /** Called when all messages that arrived with one read of the socket have been delivered. */
  settled(): void
  closed(reason: string): void // called exactly once
}

export interface Socket {
  send(text: string): void
  terminate(): void
}

export type Cancel = () => void
export type Stop = () => Promise<void>
