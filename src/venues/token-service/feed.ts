import type { Stop } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { FeedStatus } from '../../engine/messages.ts'
import type { Sink } from '../../engine/ports.ts'
import { Overload } from '../feed-overload.ts'
import type { DeliverRows, FeedParts, FeedState, VenueFeed } from '../venue.ts'
import { Connection, LONGEST_REDIAL_MS } from './connection.ts'
import { Intake } from './intake.ts'
import { Subscriber } from './subscriptions.ts'
import { type Control, Decoder } from './wire/decode.ts'

/** The service's WebSocket feed. It decodes market rows into the current block and delivers them to the sink. After
 *  every reconnect, all wanted keys are subscribed again. */
export class Feed implements VenueFeed {
  readonly counts = { frames: 0, rows: 0, duplicates: 0, shed: 0, unknownFields: 0, losses: 0 }
  readonly misfits: Misfits
  readonly #venue: string
  readonly #parts: FeedParts
  readonly #connection: Connection
  readonly #subscriber: Subscriber
  readonly #decoder = new Decoder()
  readonly #intake: Intake
  readonly #overload: Overload
  readonly #coverage = new Coverage()
  #sink: Sink | undefined
  /** State of the feed while the connection is open. */
  #phase: 'subscribing' | 'live' | 'stale' = 'subscribing'
  #time: Millis = 0
  /** Arrival time of the last frame. */
  #heardAt: Millis = 0
  /** Buffer that contains the last frame, and the position in it at which this frame ends. */
  #chunk: Uint8Array | undefined
  #chunkEnd = 0

  constructor(venue: string, parts: FeedParts) {
    this.#venue = venue
    this.#parts = parts
    this.misfits = new Misfits(parts.on.misfit)
    const deliverRows: DeliverRows = (block, from, to) => (this.#sink as Sink).rows(block, from, to)
    this.#intake = new Intake(parts.mints, parts.isHeld, deliverRows, parts.rowsHandled)
    this.#overload = new Overload(parts.load)
    this.#connection = new Connection(parts, {
      message: (data, binary, start, end) => this.#message(data, binary, start, end),
      settled: () => this.#intake.deliver(),
      down: () => this.#down(),
      silent: () => this.#silent(),
      second: () => this.#second(),
      notice: parts.on.notice,
    })
    this.#subscriber = new Subscriber({
      venue,
      clock: parts.clock,
      send: (text) => this.#connection.send(text),
      complete: () => {
        if (this.state === 'subscribing') this.#goLive()
      },
      unanswered: () => this.#connection.lose(`${venue} does not answer subscriptions`),
      notice: parts.on.notice,
    })
  }

  get state(): FeedState {
    const { state } = this.#connection
    return state === 'open' ? this.#phase : state
  }

  start(sink: Sink): Stop {
    if (this.state !== 'idle') throw new Error('the feed is already started')
    this.#sink = sink
    this.#coverage.start(sink, this.#now())
    this.#connection.start()
    return async () => {
      this.#connection.stop()
      this.#coverage.closeGap(this.#now(), this.#subscriber.keys.wanted)
    }
  }

  want(keys: readonly string[]): void {
    this.#chunk = undefined // makes the next row read the clock, as in `#control`
    this.#subscriber.want(keys)
    this.#report()
  }

  #message(data: Uint8Array, binary: boolean, start: number, end: number): void {
    this.counts.frames++
    // All messages of one chunk arrived together, so the clock is read once for all of them. Reading it for each row
    // would add half of the cost of all other work on the row.
    if (data !== this.#chunk || start < this.#chunkEnd) this.#heardAt = this.#now()
    this.#chunk = data
    this.#chunkEnd = end
    if (this.state === 'stale') this.#goLive()
    const decoded = this.#decoder.decode(data, binary, start, end)
    const why = decoded.kind === 'row' ? this.#row() : decoded.kind === 'misfit' ? decoded.why : this.#control(decoded)
    if (why !== undefined) this.misfits.add(why, data.subarray(start, end), this.#connection.apiKey)
  }

  /** Adds the decoded row. Returns the reason if the row was rejected or is unusual; undefined otherwise. */
  #row(): string | undefined {
    if (this.#connection.state !== 'open') return 'before authentication'
    const { unknownFields } = this.#decoder
    this.counts.unknownFields += unknownFields
    const result = this.#intake.add(this.#decoder.row, this.#heardAt, this.#overload.level)
    if (result === 'row') this.counts.rows++
    else if (result === 'duplicate') this.counts.duplicates++
    else if (result === 'shed') this.counts.shed++
    else return result
    return unknownFields > 0 ? 'unknown field' : undefined
  }

  /** Handles a control message. The rows before it are delivered first, because the reports below have a later time.
   *  Rows after it in the same chunk must not have an earlier time than the reports, so the clock is read again for
   *  them. */
  #control(message: Control): undefined {
    this.#intake.deliver()
    this.#chunk = undefined
    if (message.kind === 'error') this.#error(message.code, message.message)
    else if (message.kind === 'subscribed') {
      this.#subscriber.confirm(message.keys)
      this.#report()
    } else if (message.kind === 'authenticated' && this.#connection.authenticated()) {
      this.#phase = 'subscribing'
      this.#parts.on.authenticated(message.userId, message.plan)
      this.#subscriber.connect()
    }
  }

  #error(code: string, message: string): void {
    this.#parts.on.notice(`${this.#venue} reported an error on the feed: ${code} ${message}`)
    if (code === 'AUTHENTICATION_FAILED') {
      this.#connection.refuse()
      this.#parts.on.refused(message)
    } else if (code === 'CONNECTION_LIMIT') this.#connection.lose('too many connections', LONGEST_REDIAL_MS)
    else if (code === 'RATE_LIMIT_EXCEEDED') this.#subscriber.slowDown()
    else if (code === 'SUBSCRIPTION_FAILED') this.#subscriber.refuse()
  }

  #second(): void {
    this.#overload.tick()
    if (this.state === 'live' && this.#connection.prove()) this.#subscriber.forgive()
    if (this.#connection.state === 'open') this.#subscriber.tick()
  }

  #goLive(): void {
    this.#phase = 'live'
    this.#coverage.closeGap(this.#now(), this.#subscriber.keys.wanted)
    this.#report()
  }

  #silent(): void {
    if (this.state !== 'live') return
    this.#coverage.openGap(this.#heardAt)
    this.#phase = 'stale'
    this.#report()
  }

  #down(): void {
    this.#intake.deliver()
    this.counts.losses++
    this.#coverage.openGap(this.#heardAt)
    this.#subscriber.disconnect()
    this.#report()
  }

  #report(): void {
    const { state } = this
    if (state === 'live' || state === 'stale') this.#coverage.report(state, this.#subscriber.keys.confirmed)
    else this.#coverage.report(state === 'refused' ? 'refused' : 'down', [])
  }

  /** Returns the current time, which is never earlier than the one returned before. */
  #now(): Millis {
    this.#time = Math.max(this.#time, this.#parts.clock.now())
    return this.#time
  }
}

