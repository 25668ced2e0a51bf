import type { ServiceProof } from '../../core/learned.ts'
import { isAsAsked, type SellUnit } from '../../service/sell-amount.ts'

// What a probe's executions prove, and nothing else.

/** A sale of a number that was carried out. Base units throughout. */
export interface NumberSale {
  /** As what the number was written. */
  readonly written: Exclude<SellUnit, 'unproved'>
  /** What was meant. */
  readonly asked: bigint
  readonly decimals: number
  readonly sold: bigint
  readonly held: bigint
}

/** What the number must have counted for this to have been sold; null where more than one thing explains it. */
export function sellNumberOf({ written, asked, decimals, sold, held }: NumberSale): ServiceProof['sellNumber'] {
  const scale = 10n ** BigInt(decimals)
  if (sold === held || sold === 0n || scale === 1n) return null // a service may sell all where a number is too large
  const asTokens = written === 'tokens' ? asked : asked * scale
  const asUnits = written === 'tokens' ? asked / scale : asked
  if (isAsAsked(sold, asTokens)) return 'tokens'
  return isAsAsked(sold, asUnits) ? 'baseUnits' : null
}

/** Percent of what was held, within what a percentage of two decimals can say. */
export function isShare(sold: bigint, held: bigint, percent: number): boolean {
  return held > 0n && Math.abs((Number(sold) / Number(held)) * 100 - percent) <= 0.02
}

/** A fill costs fees and moves the price, by less than this; another currency or unit differs by more. */
const MOST_APART = 1.5

/** Whether our own buy paid what the feed says a token costs. */
export function agrees(fillPrice: number, feedPrice: number | undefined): boolean {
  if (feedPrice === undefined || !(feedPrice > 0) || !(fillPrice > 0)) return false
  const ratio = fillPrice / feedPrice
  return ratio < MOST_APART && ratio > 1 / MOST_APART
}

export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted.length === 0 ? null : Math.round(sorted[sorted.length >> 1] as number)
}
