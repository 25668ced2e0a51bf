import type { Cancel, Clock } from '../../base/machine.ts'
import { formatSol, type Lamports } from '../../base/units.ts'
import type { Baseline } from '../../orders/attempt.ts'
import type { WalletCursor, WalletTransaction } from '../../orders/audit-records.ts'
import type { JournalRecord } from '../../orders/ports.ts'
import type { LandedTransaction } from '../landed/landed-transaction.ts'
import { changeOf, classified, opaque, unlisted } from '../landed/wallet-change.ts'
import { walletCostsOf } from '../landed/wallet-costs.ts'
import type { Reading } from '../resolver/absence.ts'
import {
  type Head,
  type Listed,
  listSignatures,
  readBalance,
  readFirstSlot,
  readHead,
  readLanded,
  Unread,
} from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { WalletBook } from './wallet-book.ts'

export interface AuditParts {
  /** RPC providers in order of preference. One round of the audit reads everything from the same provider. */
  readonly providers: readonly Rpc[]
  readonly clock: Clock
  readonly account: string
  readonly genesis: string
  /** Public key of the wallet. */
  readonly wallet: string
  readonly book: WalletBook
  readonly write: (record: JournalRecord) => void
  /** Returns the id of the attempt that made a transaction; '' if no attempt did. */
  readonly found: (transaction: LandedTransaction) => string
  /** Whether a bot holds this mint or has an order for it. */
  readonly isTracked: (mint: string) => boolean
  /** Returns the lowest Solana slot after which transactions may still belong to an attempt. */
  readonly oldest: () => number
  /** Returns the time until the next regular round of the audit, ms. */
  readonly everyMs: () => number
  readonly on: {
    /** Receives each reading of the wallet. The outcomes of attempts are decided from these readings. */
    readonly read: (reading: Reading, provider: Rpc) => void
    readonly foreign: (row: WalletTransaction) => void
    /** Receives a transaction that cannot be explained. */
    readonly opaque: (row: WalletTransaction) => void
    readonly failed: (reason: string) => void
  }
}

/** Number of failed reads after which a listed transaction counts as unreadable. */
const MOST_TRIES = 20
/** Maximum number of transactions that one pass (one round of the audit) reads, so that a flood of dust transfers does
 *  not delay the next reading of the balance. */
const MOST_READS = 200
/** The balance on the chain may differ from the balance that the known transactions explain. The difference is booked
 *  as unexplained once it was the same in this many consecutive rounds of the audit, and the balance has differed for
 *  this many blocks. */
const EQUAL_TIMES = 3
const EQUAL_BLOCKS = 1_500
/** Time between two rounds of the audit while a transaction is missing, ms. It begins with FIRST_AGAIN_MS and doubles
 *  up to LONGEST_AGAIN_MS. */
const FIRST_AGAIN_MS = 2_000
const LONGEST_AGAIN_MS = 60_000

/** Reads every transaction of a wallet once, in order, and checks that together they explain its balance. */
export class Audit {
  readonly #parts: AuditParts
  readonly #tries = new Map<string, number>()
  #missing: { lamports: number; times: number; sinceHeight: number } | undefined
  #failures = 0
  #cancelTimer: Cancel | undefined
  #nextAt = Number.NEGATIVE_INFINITY
  #isRunning = false
  #isWanted = false
  #isStopped = false

  constructor(parts: AuditParts) {
    this.#parts = parts
  }

  /** Starts a round of the audit (a pass) now, or as soon as the running round ends. */
  wake(): void {
    this.#isWanted = true
    if (this.#isRunning || this.#isStopped) return
    this.#cancelTimer?.()
    this.#isRunning = true
    this.#isWanted = false
    void this.#run().then((againMs) => {
      this.#isRunning = false
      if (this.#isStopped) return
      if (this.#isWanted) this.wake()
      else this.#runAfter(againMs)
    })
  }

  #runAfter(ms: number): void {
    const { clock } = this.#parts
    this.#nextAt = clock.now() + ms
    this.#cancelTimer = clock.after(ms, () => this.wake())
  }

