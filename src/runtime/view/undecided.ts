import type { Millis } from '../../base/units.ts'
import { isWrittenOff, type Position } from '../../engine/accounting/position.ts'
import { type BotSettings, walletSection } from '../../engine/settings.ts'
import { type Attempt, isUndecided } from '../../orders/attempt.ts'
import type { Watch } from '../../orders/audit-records.ts'
import type { JournalRecord } from '../../orders/ports.ts'
import type { EntryStop, ProofStatus, UndecidedStatus } from './view.ts'

/** An order is shown once it has been in doubt for this long. Most orders are decided within seconds. */
const LONG_MS = 60_000
const SEARCHED = 'the chain is being searched for its transaction'

/** Tracks live attempts that were sent and not yet seen on the chain. It reads the writes to the journal. */
export class UndecidedOrders {
  readonly #attempts = new Map<string, Attempt>()
  readonly #proofs = new Map<string, ProofStatus>()

  /** Restores attempts of earlier processes. */
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
        this.#proofs.delete(id)
      }
    } else if (record.kind === 'watch') this.#keep(record.watch)
    else if (record.kind === 'watchOver') this.#proofs.delete(record.attemptId)
  }

  /** Returns the orders that have been in doubt for more than a minute, oldest first. `botOf` returns the bot of an
   *  open order. */
  of(now: Millis, botOf: (orderId: string) => string | undefined): UndecidedStatus[] {
    return this.#long(now).map(({ id, orderId, mint, side, armedAt }) => ({
      ...{ orderId, bot: botOf(orderId) ?? '', mint, side, since: armedAt },
      text: this.#proofs.get(id)?.text || SEARCHED,
    }))
  }

  /** Progress of the proof of an attempt; null if the attempt is not in doubt. */
  proofOf(attemptId: string): ProofStatus | null {
    const attempt = this.#attempts.get(attemptId)
    if (attempt === undefined || attempt.state === 'armed') return null
    return this.#proofs.get(attemptId) ?? { text: SEARCHED, block: null, of: null }
  }

  /** Returns the entry stops of the bots that have reached their maximum of open positions only because of buys in
   *  doubt. */
  stops(bots: readonly BotSettings[], positions: Iterable<Position>, now: Millis): EntryStop[] {
    const lost = this.#long(now, true).filter(({ side }) => side === 'buy')
    if (lost.length === 0) return []
    const open = [...positions].filter((position) => !isWrittenOff(position))
    return bots.flatMap((settings) => {
      const { name, account, limits, walletLimits } = settings
      const ofWallet = open.filter((position) => position.account === account.id)
      const own = ofWallet.filter(({ bot }) => bot === name)
      return [
        ...stopOf(name, own, limits.maxOpenPositions, 'limits.maxOpenPositions', lost),
        ...stopOf(name, ofWallet, walletLimits.maxOpenPositions, `${walletSection(settings)}.maxOpenPositions`, lost),
      ]
    })
  }

  #keep({ attempt, progress, blocks }: Watch): void {
    this.#proofs.set(attempt.id, {
      text: progress || SEARCHED,
      ...{ block: blocks?.passed ?? null, of: blocks?.needed ?? null },
    })
  }

  /** Returns the attempts that have been in doubt for more than a minute, oldest first. With `andLost`, also those
   *  whose answer was lost less than a minute ago. */
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
  const text = `${open.length} of ${most} positions (${limit}), ${orders.length} of them ${whose} lost (${orders.join(', ')}): \`sluice why ${first.orderId}\` shows what the proof of its outcome waits for`
  return [{ code: 'POSITIONS_LIMIT', bots: [bot], since: first.armedAt, until: null, text }]
}
