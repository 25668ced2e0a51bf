import { type Attempt, deadState } from '../../orders/attempt.ts'
import type { ProofBlocks, WalletTransaction } from '../../orders/audit-records.ts'
import type { Head } from '../rpc/read.ts'
import type { Executions } from './executions.ts'
import type { WatchedAttempt, WatchList } from './watch-list.ts'

/** Number of blocks, from the newest block that the node knows, in which a transaction may still land. A blockhash is
 *  valid for 150 blocks. The remaining 50 blocks are a margin, because the node may be behind the chain. */
export const VALID_BLOCKS = 200
/** Number of blocks for which an attempt is still watched for a late execution, counted from the last block in which it
 *  can land. If its absence cannot be proved within these blocks, the operator must decide. */
const LATE_BLOCKS = 1_500
/** An attempt is left to the operator only if this many audits in a row could not prove its absence for the same
 *  reason. */
const EQUAL_TIMES = 3

/** Results of one audit of the wallet. The absence of attempts is proved from them. */
export interface Reading {
  /** Newest finalized block, read before the other fields. */
  readonly head: Head
  /** Solana slot at which the balance was read. All listed transactions up to this slot have been processed. */
  readonly slot: number
  /** Reason why the known transactions do not explain the balance; '' if they explain it, so that no transaction is
   *  missing. */
  readonly gap: string
  /** Oldest Solana slot in the history of the node. */
  readonly firstSlot: number
  has(signature: string): boolean
  opaqueBetween(after: number, upTo: number): WalletTransaction | undefined
}

export interface AbsenceParts {
  readonly watches: WatchList
  readonly executions: Executions
  /** Asks a second RPC provider whether an attempt is absent. `bound`: the last height at which the attempt can land.
   *  Resolves with '' if the provider agrees, otherwise with its objection. Returns undefined if no second opinion is
   *  needed. */
  readonly second: (attempt: Attempt, bound: number) => Promise<string> | undefined
  /** Requests an audit now. */
  readonly wake: () => void
  readonly notice: (text: string) => void
  /** Reason why the newest block of the chain cannot be read; '' if it can be read. Without this block, the last height
   *  at which an attempt can land is unknown. */
  readonly whyNoHead: () => string
}

/** Proves that attempts are absent, which means that they did not execute and no longer can: an audit at commitment
 *  `finalized` found no transaction of the attempt, and no such transaction can land any more. */
export class Absence {
  readonly #parts: AbsenceParts

  constructor(parts: AbsenceParts) {
    this.#parts = parts
  }

  take(reading: Reading): void {
    const { watches } = this.#parts
    for (const one of watches.all()) {
      if (one.bound !== null && one.boundSlot === null && reading.head.height > one.bound) {
        one.boundSlot = reading.head.slot
        watches.keep(one)
      }
      if (one.ended) this.#forget(one, reading)
      else if (one.seenAt !== null) this.#stillThere(one, one.seenAt, reading)
      else this.#prove(one, reading)
    }
  }