  /** Makes the next round of the audit start at most `ms` from now. */
  within(ms: number): void {
    const { clock } = this.#parts
    if (this.#isRunning || this.#isStopped || clock.now() + ms >= this.#nextAt) return
    this.#cancelTimer?.()
    this.#runAfter(ms)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer?.()
  }

  /** Returns the slot and height of the last finalized reading of the wallet; null before the first reading. Does not
   *  ask a node. */
  baseline(): Baseline | null {
    const { cursor } = this.#parts.book
    return cursor === undefined ? null : { slot: cursor.slot, height: cursor.height }
  }

  /** Tries one round of the audit (a pass) at each provider until one answers. Returns the time until the next round,
   *  ms. */
  async #run(): Promise<number> {
    const { providers, everyMs, on } = this.#parts
    const reasons: string[] = []
    for (const provider of providers) {
      try {
        const isWhole = await this.#pass(provider)
        this.#failures = isWhole ? 0 : this.#failures + 1
        return isWhole ? everyMs() : Math.min(this.#againMs(), everyMs())
      } catch (error) {
        if (!(error instanceof Unread)) throw error
        reasons.push(error.message)
      }
    }
    this.#failures++
    if (!this.#isStopped) on.failed(reasons.join('; '))
    return this.#againMs()
  }

  #againMs(): number {
    return Math.min(FIRST_AGAIN_MS * 2 ** Math.min(this.#failures - 1, 5), LONGEST_AGAIN_MS)
  }

  /** Reads the wallet and processes the reading. Returns false if a transaction is missing, so that this round of the
   *  audit is repeated soon. */
  async #pass(provider: Rpc): Promise<boolean> {
    const { book, wallet, oldest } = this.#parts
    const { cursor } = book
    if (cursor === undefined) return this.#begin(provider)
    const since = Math.min(cursor.slot, oldest())
    const until = since === cursor.slot && cursor.signature !== '' ? cursor.signature : undefined
    const bracket = await readBracket(provider, wallet, since, until)
    const fresh = bracket.rows.filter(({ signature }) => !book.has(signature))
    const landed = new Map<Listed, LandedTransaction | null>()
    for (const row of fresh.slice(0, MOST_READS)) landed.set(row, await this.#read(provider, row))
    // The node's oldest slot is needed only if an attempt may have to be proved absent.
    const firstSlot = oldest() === Number.POSITIVE_INFINITY ? 0 : await readFirstSlot(provider)
    if (this.#isStopped) return true
    return this.#take(provider, cursor, bracket, landed, fresh.length > MOST_READS, firstSlot)
  }

  /** Makes the first reading of a wallet. Earlier transactions are neither read nor classified. */
  async #begin(provider: Rpc): Promise<boolean> {
    const { wallet } = this.#parts
    const bracket = await readPresent(provider, wallet)
    if (this.#isStopped) return true
    this.#advance(bracket, [])
    this.#tell(provider, bracket, '', 0)
    return true
  }

  /** Reads a listed transaction; returns null if it cannot be read yet. */
  async #read(provider: Rpc, { signature }: Listed): Promise<LandedTransaction | null> {
    const answer = await readLanded(provider, signature, 'finalized')
    if (answer !== null && answer !== 'unreadable') return answer
    this.#tries.set(signature, (this.#tries.get(signature) ?? 0) + 1)
    return null
  }

  /** Processes a reading synchronously. First, the transactions decide the outcomes of attempts. Then the classified
   *  transactions and the new cursor become durable together. Returns whether the transactions explain the balance. */
  #take(
    provider: Rpc,
    cursor: WalletCursor,
    bracket: Bracket,
    landed: ReadonlyMap<Listed, LandedTransaction | null>,
    isCut: boolean,
    firstSlot: number,
  ): boolean {
    const { book, account, on } = this.#parts
    const rows: WalletTransaction[] = []
    const add = (row: WalletTransaction): void => {
      book.add(row)
      rows.push(row)
    }
    let unread = isCut ? 1 : 0
    const unreadable: Listed[] = []
    for (const [listed, transaction] of landed) {
      if (transaction !== null) this.#classify(transaction, cursor, add)
      else if ((this.#tries.get(listed.signature) ?? 0) >= MOST_TRIES) unreadable.push(listed)
      else unread++
    }
    // The part of the balance that the known transactions do not explain is assigned to an unreadable transaction; if
    // there are several, to the first one.
    for (const [index, listed] of unread > 0 ? [] : unreadable.entries()) {
      const left = index === 0 ? bracket.lamports - book.expected(bracket.slot) : 0
      add(opaque(account, listed, left))
    }
    const missing = bracket.lamports - book.expected(bracket.slot)
    const gap = unread > 0 ? 'some transactions of the wallet could not be read yet' : gapOf(missing)
    if (unread === 0) this.#weigh(cursor, bracket, missing, add)
    const adds = unread === 0 && bracket.lamports === book.expected(bracket.slot)
    if (adds) this.#advance(bracket, rows)
    else if (rows.length > 0) this.#parts.write({ kind: 'wallet', cursor, transactions: rows })
    for (const row of rows) if (row.class === 'foreign') on.foreign(row)
    for (const row of rows) if (row.class === 'opaque' && row.lamports !== 0) on.opaque(row)
    this.#tell(provider, bracket, adds ? '' : gap, firstSlot)
    return adds
  }

  #classify(transaction: LandedTransaction, cursor: WalletCursor, add: (row: WalletTransaction) => void): void {
    const { account, wallet, found, isTracked, book } = this.#parts
    const change = changeOf(transaction, wallet)
    const attemptId = found(transaction)
    const costs = walletCostsOf(transaction, wallet)
    const row = classified(account, transaction, change, costs, attemptId, isTracked)
    const explained = row.slot <= cursor.slot ? book.explain(row) : undefined
    add(row)
    if (explained !== undefined) add(explained)
  }

  /** Books a difference between the balance and the known transactions as unexplained once several rounds of the audit
   *  have found the same difference. While there is a difference, no attempt can be proved absent. */
  #weigh(cursor: WalletCursor, { head, slot }: Bracket, missing: number, add: (row: WalletTransaction) => void): void {
    if (missing === 0) {
      this.#missing = undefined
      return
    }
    if (this.#missing?.lamports !== missing)
      this.#missing = { lamports: missing, times: 0, sinceHeight: this.#missing?.sinceHeight ?? head.height }
    this.#missing.times++
    const { times, sinceHeight } = this.#missing
    if (times < EQUAL_TIMES || head.height < sinceHeight + EQUAL_BLOCKS) return
    this.#missing = undefined
    add(unlisted(this.#parts.account, cursor.slot, slot, missing))
  }

  #advance({ head, slot, lamports, rows }: Bracket, transactions: readonly WalletTransaction[]): void {
    const { book, account, genesis, write, oldest } = this.#parts
    this.#tries.clear() // every listed transaction is booked, so no count is needed any more
    const signature = rows.at(-1)?.signature ?? book.cursor?.signature ?? ''
    book.cursor = { account, genesis, slot, height: head.height, lamports, signature }
    book.forget(Math.min(slot, oldest()))
    write({ kind: 'wallet', cursor: book.cursor, transactions })
  }

  #tell(provider: Rpc, { head, slot }: Bracket, gap: string, firstSlot: number): void {
    const { book, on } = this.#parts
    const has: Reading['has'] = (signature) => book.has(signature)
    const opaqueBetween: Reading['opaqueBetween'] = (after, upTo) => book.opaqueBetween(after, upTo)
    on.read({ head, slot, gap, firstSlot, has, opaqueBetween }, provider)
  }
}

function gapOf(missing: number): string {
  const amount = formatSol(Math.abs(missing))
  return `the wallet has ${amount} SOL ${missing < 0 ? 'less' : 'more'} than its listed transactions explain`
}

/** State of a wallet at one finalized Solana slot, and the transactions up to that slot, as far as the node lists
 *  them. */
export interface Bracket {
  /** Head of the chain, read before the balance. A transaction whose last valid height is at most this height has
   *  landed by now, or never will. */
  readonly head: Head
  /** Slot at which the balance was read; not before the head's slot. */
  readonly slot: number
  readonly lamports: Lamports
  /** Transactions after `since` and up to `slot`, oldest first. */
  readonly rows: readonly Listed[]
}

const PAGE = 1000

/** Reads the height, then the balance, then the list of transactions. Each answer must be at least as new as the answer
 *  before it. A list that is older than the balance would miss the newest transactions. Transactions after the slot of
 *  the balance are left for the next audit. Throws Unread if the node does not answer. `until`: signature of the newest
 *  transaction up to the slot `since` that was already read, so that the node need not list older pages. */
export async function readBracket(rpc: Rpc, wallet: string, since: number, until?: string): Promise<Bracket> {
  const head = await readHead(rpc, 'finalized', since)
  const { slot, lamports } = await readBalance(rpc, wallet, head.slot)
  const rows: Listed[] = []
  for (let before: string | undefined; ; before = rows.at(-1)?.signature) {
    const page = await listSignatures(rpc, wallet, 'finalized', { limit: PAGE, before, until, minContextSlot: slot })
    rows.push(...page)
    if (page.length < PAGE || (page.at(-1)?.slot ?? 0) <= since) break
  }
  return { head, slot, lamports, rows: rows.filter((row) => row.slot > since && row.slot <= slot).reverse() }
}

/** Reads a wallet for the first time: only its balance and its newest transaction. Throws Unread if the node does not
 *  answer. */
async function readPresent(rpc: Rpc, wallet: string): Promise<Bracket> {
  const head = await readHead(rpc, 'finalized')
  const { slot, lamports } = await readBalance(rpc, wallet, head.slot)
  const page = await listSignatures(rpc, wallet, 'finalized', { limit: PAGE, minContextSlot: slot })
  return { head, slot, lamports, rows: page.filter((row) => row.slot <= slot).slice(0, 1) }
}
