import type { Cancel, Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import { type DatedHead, readDatedHead } from './chain-time.ts'
import { type Head, Unread } from './read.ts'
import type { Rpc } from './rpc.ts'

/** A block may be older than the question by so much. The bounds that are counted from a head have room for 50 blocks.
 *  Slots are becoming shorter: 400 ms once, about 214 ms measured in October 2026, 200 ms where they are to end; 50
 *  blocks are 10 s then, less 2 s for a clock of ours that is behind the validators'. Block times are cut to whole
 *  seconds, which makes a block seem older, never younger. */
const OLDEST_MS = 8_000
/** A block time that is further ahead of this machine's clock is not believed. */
const FUTURE_MS = 3_600_000
/** A node that tells no time at all: assumption A8 of docs/order-protocol.md. Its head moves, so that it hears from the
 *  chain, and it is at most 150 blocks behind; the bounds have room for 50 of them. */
const UNDATED_BLOCKS = 100
/** A time is waited for so long, before the head of such a node is told without one. */
const UNDATED_MS = 20_000
/** The next look, while it is likely to help, and after that. */
const AGAIN_MS = 2_000
const LATER_MS = 60_000
const LATER_AGAIN_MS = 10_000

export interface FreshHeadParts {
  /** Each for itself, in the order of preference. */
  readonly providers: readonly Rpc[]
  readonly clock: Clock
  readonly monotonicMs: () => number
  /** Why there is none yet, and what to do; '' once nobody asks any more. `waitsMs`: of the oldest question. */
  readonly waits: (reason: string, waitsMs: number) => void
}

interface Question {
  readonly told: (head: Head) => void
  readonly at: Millis
  readonly monotonicMs: number
  /** Of nodes that have told no time since. */
  readonly undated: Map<Rpc, { readonly height: number; readonly ceiling: Head | undefined }>
}

/** Tells whoever asks a head of the chain that is not older than the question, but for the room in the bounds that are counted from it. Not
 *  than the answer: a node that is some seconds behind is good enough some seconds later. A head counts as not older
 *
 *  - by the time of its block, compared with the later of two clocks: this machine's, and the chain's own, carried on from the newest block
 *    time ever seen by the clock that nobody sets. So a machine's clock that is behind is noticed, and one that is ahead only costs time;
 *  - where a node tells no time at all, by A8: then the head is told higher than it was seen, by what the node may be behind. */
export class FreshHead {
  readonly #parts: FreshHeadParts
  #questions: Question[] = []
  #isReading = false
  #isStopped = false
  #cancelTimer: Cancel | undefined
  /** How far the chain's clock is ahead of the monotonic one, at least. */
  #chainAheadMs = Number.NEGATIVE_INFINITY

  constructor(parts: FreshHeadParts) {
    this.#parts = parts
  }

  /** `told` is called once, later; for as long as no node is fresh, not at all. */
  ask(told: (head: Head) => void): void {
    const { clock, monotonicMs } = this.#parts
    this.#questions.push({ told, at: clock.now(), monotonicMs: monotonicMs(), undated: new Map() })
    if (!this.#isReading) this.#read()
  }

  /** Learns the chain's time while nobody asks, so that a machine's clock that is behind is known by then. */
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

  /** Why none of the providers decides the questions that are left. */
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
        reasons.push(`${name} cannot be asked for the head of the chain (${error.message})`)
      }
    }
    return reasons
  }

  /** Answers what it can, and says why not the rest. `asked`: before the head was read. */
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
    return `shows no block yet that is as new as the question: its newest was ${Math.ceil(olderMs / 1_000)} s older; it is behind, or this machine's clock is ahead (set the clock, or name another RPC in chain.rpc)`
  }

  #undated(rpc: Rpc, head: Head, asked: ReadonlySet<Question>): string {
    const { monotonicMs } = this.#parts
    let stands = ''
    this.#tell((question) => {
      const before = question.undated.get(rpc)
      const moves = before !== undefined && asked.has(question) && head.height > before.height
      const ceiling = before?.ceiling ?? (moves ? raised(head) : undefined)
      if (before !== undefined && ceiling === undefined) stands = ` and stands still at height ${head.height}`
      question.undated.set(rpc, { height: head.height, ceiling })
      return monotonicMs() - question.monotonicMs < UNDATED_MS ? undefined : ceiling
    })
    return `tells no time of its blocks${stands}: without it a proof takes about a minute longer (name an RPC with getBlockTime in chain.rpc)`
  }

  #tell(answerOf: (question: Question) => Head | undefined): void {
    const answers = new Map(this.#questions.map((question) => [question, answerOf(question)]))
    this.#questions = this.#questions.filter((question) => answers.get(question) === undefined)
    for (const [question, head] of answers) if (head !== undefined) question.told(head)
  }
}

function raised({ slot, height }: Head): Head {
  return { slot: slot + UNDATED_BLOCKS, height: height + UNDATED_BLOCKS }
}
