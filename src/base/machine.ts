import type { Millis } from './units.ts'

/** System or simulated. Delays are monotonic and never end early. Timers fire in the order of their due times, ties in
 *  the order in which they were set, however late the event loop is. */
export interface Clock {
  now(): Millis
  after(ms: number, run: () => void): Cancel
}

/** What a process stands on. */
export interface Machine {
  readonly clock: Clock
  /** Milliseconds since its boot; never steps. */
  readonly monotonicMs: () => number
  /** Which boot those count from. */
  readonly boot: string
}

// What a simulation replaces under the live adapters: service/ and chain/ take these, never undici, ws or web3.js
// themselves.
/** One HTTPS exchange; never throws. The promise ends when the answer is whole or can not come any more (hard limit 60
 *  s). */
export type Http = (request: HttpRequest) => Promise<HttpResult>

export interface HttpRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
}

export type HttpResult =
  | { kind: 'unsent'; reason: string } // proved by the client's diagnostics: no byte of the request was written
  | {
      kind: 'answered'
      status: number
      headers: Readonly<Record<string, string>>
      body: string
      /** The body as it came, where it is no text. */
      bytes?: Uint8Array
    }
  | { kind: 'lost'; reason: string }

export type Dial = (url: string, on: SocketEvents) => Socket

export interface SocketEvents {
  open(): void
  /** Bytes `start..end` of `data`, all of them where left out: many messages lie in one chunk, and a view of each would
   *  cost more than reading it. */
  message(data: Uint8Array, binary: boolean, start?: number, end?: number): void
  /** Every message of what was read at once has been told. */
  settled(): void
  closed(reason: string): void // once, whatever happened
}

export interface Socket {
  send(text: string): void
  terminate(): void
}

export type Cancel = () => void
export type Stop = () => Promise<void>
