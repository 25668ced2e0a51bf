import type { Millis } from '../../base/units.ts'

/** A decision or a fill of a version, for display. */
export interface VersionEvent {
  readonly time: Millis
  readonly bot: string
  readonly kind: 'buy' | 'sell' | 'refused' | 'note' | 'cancel' | 'alarm' | 'filled'
  readonly mint: string
  /** Amount with its unit; '' if the event has none. */
  readonly amount: string
  readonly text: string
}

/** Results of a version over the rows that it has seen. */
export interface VersionReport {
  readonly rows: number
  readonly orders: number
  readonly fills: number
  readonly refused: number
  /** Open positions. */
  readonly positions: number
  /** Change of the wallets' balances in the run, plus the liquidation value of the open positions, SOL. */
  readonly netSol: number
  readonly events: readonly VersionEvent[]
  /** Place and reason if a strategy threw or was stopped; '' otherwise. */
  readonly ended: string
}

/** Two versions of a strategy that ran over the same rows of the market, and the differences between their events. */
export interface Comparison {
  readonly before: VersionReport
  readonly now: VersionReport
  /** Events that only one of the versions has, in the order of time. */
  readonly changes: readonly { readonly isNew: boolean; readonly event: VersionEvent }[]
}

export function compareReports(before: VersionReport, now: VersionReport): Comparison {
  const lost = without(before.events, now.events).map((event) => ({ isNew: false, event }))
  const gained = without(now.events, before.events).map((event) => ({ isNew: true, event }))
  const changes = [...lost, ...gained].sort((one, other) => one.event.time - other.event.time)
  return { before, now, changes }
}

/**
 * Returns the events of `all` that `others` lacks. Equal events are counted: if `all` has three of them and `others`
 * has one, two are returned.
 */
function without(all: readonly VersionEvent[], others: readonly VersionEvent[]): VersionEvent[] {
  const left = new Map<string, number>()
  for (const event of others) left.set(keyOf(event), (left.get(keyOf(event)) ?? 0) + 1)
  return all.filter((event) => {
    const count = left.get(keyOf(event)) ?? 0
    if (count > 0) left.set(keyOf(event), count - 1)
    return count === 0
  })
}

function keyOf({ time, bot, kind, mint, amount, text }: VersionEvent): string {
  // Order numbers are ignored, because one more order changes all later numbers.
  return [time, bot, kind, mint, amount, text.replace(/\b[oc]\d+\b/g, 'o')].join('\n')
}
