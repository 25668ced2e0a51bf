import type { Refusal } from '../base/errors.ts'
import type { Clock, Dial, Http, HttpRequest } from '../base/machine.ts'
import type { Random } from '../base/random.ts'
import type { Lamports, Millis, TokenAmount } from '../base/units.ts'
import type { Source } from '../engine/ports.ts'
import type { Plan } from '../engine/settings.ts'
import type { TokenId } from '../market/block.ts'
import type { LiveBlock } from '../market/live-block.ts'
import type { Mints } from '../market/mints.ts'
import type { Attempt } from '../orders/attempt.ts'
import type { Executor, Outcome } from '../orders/ports.ts'
import type { ServedInterface } from '../orders/served-interface.ts'
import type { AskedTrade, Built, SellUnit } from '../orders/trade-request.ts'

/** Facts from a venue's document that apply to all its interfaces: feed, executor and builder. */
export interface VenueTerms {
  /** Name of the venue as the subject of a sentence in a message, for example "the token service". */
  readonly name: string
  /** Currency of a trade's amount according to the venue's document; '' if the document names none. The document may
   *  leave open in which unit the amount is, for example SOL or lamports. */
  readonly amountCurrency: string
  readonly plans: Plans
}

/** One kind of trading service. A folder of `venues/` implements it; `terms.ts` and `registry.ts` list it. */
export interface Venue extends VenueTerms {
  readonly captures: Captures
  readonly probe: VenueProbe
  readonly transactions: BuiltTransactions
  /** This venue's interface, as the sandbox serves it on loopback. */
  readonly served: ServedInterface
  openFeed(parts: FeedParts): VenueFeed
  /** Opens an executor of orders at the venue, which builds, signs and sends the transaction. */
  openExecutor(parts: ExecutorParts): Executor
  /** Opens a builder, which requests unsigned transactions for orders that are signed here. */
  openBuilder(parts: BuilderParts): Builder
}

/** Request budgets by plan. */
export interface Plans {
  /** Plans whose limits are published, the smallest first. */
  readonly published: readonly [Plan, ...Plan[]]
  /** Plan that applies at the start. `auto` means the smallest plan until the venue names the plan of the key. */
  first(configured: string | Plan): Plan
  /** Returns the plan that the venue calls `name`. If the name is unknown, the plan `present` (default: the smallest
   *  plan) stays in force. */
  named(name: string, present?: Plan): NamedPlan
}

export interface NamedPlan {
  readonly plan: Plan
  /** Reason why `plan` is only assumed; '' if the venue named a known plan. */
  readonly notice: string
}

// Interfaces of the feed.

export interface FeedParts {
  readonly url: string
  /** Returns the API key. It is read again for every connection, and every 30 s while the venue refuses the last
   *  key. */
  readonly apiKey: () => string
  readonly dial: Dial
  readonly clock: Clock
  readonly random: Random
  /** Runs each job as soon as the plan's message rate allows it. */
  readonly pace: (job: () => void) => void
  readonly mints: Mints
  /** Whether a bot holds the token, or has an open order for it. Rows of such tokens are never dropped. */
  readonly isHeld: (token: TokenId) => boolean
  /** Returns the share of the time since its last call in which the event loop was busy, 0 to 1 (see `loopLoad`). */
  readonly load: () => number
  /** Returns how many of the delivered rows the engine has processed. Absent if every row is processed when it is
   *  delivered. */
  readonly rowsHandled?: () => number
  readonly on: FeedEvents
}

export interface FeedEvents {
  authenticated(userId: string, plan: string): void
  /** Reports that the venue refuses the key. At the start this ends the command; later only entries stop. */
  refused(reason: string): void
  /** Receives a frame that cannot be decoded, for the journal. Only the first frames of each reason are reported. */
  misfit(why: string, text: string): void
  /** Receives a text for the operator about a lost connection, an error of the venue, or a dropped subscription key. */
  notice(text: string): void
}

export type FeedState =
  | 'idle'
  | 'dialing'
  | 'authenticating'
  | 'subscribing'
  | 'live'
  | 'stale'
  | 'waiting'
  | 'refused'
  | 'stopped'

/** Market rows of a venue. */
export interface VenueFeed extends Source {
  readonly state: FeedState
  readonly counts: FeedCounts
  /** Number of undecodable frames by reason. */
  readonly misfits: { readonly counts: ReadonlyMap<string, number> }
}

export interface FeedCounts {
  readonly frames: number
  readonly rows: number
  readonly duplicates: number
  /** Number of rows that were dropped under overload. */
  readonly shed: number
  readonly unknownFields: number
  /** Number of lost connections. */
  readonly losses: number
}

/** Delivers the rows `from` to `to` (exclusive) of a block. Returns the index of the first row that was not accepted.
 *  The caller must offer this row and the following ones again. */
export type DeliverRows = (block: LiveBlock, from: number, to: number) => number

// Interfaces of executors and builders.

/** Access to the venue: its address, and the key that authenticates requests. */
export interface AccessParts {
  readonly http: Http
  readonly clock: Clock
  readonly baseUrl: string
  readonly apiKey: () => string
}

