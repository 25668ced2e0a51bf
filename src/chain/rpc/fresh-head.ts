import type { Cancel, Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import { type DatedHead, readDatedHead } from './chain-time.ts'
import { type Head, Unread } from './read.ts'
import type { Rpc } from './rpc.ts'

/** Maximum age of a head (the newest block of a node) at the time of the call of `ask`, ms. The last height at which a
 *  transaction can land is counted from a head, with a margin of 50 blocks. Slot times shrink: 400 ms originally, about
 *  214 ms measured in October 2026, 200 ms planned. At 200 ms, 50 blocks take 10 s; 2 s are subtracted in case this
 *  machine's clock is behind the validators' clocks. Block times are truncated to whole seconds, so a block can only
 *  seem older, never newer. */
const OLDEST_MS = 8_000
/** A block time is ignored if it is ahead of this machine's clock by more than this, ms. */
const FUTURE_MS = 3_600_000
/** Blocks that are added to the height of a node that reports no block times. If the head of such a node advances, the
 *  node is assumed to be at most 150 blocks behind the chain (assumption A8 of docs/order-protocol.md). The margin of
 *  50 blocks, which OLDEST_MS describes, covers the other 50. */
const UNDATED_BLOCKS = 100
/** The head of a node without block times is accepted only after this wait for a block time. */
const UNDATED_MS = 20_000
/** Interval between reads of the head, ms. After the oldest request has waited for LATER_MS, the interval is
 *  LATER_AGAIN_MS. */
const AGAIN_MS = 2_000
const LATER_MS = 60_000
const LATER_AGAIN_MS = 10_000

export interface FreshHeadParts {
  /** One entry per provider, in order of preference. */
  readonly providers: readonly Rpc[]
  readonly clock: Clock
  readonly monotonicMs: () => number
  /** Reports why no node has a fresh enough head (newest block) and what to do; '' once no request is open. `waitsMs`:
   *  age of the oldest request. */
  readonly waits: (reason: string, waitsMs: number) => void
}

interface Question {
  readonly onHead: (head: Head) => void
  readonly at: Millis
  readonly monotonicMs: number
  /** State of each node that has reported no block time since this request was made. `height`: height of the last head
   *  that was read. `ceiling`: the first head that was higher than the head before it, raised by UNDATED_BLOCKS; it may
   *  answer the request. */
  readonly undated: Map<Rpc, { readonly height: number; readonly ceiling: Head | undefined }>
}

/** Answers requests (calls of `ask`) for a head of the chain. The head may be older than the request by at most
 *  OLDEST_MS. The age is measured from the request and not from the answer, so a node that is some seconds behind has a
 *  suitable head some seconds later. A head is accepted in one of two ways:
 *  - by the time of its block, compared with the later of two clocks: this machine's clock, and the chain's clock. The
 *  chain's clock is the newest block time ever seen, advanced by the monotonic clock. A machine clock that is behind is
 *  therefore detected, and one that is ahead only delays the answer.
 *  - by assumption A8 of docs/order-protocol.md, if a node reports no block times: the reported head is raised by the
 *  number of blocks that the node may be behind. */
export class FreshHead {
  readonly #parts: FreshHeadParts
  #questions: Question[] = []
  #isReading = false
  #isStopped = false
  #cancelTimer: Cancel | undefined
  /** Lower limit of the difference between the chain's clock and the monotonic clock, ms. A newer block time can raise
   *  this limit. */
  #chainAheadMs = Number.NEGATIVE_INFINITY

  constructor(parts: FreshHeadParts) {
    this.#parts = parts
  }

  /** Calls `onHead` once and asynchronously, as soon as a node has a fresh head. */
  ask(onHead: (head: Head) => void): void {
    const { clock, monotonicMs } = this.#parts
    this.#questions.push({ onHead, at: clock.now(), monotonicMs: monotonicMs(), undated: new Map() })
    if (!this.#isReading) this.#read()
  }

  /** Reads the chain's time in advance, so that a machine clock that is behind is detected before the first request. */
  look(): void {
    if (!this.#isReading) this.#read()
  }

  stop(): void {
    this.#isStopped = true
    this.#questions = []
    this.#cancelTimer?.()
  }

  #read(): void {
    this.#cancelTimer?.()
    this.#isReading = true
    void this.#askAll().then((reasons) => {
      this.#isReading = false
      const [oldest] = this.#questions
      if (this.#isStopped) return
      const waitsMs = oldest === undefined ? 0 : this.#parts.monotonicMs() - oldest.monotonicMs
      this.#parts.waits(oldest === undefined ? '' : reasons.join('; '), waitsMs)
      if (oldest === undefined) return
      const againMs = waitsMs < LATER_MS ? AGAIN_MS : LATER_AGAIN_MS
      this.#cancelTimer = this.#parts.clock.after(againMs, () => this.#read())
    })
  }

  /** Reads the head of each provider and answers the open requests with it. Returns, for each provider, why its head
   *  was not new enough for the remaining requests. */
  async #askAll(): Promise<string[]> {
    const { providers } = this.#parts
    const reasons: string[] = []
    for (const [index, rpc] of providers.entries()) {
      if (index > 0 && this.#questions.length === 0) break
      const asked = new Set(this.#questions)
      const name = providers.length === 1 ? 'the RPC' : `RPC ${index + 1}`
      try {
        const reason = this.#take(rpc, await readDatedHead(rpc), asked)
        reasons.push(`${name} ${reason}`)
      } catch (error) {
        if (!(error instanceof Unread)) throw error
        reasons.push(`${name} did not return the head of the chain (${error.message})`)
      }
    }
    return reasons
  }

  /** Answers the requests for which this head is new enough. Returns the reason why the head is not new enough for the
   *  remaining requests. `asked`: the requests that were open before the head was read. */
  #take(rpc: Rpc, { head, time }: DatedHead, asked: ReadonlySet<Question>): string {
    if (time === undefined || time > this.#parts.clock.now() + FUTURE_MS) return this.#undated(rpc, head, asked)
    this.#chainAheadMs = Math.max(this.#chainAheadMs, time - this.#parts.monotonicMs())
    let olderMs = 0
    this.#tell((question) => {
      question.undated.delete(rpc)
      const askedAt = Math.max(question.at, question.monotonicMs + this.#chainAheadMs)
      if (time >= askedAt - OLDEST_MS) return head
      olderMs = Math.max(olderMs, askedAt - time)
      return undefined
    })
    return `has no block as new as the request: its newest was ${Math.ceil(olderMs / 1_000)} s older; the node is behind, or this machine's clock is ahead (set the clock, or name another RPC in chain.rpc)`
  }

  #undated(rpc: Rpc, head: Head, asked: ReadonlySet<Question>): string {
    const { monotonicMs } = this.#parts
    let stands = ''
    this.#tell((question) => {
      const before = question.undated.get(rpc)
      const moves = before !== undefined && asked.has(question) && head.height > before.height
      const ceiling = before?.ceiling ?? (moves ? raised(head) : undefined)
      if (before !== undefined && ceiling === undefined) stands = ` and does not advance from height ${head.height}`
      question.undated.set(rpc, { height: head.height, ceiling })
      return monotonicMs() - question.monotonicMs < UNDATED_MS ? undefined : ceiling
    })
    return `reports no block times${stands}: without them, the proof that an order did not execute takes about a minute longer (name an RPC with getBlockTime in chain.rpc)`
  }

  #tell(answerOf: (question: Question) => Head | undefined): void {
    const answers = new Map(this.#questions.map((question) => [question, answerOf(question)]))
    this.#questions = this.#questions.filter((question) => answers.get(question) === undefined)
    for (const [question, head] of answers) if (head !== undefined) question.onHead(head)
  }
}

function raised({ slot, height }: Head): Head {
  return { slot: slot + UNDATED_BLOCKS, height: height + UNDATED_BLOCKS }
}