/** Reports two things to the engine and the tape: the subscription keys whose rows all arrive, and the gaps during
 *  which rows may be missing. */
class Coverage {
  #sink: Sink | undefined
  /** Start of the open gap; null while the feed is live. */
  #gapFrom: Millis | null = null
  /** Status and keys of the last report, as text. Before the first report it is `down`, which an engine assumes at
   *  its start. */
  #posted = 'down'

  start(sink: Sink, now: Millis): void {
    this.#sink = sink
    this.#gapFrom = now
  }

  /** Opens a gap: rows after `lastHeard` may be missing. */
  openGap(lastHeard: Millis): void {
    this.#gapFrom ??= lastHeard
  }

  closeGap(to: Millis, keys: readonly string[]): void {
    if (this.#gapFrom !== null && keys.length > 0) this.#sink?.post({ kind: 'gap', from: this.#gapFrom, to, keys })
    this.#gapFrom = null
  }

  /** Posts the status if it differs from the last report. */
  report(status: FeedStatus, confirmed: readonly string[]): void {
    const posted = [status, ...confirmed].join(' ')
    if (posted === this.#posted) return
    this.#posted = posted
    this.#sink?.post({ kind: 'feed', status, confirmed })
  }
}

/** Maximum number of frames that are kept for each reason, and maximum length of the text that is kept of a frame. */
const KEPT = 20
const KEPT_BYTES = 2048

/** Counts frames that cannot be decoded, by reason, and keeps the first ones of each reason for inspection. */
export class Misfits {
  readonly counts = new Map<string, number>()
  readonly #keep: (why: string, text: string) => void

  constructor(keep: (why: string, text: string) => void) {
    this.#keep = keep
  }

  /** Adds a frame. Removes `secret` from the kept text, because a service may echo the API key. */
  add(why: string, data: Uint8Array, secret: string): void {
    const count = (this.counts.get(why) ?? 0) + 1
    this.counts.set(why, count)
    if (count > KEPT) return
    // More than the kept length is searched, so that a secret that begins before the cut and ends after it is replaced
    // too.
    const text = Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, KEPT_BYTES + secret.length)).toString()
    this.#keep(why, (secret === '' ? text : text.replaceAll(secret, '[secret]')).slice(0, KEPT_BYTES))
  }
}
