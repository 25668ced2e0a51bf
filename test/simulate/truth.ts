import { isFullExit } from '../../src/engine/order.ts'
import type { TradeSide } from '../../src/market/block.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { LandedTransaction, Ledger } from '../../src/sandbox/chain/ledger.ts'
import { BLOCKHASH_BLOCKS } from '../../src/solana/constants.ts'

/** A request that left the process. */
export interface Post {
  readonly attemptId: string
  readonly orderId: string
  readonly account: string
  readonly mint: string
  readonly side: TradeSide
  readonly isFull: boolean
  readonly sentAt: number
  /** Time from which no answer to this request can arrive any more; undefined before. */
  endedAt: number | undefined
  /** Number of executions that the service will still make, independently of its answer. */
  pending: number
  readonly executions: Execution[]
}

/** A transaction that the service made for a request. */
export interface Execution {
  readonly signature: string
  readonly post: Post
  readonly madeAtHeight: number
  /** The transaction after it has landed; undefined before, and after a fork has dropped it. */
  landed: LandedTransaction | undefined
}

/** The requests and executions that really happened. Only the simulation knows them, not the simulated process. */
export class Truth {
  readonly posts: Post[] = []
  readonly executions = new Map<string, Execution>()
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  sent(attempt: Attempt, now: number): Post {
    const { id, orderId, account, mint, side } = attempt
    const post = { attemptId: id, orderId, account, mint, side, isFull: isFullExit(attempt), sentAt: now }
    this.posts.push({ ...post, endedAt: undefined, pending: 0, executions: [] })
    return this.posts.at(-1) as Post
  }

  /** Records an execution. `madeAtHeight`: height of the block whose blockhash the transaction uses. */
  executed(post: Post, signature: string, madeAtHeight = this.#ledger.head('confirmed').height): void {
    const execution = { signature, post, madeAtHeight, landed: undefined }
    post.executions.push(execution)
    this.executions.set(signature, execution)
  }

  of(orderId: string): Post[] {
    return this.posts.filter((post) => post.orderId === orderId)
  }

  /** Returns whether the attempt of a request may still execute, or its execution may still be reversed. */
  isAlive(post: Post): boolean {
    return post.pending > 0 || post.executions.some((execution) => !this.isDecided(execution))
  }

  isDecided({ landed, madeAtHeight }: Execution): boolean {
    const final = this.#ledger.head('finalized')
    if (landed !== undefined) return landed.slot <= final.slot
    return final.height > madeAtHeight + BLOCKHASH_BLOCKS
  }

  /**
   * Returns the executions of these requests whose transactions have landed and succeeded on the present fork of the
   * chain.
   */
  successes(posts: readonly Post[]): Execution[] {
    return posts.flatMap(({ executions }) => executions.filter(({ landed }) => landed?.error === null))
  }
}
