import type { Cancel, Clock } from '../../base/machine.ts'
import { type Lamports, lamports, type Millis, type TokenAmount } from '../../base/units.ts'
import type { Attempt, Baseline } from '../../orders/attempt.ts'
import type { WalletCursor, WalletTransaction, Watch } from '../../orders/audit-records.ts'
import type { JournalRecord } from '../../orders/ports.ts'
import type { LandedTransaction } from '../landed/landed-transaction.ts'
import { changeOf, classOf } from '../landed/wallet-change.ts'
import type { Reading } from '../resolver/absence.ts'
import { OperatorDecisions } from '../resolver/operator-decisions.ts'
import { Resolver, type ResolverParts } from '../resolver/resolver.ts'
import { Follower } from '../resolver/signature-follower.ts'
import { Finder, RECENT_MS } from '../resolver/wallet-search.ts'
import { FreshHead } from '../rpc/fresh-head.ts'
import { Unread } from '../rpc/read.ts'
import type { Rpc, Rpcs } from '../rpc/rpc.ts'
import { Audit, readBracket } from './audit.ts'
import { Deficits } from './deficits.ts'
import { WalletBook } from './wallet-book.ts'

/** A transaction that the wallet signed and that no order explains. */
export interface Foreign {
  readonly signature: string
  /** Change of the wallet's balance in lamports. */
  readonly lamports: Lamports
  /** Attempt that this transaction seems to execute, although no execution was expected; undefined if there is no
   *  such attempt. */
  readonly attemptId?: string
}

export interface LiveWalletParts {
  readonly rpcs: Pick<Rpcs, 'any' | 'each'>
  readonly clock: Clock
  readonly monotonicMs: () => number
  readonly boot: string
  readonly account: string
  /** Genesis hash of the chain. */
  readonly genesis: string
  /** Public key of the wallet. */
  readonly wallet: string
  /** Maximum time after a closed connection during which the service may still execute a request, ms. */
  readonly lateMs: number
  /** The absence of a buy of at least this size must be confirmed by a second RPC, if one is configured. */
  readonly secondOpinionLamports: number
  /** State that earlier processes journaled. */
  readonly past: {
    readonly cursor: WalletCursor | undefined
    readonly transactions: readonly WalletTransaction[]
    readonly watches: readonly Watch[]
  }
  /** Returns the booked tokens of all bots, in base units by mint. */
  readonly booked: () => ReadonlyMap<string, TokenAmount>
  readonly write: (record: JournalRecord) => void
  readonly late: ResolverParts['late']
  readonly paid: ResolverParts['paid']
  readonly standIn: ResolverParts['standIn']
  readonly on: {
    /** Called when the state of the wallet becomes known (`open` is true: orders are allowed), and when it is no longer
     *  known (orders are stopped). `single`: only one entry may be sent for now, because it is not yet known whether
     *  another process trades with the wallet. */
    readonly gate: (open: boolean, single: boolean) => void
    readonly foreign: (found: Foreign) => void
    readonly deficit: (mint: string, tokens: TokenAmount) => void
    /** Reports that the transaction of an order landed, so the balance has changed. */
    readonly landed: () => void
    readonly notice: (text: string) => void
    /** Sends a message to the operator. */
    readonly alarm: (text: string) => void
    /** Reports that the outcome of orders without an answer could not be proved for a minute. `text` says why. */
    readonly undecided: (text: string) => void
  }
}

const EVERY_MS = 30_000
/** Interval between audits while a transaction was seen that is not final yet. */
const PROVISIONAL_MS = 10_000
/** Approximate time from the confirmation of a transaction to its finality. */
const FINAL_MS = 15_000
const SOONEST_MS = 1_000
const DEFICITS_EVERY_MS = 30_000
/** The state of the wallet counts as unknown if no reading succeeds for this long. */
const STALE_MS = 180_000
const USUAL_BLOCK_MS = 400
/** The operator is notified if no head (new enough block) of the chain is available for this long. */
const LONG_WAIT_MS = 60_000
/** A second process with this wallet would buy at about the same time as this process. Its transactions would be
 *  visible BESIDE_FIRST_MS after our first buy was seen. If our buy is never seen, they would be visible
 *  UNSEEN_FIRST_MS after our buy was sent. */
const BESIDE_FIRST_MS = 1_000
const UNSEEN_FIRST_MS = 10_000

/** The wallet on the chain. Determines the outcomes of attempts, and detects all other changes of the wallet. */
export class LiveWallet {
  readonly resolver: Resolver
  readonly byHand: OperatorDecisions
  readonly #parts: LiveWalletParts
  readonly #book: WalletBook
  readonly #audit: Audit
  readonly #finder: Finder
  readonly #follower: Follower
  readonly #head: FreshHead
  readonly #deficits: Deficits
  #last: { readonly height: number; readonly at: number } | undefined
  #blockMs = USUAL_BLOCK_MS
  #deficitsAt = Number.NEGATIVE_INFINITY
  #cancelStale: Cancel | undefined
  /** Signatures of foreign transactions that were reported. A transaction is seen at `confirmed` and again once it is
   *  final, but it is reported only once. */
  readonly #reported = new Set<string>()
  /** Time at which the first buy since the start was seen. */
  #boughtAt: Millis | undefined
  #isAlone = false
  #isOpen = false
  /** Reason why no head (new enough block) of the chain is available; '' if one is available, or none is needed. */
  #waits = ''
  #hasWarned = false

