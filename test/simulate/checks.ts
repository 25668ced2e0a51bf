import { isFullExit, isOpen, orderNumber } from '../../src/engine/order.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Journal } from './disk.ts'
import { walletIn } from './ledger.ts'
import type { Process } from './process.ts'
import type { Kind } from './scenario.ts'
import type { Leash } from './strategy.ts'
import type { Post, Truth } from './truth.ts'

export interface CheckParts {
  /** Which participants may give wrong answers in this run. */
  readonly kind: Kind
  readonly truth: Truth
  readonly journal: Journal
  readonly leash: Leash
  /** Public keys of the wallets. */
  readonly wallets: readonly string[]
  /**
   * Returns the trades that a second process made with the same wallet. Empty in runs whose faults may hide these
   * trades from the first process for longer than `SEEN_MS`.
   */
  readonly company: () => readonly ({ readonly at: number } | undefined)[]
  readonly now: () => number
  readonly complain: (what: string) => void
}

/**
 * Maximum time from the landing of another process's transaction until this process notices it, ms. The transaction is
 * confirmed within 1 s. This process searches for it until 5 s after a transaction of its own landed. The remaining
 * time is for a slow disk.
 */
const SEEN_MS = 10_000

/**
 * The rules that every run must follow. A rule that depends on the answers of the service or of a node is not checked
 * in runs in which that participant may lie.
 */
export class Checks {
  readonly #parts: CheckParts
  readonly #sent = new Set<string>()
  #alive: readonly Post[] = []
  /** The time at which the operator last resumed entries. */
  #releasedAt = Number.NEGATIVE_INFINITY
  #posts = 0

  constructor(parts: CheckParts) {
    this.#parts = parts
  }

  /** Checks an attempt just before its request leaves the process. `signature`: with local signing, the signature of
   *  the bytes that leave the process. */
  sends(attempt: Attempt, signature = ''): void {
    const { truth, complain, journal } = this.#parts
    const { id, orderId, account, mint, side } = attempt
    if (this.#sent.has(id)) complain(`${id} is sent twice`)
    this.#sent.add(id)
    if (signature !== '' && !journal.hasSigned(attempt, signature))
      complain(`${id} is sent before its bytes are durable`)
    if (!journal.hasArmed(attempt)) complain(`${id} is sent before it is durable`)
    if (!this.#isHonest) return
    const alive = truth.posts.filter((post) => truth.isAlive(post))
    for (const post of alive) {
      if (post.orderId === orderId && !post.isFull) complain(`${id} is sent while ${post.attemptId} may execute`)
      if (side === 'buy' && post.isFull && post.mint === mint && post.account === account)
        complain(`${id} buys tokens that ${post.attemptId} may still sell`)
    }
  }

  /**
   * Checks an attempt just before it leaves the process, also if it is sent again. No buy may be sent after a later
   * full exit was accepted, after a halt, or while the disk is short of space.
   */
  leaves({ id, orderId, account, side, mint }: Attempt, { mirror, disk }: Process): void {
    if (side === 'sell') return
    if (disk.isShort) this.#parts.complain(`${id} is sent although the process knows that the disk is short of space`)
    if (mirror.isHalted(account)) this.#parts.complain(`${id} is sent although entries are halted`)
    const { now, company } = this.#parts
    const isSeen = company().some((one) => one !== undefined && one.at > this.#releasedAt && now() >= one.at + SEEN_MS)
    if (isSeen) this.#parts.complain(`${id} is sent although a second process was seen to trade with the wallet`)
    for (const { order } of mirror.orders.values())
      if (
        order.account === account &&
        order.mint === mint &&
        isFullExit(order) &&
        orderNumber(order) > orderNumber({ id: orderId })
      )
        this.#parts.complain(`${id} is sent after ${order.id}, a later full exit, was accepted`)
  }

  /**
   * Called if a write failed because the disk is full and the reserve is used up. The reserve must be large enough for
   * the records of every exit.
   */
  stuck({ mirror }: Process): void {
    for (const { order } of mirror.open)
      if (order.class === 'exit')
        this.#parts.complain(
          `${order.id} is an exit and cannot be journaled: the disk is full and the reserve is used up`,
        )
  }

  /** Called when the operator resumes entries. */
  released(): void {
    this.#releasedAt = this.#parts.now()
  }

  /** Checks the rules. It is called after every step of the run. */
  step(process: Process | undefined): void {
    const { truth, complain } = this.#parts
    if (truth.posts.length !== this.#posts) {
      this.#alive = truth.posts.filter((post) => truth.isAlive(post))
      this.#posts = truth.posts.length
    }
    this.#executedOnce()
    if (process === undefined || !process.isAlive()) return
    for (const complaint of process.mirror.complaints.splice(0)) complain(complaint)
    this.#reserved(process)
    const { mirror } = process
    const open = mirror.open.map(({ order }) => order)
    for (const complaint of mirror.standing.complaints(open, this.#parts.leash.bots)) complain(complaint)
    if (this.#isHonest) this.#held(process)
  }

  /** Called after each new block, because the block may have decided open attempts. */
  settle(): void {
    this.#posts = -1
  }

  get #isHonest(): boolean {
    return this.#parts.kind === 'honest'
  }

  /** Checks that an order that is not a full exit has at most one execution. */
  #executedOnce(): void {
    const { truth, complain, kind } = this.#parts
    if (kind === 'service') return
    for (const { orderId, isFull } of this.#alive) {
      if (isFull) continue
      const executions = truth.successes(truth.of(orderId))
      if (executions.length > 1)
        complain(`${orderId} executed as ${executions.map(({ post }) => post.attemptId).join(' and ')}`)
    }
  }

  /**
   * Checks that the reserved amount of each wallet equals the worst cost of its open orders. The amount is read through
   * one bot of each wallet: bot number n trades with wallet number n.
   */
  #reserved({ mirror }: Process): void {
    const { leash, complain, wallets } = this.#parts
    for (const [index, bot] of leash.bots.slice(0, wallets.length).entries()) {
      const own = mirror.open.filter(({ order }) => walletIn(order.account) === wallets[index])
      const open = own.reduce((sum, { order }) => sum + order.reserveLamports, 0)
      const reserved = Math.round(bot.wallet().reservedSol * 1e9)
      if (reserved !== open) complain(`${reserved} lamports are reserved, but the open orders may cost ${open}`)
    }
  }

  /**
   * Checks the order of each attempt that may still execute or be reversed. The order must be open, or filled by an
   * execution that was seen.
   */
  #held({ mirror }: Process): void {
    const { complain, journal } = this.#parts
    for (const { attemptId, orderId } of this.#alive) {
      const state = mirror.orders.get(orderId)?.state ?? journal.stateOf(orderId)
      if (state === undefined) complain(`${attemptId} may still execute, but its order is not in the journal`)
      else if (!isOpen(state) && state !== 'filled')
        complain(`${attemptId} may still execute, but its order is ${state}`)
    }
  }
}