  #forget(one: WatchedAttempt, { head }: Reading): void {
    if (one.bound !== null && head.height > one.bound + LATE_BLOCKS) this.#parts.watches.drop(one)
  }

  /** Withdraws an execution whose transaction was seen at `confirmed` but is not among the final transactions. */
  #stillThere(one: WatchedAttempt, seenAt: number, reading: Reading): void {
    if (reading.gap !== '' || reading.slot < seenAt || reading.has(one.settled || one.attempt.signature)) return
    this.#parts.executions.takeBack(one, 'a fork removed the transaction')
  }

  #prove(one: WatchedAttempt, reading: Reading): void {
    const proof = proofOf(one, reading, this.#parts.whyNoHead)
    if (proof.kind === 'waits') this.#progress(one, proof.progress, proof.blocks)
    else if (proof.kind === 'blocked') this.#blocked(one, proof.reason, reading)
    else if (this.#isAgreed(one)) this.#absent(one)
    else if (one.second.reason !== '') this.#blocked(one, one.second.reason, reading)
  }

  #absent(one: WatchedAttempt): void {
    const { watches, executions } = this.#parts
    if (one.lastReport === 'landed') executions.takeBack(one, 'a fork removed the transaction')
    watches.end(one, deadState(one.attempt.executor))
    one.say({ kind: 'absent' })
  }

  /** Whether the absence of the attempt may be reported. For a large order, a second provider must agree if one is
   *  configured. */
  #isAgreed(one: WatchedAttempt): boolean {
    const { second, wake } = this.#parts
    if (one.second.agrees) return true
    const word = one.second.asked ? undefined : second(one.attempt, one.bound as number)
    if (word === undefined) return !one.second.asked
    one.second.asked = true
    void word.then((reason) => {
      one.second = { asked: false, agrees: reason === '', reason }
      if (reason === '') wake()
    })
    return false
  }

  #blocked(one: WatchedAttempt, reason: string, { head }: Reading): void {
    const times = one.blocked.reason === reason ? one.blocked.times + 1 : 1
    one.blocked = { reason, times }
    const isHeld = one.lastReport === 'held'
    const isDue = times >= EQUAL_TIMES && head.height > (one.bound as number) + LATE_BLOCKS
    this.#progress(one, `${isHeld || isDue ? 'held' : 'not proved yet'}: ${reason}`)
    if (isHeld || !isDue) return
    if (one.lastReport === 'landed') this.#parts.executions.takeBack(one, 'a fork removed the transaction')
    one.lastReport = 'held'
    one.say({ kind: 'undecided', reason })
  }

  #progress(one: WatchedAttempt, progress: string, blocks?: ProofBlocks): void {
    if (one.progress === progress) return
    one.progress = progress
    one.blocks = blocks
    this.#parts.watches.keep(one)
    this.#parts.notice(`${one.attempt.id}: ${progress}`)
  }
}

type Proof =
  | { readonly kind: 'absent' }
  | { readonly kind: 'waits'; readonly progress: string; readonly blocks?: ProofBlocks }
  /** The last height at which the attempt can land has passed, but an execution cannot be ruled out. */
  | { readonly kind: 'blocked'; readonly reason: string }

/** Decides whether an attempt without a known execution is proved absent. */
function proofOf(one: WatchedAttempt, reading: Reading, whyNoHead: () => string): Proof {
  const { attempt, bound, boundSlot } = one
  const { baseline } = attempt
  const { head, slot, firstSlot, gap } = reading
  const word = wordOf(one)
  if (bound === null) return { kind: 'waits', progress: `${word}; ${unboundText(one, whyNoHead())}` }
  if (head.height <= bound) {
    const from = baseline?.height ?? bound - VALID_BLOCKS
    const blocks = { passed: Math.max(0, head.height - from), needed: bound + 1 - from }
    return {
      kind: 'waits',
      progress: `${word}; the outcome can be proved after ${blocks.needed} blocks, ${blocks.passed} have passed`,
      blocks,
    }
  }
  const blocked = (reason: string): Proof => ({ kind: 'blocked', reason })
  if (baseline === null) return blocked('the attempt was sent before the first audit of the wallet')
  if (firstSlot > baseline.slot) return blocked(`the history of the RPC node begins only at Solana slot ${firstSlot}`)
  const row = reading.opaqueBetween(baseline.slot, boundSlot ?? slot)
  if (row !== undefined) return blocked(nameOf(row))
  return gap === '' ? { kind: 'absent' } : blocked(gap)
}

function wordOf({ attempt, lastReport }: WatchedAttempt): string {
  if (attempt.executor === 'local') return 'sent'
  if (lastReport === 'acked') return 'acknowledged'
  if (lastReport === 'landed') return 'seen as failed'
  return lastReport === 'held' ? 'held' : 'unknown'
}

/** Returns a text with the reason why the proof that the attempt did not execute cannot begin yet. */
function unboundText({ asksBound, lateUntil }: WatchedAttempt, whyNoHead: string): string {
  if (asksBound)
    return whyNoHead === ''
      ? 'the proof begins as soon as the block height of the chain has been read'
      : `the proof waits for the block height of the chain: ${whyNoHead}`
  if (lateUntil === null) return 'the connection to the service is still open, so an answer may still arrive'
  return `the service may still execute the order until ${new Date(lateUntil).toISOString()}; then the proof begins`
}

function nameOf({ signature, after, slot }: WalletTransaction): string {
  if (!signature.startsWith('?'))
    return `transaction ${signature} cannot be read, and may be the execution of this attempt`
  return `no listed transaction explains a change of the wallet between Solana slots ${after} and ${slot}, so it may be the execution of this attempt`
}