  constructor(parts: LiveWalletParts) {
    const { rpcs, clock, wallet, past, on, monotonicMs, boot, lateMs, write, account, genesis } = parts
    this.#parts = parts
    this.#book = new WalletBook(past.cursor, past.transactions)
    this.#follower = new Follower({ rpc: rpcs.any, clock, wallet })
    this.#head = new FreshHead({
      ...{ providers: rpcs.each, clock, monotonicMs },
      waits: (reason, waitsMs) => this.#waitsFor(reason, waitsMs),
    })
    this.resolver = new Resolver({
      ...{ clock, monotonicMs, boot, lateMs, wallet, write, notice: on.notice },
      ...{ late: parts.late, paid: parts.paid, standIn: parts.standIn },
      unexpected: ({ id }, signature, { walletLamports }) =>
        this.#foreign({ signature, lamports: walletLamports, attemptId: id }),
      follow: (signature, attempt, done) =>
        this.#follower.follow(signature, attempt, (outcome) => {
          done(outcome)
          if (outcome.kind === 'filled' && attempt.side === 'buy') this.#boughtAt ??= clock.now()
          if (outcome.kind === 'filled' || outcome.kind === 'reverted') this.#landed()
        }),
      head: (onHead) => this.#head.ask(onHead),
      whyNoHead: () => this.#waits,
      wake: () => this.wake(),
      second: (attempt, bound) => this.#second(attempt, bound),
    })
    const { watches } = this.resolver
    const isTracked = (mint: string): boolean => watches.isTracked(mint) || parts.booked().has(mint)
    this.#audit = new Audit({
      ...{ providers: rpcs.each, clock, account, genesis, wallet, write, book: this.#book, isTracked },
      found: (transaction) => this.resolver.found(transaction, true),
      oldest: () => watches.oldest(),
      everyMs: () => this.#everyMs(),
      on: {
        read: (reading, provider) => this.#read(reading, provider),
        foreign: ({ signature, lamports }) => this.#foreign({ signature, lamports }),
        opaque: ({ signature, slot }) =>
          on.alarm(`the wallet changed up to Solana slot ${slot}, but the transaction cannot be read: ${signature}`),
        failed: (reason) => on.notice(`the transactions of the wallet cannot be read: ${reason}`),
      },
    })
    this.#finder = new Finder({
      ...{ rpc: rpcs.any, clock, wallet, hunted: () => watches.hunted(clock.now()) },
      // Signature of the newest transaction that this search need not read. The first audit of a wallet moves the
      // cursor past earlier transactions without classifying them. The first search must read those, so it uses the
      // cursor of an earlier process.
      until: () => (this.#finder.hasLooked ? this.#book.cursor : past.cursor)?.signature ?? '',
      isKnown: (signature) => this.resolver.isKnown(signature),
      found: (transaction) => {
        if (this.resolver.found(transaction, false) !== '') this.#landed()
        else this.#unexplained(transaction, isTracked)
      },
      looked: (since) => this.#looked(since),
    })
    this.#deficits = new Deficits({
      ...{ wallet, booked: parts.booked, isQuiet: (mint) => watches.isQuiet(mint), found: on.deficit },
    })
    this.byHand = new OperatorDecisions(this.resolver, rpcs.any, wallet)
    this.resolver.restore(past.watches)
  }

  /** Starts the audit of the wallet and the search for its transactions. Call it after all attempts of earlier
   *  processes were resumed, because the search begins at the next turn of the event loop, and then assigns
   *  transactions to these attempts. */
  start(): void {
    this.#head.look()
    this.#audit.wake()
    this.#parts.clock.after(0, () => this.#finder.start())
  }

  /** Handles a trade of the wallet that the feed shows. */
  hint(mint: string, signature: string): void {
    if (this.resolver.isKnown(signature)) return
    this.resolver.hint(mint, signature)
    this.#finder.lookBeside()
  }

  /** Starts an audit now, because an outcome became unknown. */
  wake(): void {
    this.#finder.wake()
    this.#audit.wake()
  }

  stop(): void {
    this.#audit.stop()
    this.#finder.stop()
    this.#follower.stop()
    this.#head.stop()
    this.#cancelStale?.()
  }

  /** Slot and height of the last finalized reading of the wallet; null before the first reading. Does not ask a node.
   *  */
  readonly baseline = (): Baseline | null => this.#audit.baseline()

  #read(reading: Reading, provider: Rpc): void {
    const { clock, on } = this.#parts
    const now = clock.now()
    const { height } = reading.head
    if (this.#last !== undefined && height > this.#last.height)
      this.#blockMs = Math.min((now - this.#last.at) / (height - this.#last.height), 2 * USUAL_BLOCK_MS)
    this.#last = { height, at: now }
    this.#setGate(this.#finder.hasLooked)
    this.#cancelStale?.()
    this.#cancelStale = clock.after(STALE_MS, () => this.#setGate(false))
    this.resolver.read(reading)
    this.#finder.wake()
    if (reading.gap !== '') on.notice(reading.gap)
    else if (now - this.#deficitsAt >= DEFICITS_EVERY_MS) {
      this.#deficitsAt = now
      void this.#deficits.check(provider, reading.slot)
    }
  }

  /** Schedules the next audit after a transaction of the wallet landed. By then the transaction is final, or a fork has
   *  removed it. */
  #landed(): void {
    this.#finder.lookBeside()
    this.#audit.within(FINAL_MS)
    this.#parts.on.landed()
  }

  /** Reports a trade that no order explains. The audit also reports it, but only after 15 s, when the trade is final.
   *  In 15 s a second process could repeat many of our buys, so this check does not wait. */
  #unexplained(transaction: LandedTransaction, isTracked: (mint: string) => boolean): void {
    const { clock, wallet } = this.#parts
    const { signature, time } = transaction
    const change = changeOf(transaction, wallet)
    const isOld = time !== null && time < clock.now() - RECENT_MS
    if (isOld || change.tokens.size === 0 || classOf(change, '', isTracked) !== 'foreign') return
    this.#foreign({ signature, lamports: lamports(change.lamports) })
  }

  #foreign(found: Foreign): void {
    if (this.#reported.has(found.signature)) return
    this.#reported.add(found.signature)
    this.#parts.on.foreign(found)
  }

  #setGate(open: boolean): void {
    if (this.#isOpen === open) return
    this.#isOpen = open
    this.#parts.on.gate(open, !this.#isAlone)
  }

  #looked(since: Millis): void {
    if (this.#last !== undefined) this.#setGate(true)
    if (this.#isAlone || !this.#isOpen || !this.#hasShownOthers(since)) return
    this.#isAlone = true
    this.#parts.on.gate(true, false)
  }

  /** Whether a second process that trades with the wallet would be visible by now. Such a process reacts to the same
   *  events, so it would have bought at about the time of our first buy. */
  #hasShownOthers(now: Millis): boolean {
    if (this.#boughtAt !== undefined && now >= this.#boughtAt + BESIDE_FIRST_MS) return true
    return this.resolver.watches
      .all()
      .some(({ attempt, ended }) => attempt.side === 'buy' && !ended && now >= attempt.armedAt + UNSEEN_FIRST_MS)
  }

  /** Returns the wait before the next audit, ms. The audit runs as soon as it can decide the outcome of an attempt, and
   *  at the latest after 30 s. */
  #everyMs(): number {
    const { watches } = this.resolver
    const bound = watches.nextBound()
    const usual = watches.hasProvisional ? PROVISIONAL_MS : EVERY_MS
    if (bound === undefined || this.#last === undefined) return usual
    const leftMs = (bound + 1 - this.#last.height) * this.#blockMs
    return Math.max(SOONEST_MS, Math.min(leftMs, usual))
  }

  #second({ side, size, baseline }: Attempt, bound: number): Promise<string> | undefined {
    const { rpcs, secondOpinionLamports } = this.#parts
    const provider = rpcs.each[1]
    const isLarge = side === 'buy' && size.kind === 'sol' && size.lamports >= secondOpinionLamports
    if (!isLarge || provider === undefined || baseline === null) return undefined
    return this.#agrees(provider, baseline.slot, bound)
  }

  async #agrees(provider: Rpc, since: number, bound: number): Promise<string> {
    try {
      const { head, rows, slot, lamports } = await readBracket(provider, this.#parts.wallet, since)
      if (head.height <= bound)
        return 'the second RPC has not yet reached the last block height at which the order can land'
      const unknown = rows.find(({ signature }) => !this.#book.has(signature))
      if (unknown !== undefined)
        return `the second RPC lists the transaction ${unknown.signature}, which the first RPC does not list`
      return lamports === this.#book.expected(slot) ? '' : 'the second RPC reports a different balance'
    } catch (error) {
      if (error instanceof Unread) return `the second RPC does not answer: ${error.message}`
      throw error
    }
  }

  /** Reports immediately why no head is available, and notifies the operator if the wait is long. */
  #waitsFor(reason: string, waitsMs: number): void {
    const { on } = this.#parts
    if (reason !== '' && this.#waits === '') on.notice(reason)
    this.#waits = reason
    if (reason === '') this.#hasWarned = false
    if (waitsMs < LONG_WAIT_MS || this.#hasWarned) return
    this.#hasWarned = true
    on.undecided(`the outcome of lost orders cannot be proved yet: ${reason}`)
  }
}
