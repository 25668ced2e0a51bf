import type { Millis } from '../base/units.ts'
import { isWrittenOff, type Position } from '../engine/accounting/position.ts'
import type { BotSettings } from '../engine/settings.ts'
import type { TradeSide } from '../market/block.ts'
import { type Attempt, isUndecided } from '../orders/attempt.ts'
import type { JournalRecord } from '../orders/ports.ts'
import type { Watch } from '../orders/wallet-audit.ts'
import type { EntryStop } from './entry-stops.ts'

/** A live order of which it is not known yet whether it executed, for a person who watches. */
export interface UndecidedStatus {
  readonly orderId: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  /** When it was sent. */
  readonly since: Millis
  /** What its proof waits for. */
  readonly text: string
}

/** Most orders are decided within seconds: what takes longer is worth a line. */
const LONG_MS = 60_000

/** Live attempts that are out and were not seen on the chain, as they pass on their way into the journal. */
export class UndecidedOrders {
  readonly #attempts = new Map<string, Attempt>()
  readonly #progress = new Map<string, string>()

  /** Of processes before this one. */
  restore(past: { readonly attempts: readonly Attempt[]; readonly watches: readonly Watch[] }): void {
    for (const attempt of past.attempts) this.take({ kind: 'attempt', attempt })
    for (const watch of past.watches) this.take({ kind: 'watch', watch })
  }

  take(record: JournalRecord): void {
    if (record.kind === 'attempt') {
      const { id, state, executor } = record.attempt
      const isOut = executor !== 'paper' && isUndecided(state) && state !== 'landed'
      if (isOut) this.#attempts.set(id, record.attempt)
      else {
        this.#attempts.delete(id)
        this.#progress.delete(id)
      }
    } else if (record.kind === 'watch') this.#progress.set(record.watch.attempt.id, record.watch.progress)
    else if (record.kind === 'watchOver') this.#progress.delete(record.attemptId)
  }

  /** Those that take long, oldest first. `botOf`: of an order that is open. */
  of(now: Millis, botOf: (orderId: string) => string | undefined): UndecidedStatus[] {
    return this.#long(now).map(({ id, orderId, mint, side, armedAt }) => ({
      ...{ orderId, bot: botOf(orderId) ?? '', mint, side, since: armedAt },
      text: this.#progress.get(id) || 'the chain is being searched for what became of it',
    }))
  }

  /** Bots whose open positions are as many as they may be, some of them only because nobody knows yet whether a buy
   *  executed. */
  stops(bots: readonly BotSettings[], positions: Iterable<Position>, now: Millis): EntryStop[] {
    const open = [...positions].filter((position) => !isWrittenOff(position))
    const lost = this.#long(now, true).filter(({ side }) => side === 'buy')
    return bots.flatMap(({ name, account, limits, walletLimits }) => {
      const ofWallet = open.filter((position) => position.account === account.id)
      const own = ofWallet.filter(({ bot }) => bot === name)
      return [
        ...stopOf(name, own, limits.maxOpenPositions, 'limits.maxOpenPositions', lost),
        ...stopOf(name, ofWallet, walletLimits.maxOpenPositions, 'wallet.limits.maxOpenPositions', lost),
      ]
    })
  }

  /** `andLost`: also what lost its answer just now. */
  #long(now: Millis, andLost = false): Attempt[] {
    return [...this.#attempts.values()]
      .filter(({ armedAt, state }) => now - armedAt >= LONG_MS || (andLost && state === 'unknown'))
      .sort((one, other) => one.armedAt - other.armedAt)
  }
}

function stopOf(
  bot: string,
  open: readonly Position[],
  most: number | null,
  limit: string,
  lost: readonly Attempt[],
): EntryStop[] {
  if (most === null || open.length < most) return []
  const opening = new Set(open.filter(({ tokens }) => tokens === 0n).map(({ mint }) => mint))
  const doubted = lost.filter(({ mint, account }) => opening.has(mint) && open.some((one) => one.account === account))
  const [first] = doubted
  if (first === undefined) return []
  const orders = [...new Set(doubted.map(({ orderId }) => orderId))]
  const whose = orders.length === 1 ? 'a buy whose answer was' : 'buys whose answers were'
  const text = `${open.length} of ${most} positions (${limit}), ${orders.length} of them ${whose} lost (${orders.join(', ')}): \`sluice why ${first.orderId}\` says what its proof waits for`
  return [{ code: 'POSITIONS_LIMIT', bots: [bot], since: first.armedAt, until: null, text }]
}
