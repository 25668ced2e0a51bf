import { SluiceError } from '../../base/errors.ts'
import { formatSol } from '../../base/units.ts'
import type { Attempt } from '../../orders/attempt.ts'
import { type Holding, readHoldings, readLanded, Unread } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { Resolver } from './resolver.ts'
import type { WatchedAttempt } from './watch-list.ts'

/** State of an undecided order, for the operator who has to decide it. */
export interface Undecided {
  readonly text: string
  readonly held: boolean
  /** Lamports that may be spent twice if the operator declares that the order did not execute, but it did. */
  readonly riskLamports: number
}

/** Actions of the operator on orders whose outcome the chain does not show, and on tokens that no order bought. */
export class OperatorDecisions {
  readonly #resolver: Resolver
  readonly #rpc: Rpc
  readonly #wallet: string

  constructor(resolver: Resolver, rpc: Rpc, wallet: string) {
    this.#resolver = resolver
    this.#rpc = rpc
    this.#wallet = wallet
  }

  /** Whether the order has an attempt that has not ended. */
  has(orderId: string): boolean {
    return this.#resolver.watches.all().some(({ attempt, ended }) => attempt.orderId === orderId && !ended)
  }

  show(orderId: string): Undecided {
    const open = this.#of(orderId)
    const [{ attempt }] = open as [WatchedAttempt]
    const held = open.every(({ lastReport }) => lastReport === 'held')
    const lines = [
      `order ${orderId}: ${asked(attempt)} ${attempt.mint}`,
      ...open.map(known),
      `until it is decided, its maximum cost stays reserved, and ${attempt.side === 'buy' ? 'buys' : 'sales'} of this token wait; other orders continue`,
      `to check: look up the transactions of ${this.#wallet} after Solana slot ${attempt.baseline?.slot ?? 'unknown'}`,
      `if it executed: sluice resolve ${orderId} --executed SIGNATURE`,
      held
        ? `if it did not execute: sluice resolve ${orderId} --not-executed; if an execution is found later, it is booked then, and you may have bought twice`
        : 'Sluice is still proving its outcome and needs no decision; --not-executed is only for a held order',
    ]
    return { text: lines.join('\n'), held, riskLamports: open.reduce((sum, one) => sum + riskOf(one.attempt), 0) }
  }

  /** Books this transaction as the execution of an order. Throws SluiceError if the chain does not show that it belongs
   *  to the order. */
  async executed(orderId: string, signature: string): Promise<string> {
    const open = this.#of(orderId)
    try {
      const transaction = await readLanded(this.#rpc, signature, 'finalized')
      if (transaction === null)
        throw new SluiceError(`${signature} is not final; if it has just landed, try again in 20 s`)
      if (transaction === 'unreadable') throw new SluiceError(`${signature} cannot be read`)
      for (const one of open)
        if (this.#resolver.executedBy(one, transaction))
          return `${orderId} executed as transaction ${signature}, which is now booked`
    } catch (error) {
      if (!(error instanceof Unread)) throw error
      throw new SluiceError(`the chain cannot be read: ${error.message}`)
    }
    throw new SluiceError(
      `transaction ${signature} does not belong to this order: it has another mint or side, is older than the order, has failed, or belongs to another order`,
    )
  }

  notExecuted(orderId: string): string {
    const open = this.#of(orderId)
    if (!open.every(({ lastReport }) => lastReport === 'held'))
      throw new SluiceError(
        `${orderId} is not held: ${open.map(({ progress }) => progress).join('; ')}; its outcome is still being proved`,
      )
    for (const one of open) this.#resolver.abandon(one)
    return `${orderId} counts as not executed; if an execution is found later, it is booked then, and you are notified`
  }

  /** Reads the wallet's balance of a mint; undefined if it is 0. */
  async holding(mint: string): Promise<Holding | undefined> {
    try {
      const holding = (await readHoldings(this.#rpc, this.#wallet)).get(mint)
      return holding === undefined || holding.tokens === 0n ? undefined : holding
    } catch (error) {
      if (!(error instanceof Unread)) throw error
      throw new SluiceError(`the chain cannot be read: ${error.message}`)
    }
  }

  #of(orderId: string): WatchedAttempt[] {
    const open = this.#resolver.watches.all().filter(({ attempt, ended }) => attempt.orderId === orderId && !ended)
    if (open.length === 0)
      throw new SluiceError(`${orderId} needs no decision: none of its attempts is open (see sluice orders)`)
    return open
  }
}

function known({ attempt, lastReport, progress, settled }: WatchedAttempt): string {
  const sent = `${attempt.id}: sent ${new Date(attempt.armedAt).toISOString()}`
  if (settled !== '') return `${sent}; seen on the chain as ${settled}, not final yet`
  const state = lastReport === 'held' ? 'it may or may not have executed' : 'its outcome is being proved'
  return `${sent}; ${state}${progress === '' ? '' : ` (${progress})`}`
}

function asked({ side, size }: Attempt): string {
  if (size.kind === 'sol') return `buy ${formatSol(size.lamports)} SOL of`
  return `${side} ${size.kind === 'percent' ? `${size.percent} % of` : size.kind === 'all' ? 'all of' : `${size.tokens} base units of`}`
}

/** Returns the maximum number of lamports that would be spent twice if the attempt did execute and the same buy is
 *  ordered again; 0 for a sale, because tokens that are gone cannot be sold again. */
function riskOf({ size }: Attempt): number {
  return size.kind === 'sol' ? size.lamports : 0
}
