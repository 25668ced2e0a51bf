import type { Stop } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { FeedStatus } from '../../engine/messages.ts'
import type { Sink } from '../../engine/ports.ts'
import { Overload } from '../overload.ts'
import type { FeedParts, FeedState, TakeOver, VenueFeed } from '../venue.ts'
import { Connection, LONGEST_REDIAL_MS } from './connection.ts'
import { Intake } from './intake.ts'
import { Subscriber } from './subscriptions.ts'
import { type Control, Decoder } from './wire/decode.ts'

/** The service's stream of market rows, into the columns of the current block and to the sink. The wanted keys are the
 *  only truth. */
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
  /** What an open connection is good for. */
  #phase: 'subscribing' | 'live' | 'stale' = 'subscribing'
  #time: Millis = 0
  /** When the last frame came. */
  #heardAt: Millis = 0
  /** The bytes that it lay in, and where it ended there. */
  #chunk: Uint8Array | undefined
  #chunkEnd = 0

  constructor(venue: string, parts: FeedParts) {
    this.#venue = venue
    this.#parts = parts
    this.misfits = new Misfits(parts.on.misfit)
    const takeOver: TakeOver = (block, from, to) => (this.#sink as Sink).rows(block, from, to)
    this.#intake = new Intake(parts.mints, parts.isHeld, takeOver, parts.rowsHandled)
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
      clock: parts.clock,
      send: (text) => this.#connection.send(text),
      complete: () => {
        if (this.state === 'subscribing') this.#goLive()
      },
      unanswered: () => this.#connection.lose('subscribing is not answered'),
      notice: parts.on.notice,
    })
  }

  get state(): FeedState {
    const { state } = this.#connection
    return state === 'open' ? this.#phase : state
  }

  start(sink: Sink): Stop {
    if (this.state !== 'idle') throw new Error('a feed starts once')
    this.#sink = sink
    this.#coverage.start(sink, this.#now())
    this.#connection.start()
    return async () => {
      this.#connection.stop()
      this.#coverage.closeGap(this.#now(), this.#subscriber.keys.wanted)
    }
  }

  want(keys: readonly string[]): void {
    this.#chunk = undefined // as in `#control`
    this.#subscriber.want(keys)
    this.#report()
  }

  #message(data: Uint8Array, binary: boolean, start: number, end: number): void {
    this.counts.frames++
    // What lies behind another message in one chunk has arrived with it: reading the clock again would cost as much as
    // half a row.
    if (data !== this.#chunk || start < this.#chunkEnd) this.#heardAt = this.#now()
    this.#chunk = data
    this.#chunkEnd = end
    if (this.state === 'stale') this.#goLive()
    const decoded = this.#decoder.decode(data, binary, start, end)
    const why = decoded.kind === 'row' ? this.#row() : decoded.kind === 'misfit' ? decoded.why : this.#control(decoded)
    if (why !== undefined) this.misfits.add(why, data.subarray(start, end), this.#connection.apiKey)
  }

  /** Why a person should look at it, if at all. */
  #row(): string | undefined {
    if (this.#connection.state !== 'open') return 'before authentication'
    const { unknownFields } = this.#decoder
    this.counts.unknownFields += unknownFields
    const taken = this.#intake.take(this.#decoder.row, this.#heardAt, this.#overload.level)
    if (taken === 'row') this.counts.rows++
    else if (taken === 'duplicate') this.counts.duplicates++
    else if (taken === 'shed') this.counts.shed++
    else return taken
    return unknownFields > 0 ? 'unknown field' : undefined
  }

  /** What it reports is stamped later than the chunk: the rows before it go first, and a row behind it must not be
   *  older. */
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

  /** Never backwards, whatever the clock does. */
  #now(): Millis {
    this.#time = Math.max(this.#time, this.#parts.clock.now())
    return this.#time
  }
}

/** What the engine and the tape are told of the feed: whether rows can be relied on, for which keys, and since when
 *  they could not. */
class Coverage {
  #sink: Sink | undefined
  /** null while live. */
  #gapFrom: Millis | null = null
  /** What was posted last; an engine takes a feed for down until it hears otherwise. */
  #posted = 'down'

  start(sink: Sink, now: Millis): void {
    this.#sink = sink
    this.#gapFrom = now
  }

  /** From `lastHeard` on nothing can be relied on. */
  openGap(lastHeard: Millis): void {
    this.#gapFrom ??= lastHeard
  }

  closeGap(to: Millis, keys: readonly string[]): void {
    if (this.#gapFrom !== null && keys.length > 0) this.#sink?.post({ kind: 'gap', from: this.#gapFrom, to, keys })
    this.#gapFrom = null
  }

  /** Posts what changed; nothing where nothing did. */
  report(status: FeedStatus, confirmed: readonly string[]): void {
    const posted = [status, ...confirmed].join(' ')
    if (posted === this.#posted) return
    this.#posted = posted
    this.#sink?.post({ kind: 'feed', status, confirmed })
  }
}

/** Of each reason so many are kept, and so much of each. */
const KEPT = 20
const KEPT_BYTES = 2048

/** Frames that do not fit: counted by reason, the first ones of each kept for a person to look at. */
export class Misfits {
  readonly counts = new Map<string, number>()
  readonly #keep: (why: string, text: string) => void

  constructor(keep: (why: string, text: string) => void) {
    this.#keep = keep
  }

  /** `secret` never gets into what is kept: a service may echo what it was sent. */
  add(why: string, data: Uint8Array, secret: string): void {
    const count = (this.counts.get(why) ?? 0) + 1
    this.counts.set(why, count)
    if (count > KEPT) return
    // Read further than what is kept, so that a secret across the cut is still seen whole.
    const text = Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, KEPT_BYTES + secret.length)).toString()
    this.#keep(why, (secret === '' ? text : text.replaceAll(secret, '[secret]')).slice(0, KEPT_BYTES))
  }
}