/** Values on which the content of a trade request depends, in addition to the attempt. */
export interface TermParts {
  /** Public key of the trading wallet. */
  readonly wallet: string
  /** Returns the largest buy that the current plan allows. */
  readonly maxBuyLamports: () => Lamports
  /** Returns the unit in which this venue reads the number of tokens in a sale, if the unit is proved. */
  readonly sellUnit: () => SellUnit
  /** Returns the wallet's balance of a mint in base units; undefined if unknown. */
  readonly holding: (mint: string) => TokenAmount | undefined
}

export interface ExecutorParts extends AccessParts, TermParts {
  readonly resolve: Resolve
  /** Called when the request of a sale gave a number of tokens, but another amount was sold. The unit that was assumed
   *  for such numbers is then wrong. */
  readonly contradicted?: (attempt: Attempt, sold: TokenAmount) => void
}

/** Tracks attempts until their outcome is final. It never calls `done` from inside one of its methods. */
export interface Resolve {
  begin(attempt: Attempt, done: (outcome: Outcome) => void): Resolution
  /** Continues with an attempt that an earlier process may have sent. */
  resume(attempt: Attempt, done: (outcome: Outcome) => void): void
}

/** Receives the evidence about one attempt. */
export interface Resolution {
  /** Called when the venue answered with this signature. */
  acked(signature: string): void
  /** Called when the answer is late or inconclusive. */
  doubt(reason: string, signature?: string): void
  /** Called when no answer can arrive any more, although the request may still be executed. */
  hungUp(): void
  /** Called when the venue refused the request. */
  refused(outcome: Extract<Outcome, { kind: 'refused' }>): void
  /** Called when no byte of the request was sent. */
  unsent(outcome: Extract<Outcome, { kind: 'unsent' }>): void
}

export interface BuilderParts extends AccessParts, TermParts {
  readonly check: CheckBytes
}

export interface Builder {
  /** Sends one request for an unsigned transaction. Never throws. */
  build(attempt: Attempt): Promise<Built>
}

/** Returns the reason why the bytes are not a transaction; undefined if they are one. */
export type CheckBytes = (bytes: Uint8Array) => Refusal | undefined

/** Reads requests to a builder and answers of a builder, without a connection. */
export interface BuiltTransactions {
  readReply(body: Uint8Array, check: CheckBytes): BuiltReply
  /** Parses the body of a trade request, to which `side` was added. */
  readRequest(text: string): ReadRequest
}

/** Answer of a builder. */
export type BuiltReply =
  | {
      readonly ok: true
      readonly bytes: Uint8Array
      /** The last valid height that the builder claims. It is only compared with the height of our own node. Undefined
       *  if the answer has no height, or several. */
      readonly lastValidBlockHeight: number | undefined
    }
  | ({ readonly ok: false } & Refusal)

export type ReadRequest =
  | { readonly ok: true; readonly asked: AskedTrade }
  | { readonly ok: false; readonly problem: string }

// Interfaces of the diagnosis.

/** Builds the requests of the command `doctor`, and reads their answers. */
export interface VenueProbe {
  /** Builds a read-only request, which the caller sends. Throws RangeError if `key` is not a public key of 32 bytes. */
  request(record: VenueRecord, key: string, access: Pick<AccessParts, 'baseUrl' | 'apiKey'>): HttpRequest
  /** Returns the path of the signature in the answer to a trade, such as `data.txid`; '' unless the answer has exactly
   *  one signature. */
  signaturePathOf(body: string): string
}

export type VenueRecord = 'portfolio' | 'tokenInfo'

// Interfaces of recorded feeds.

/** File format of a recorded feed. A file has the venue's messages as NDJSON, or as CSV if its name ends in .csv. */
export interface Captures {
  /** Yields the messages of a file. Throws SluiceError if the file cannot be read or its CSV header is incomplete. */
  linesOf(path: string): Generator<Line, void, undefined>
  reader(): CaptureReader
  importer(deliverRows: DeliverRows): CaptureImporter
  writer(path: string): CaptureWriter
}

/** A line of a file. The buffer is reused for the next line. */
export interface Line {
  readonly number: number
  readonly data: Buffer
  readonly start: number
  readonly end: number
  /** Reason why the line cannot be a message, if it was found while the file was split into lines. */
  readonly bad?: string
}

/** Content of a line of a recorded feed. */
export type Captured =
  | { readonly kind: 'row'; readonly key: string; readonly time: Millis }
  | { readonly kind: 'gap'; readonly time: Millis; readonly from: Millis; readonly keys: readonly string[] | undefined }
  /** An empty line, or a message without market data. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'bad'; readonly why: string }

export interface CaptureReader {
  read(line: Line): Captured
}

/** A reader that also turns its rows into blocks. */
export interface CaptureImporter extends CaptureReader {
  /** Appends the row that was read last, with `time` as its arrival time. Returns false for a duplicate, which is
   *  dropped. */
  append(time: Millis): boolean
  /** Delivers all appended rows. */
  deliver(): void
}

export interface CaptureWriter {
  /** First lines of the file; '' if the format has no header. */
  readonly header: string
  /** Formats a message as one line, without the line end. */
  line(message: Readonly<Record<string, unknown>>): string
}
