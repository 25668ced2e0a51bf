import { JITO_TIPS } from '../../orders/builder-policy.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Step } from '../verifier/reading.ts'
import { ownMint, type Range, rangeOf, type Sample, unique } from './sample.ts'

export interface Payment {
  readonly to: string
  readonly samples: number
  readonly isTip: boolean
  readonly lamports: Range
  /** Smallest and largest amount of this payment in samples of sales, lamports. */
  readonly saleLamports: Range
  /** The payment as a percentage of the ordered SOL, if it is the same percentage in all buys. undefined if the payment
   *  is a fixed amount, if the percentages differ, or if only sales pay it. */
  readonly percent: number | undefined
  /** Whether every sample pays the same amount, regardless of the order's size. */
  readonly isFixed: boolean
}

/** Percentages are rounded to four decimal places. */
const PERCENT_PLACES = 10_000
const SYSTEM_TRANSFER = 2
const SYSTEM_CREATE_WITH_SEED = 3

export function paymentsOf(samples: readonly Sample[]): Payment[] {
  const all = samples.flatMap((sample) => transfersOf(sample).map((one) => ({ ...one, sample })))
  return unique(all.map(({ to }) => to)).map((to) => {
    const own = all.filter((one) => one.to === to)
    const saleLamports = rangeOf(own.flatMap((one) => (one.sample.asked.side === 'sell' ? [one.lamports] : [])))
    const lamports = rangeOf(own.map((one) => one.lamports))
    const isTip = (JITO_TIPS as readonly string[]).includes(to)
    const isFixed = lamports.least === lamports.most
    return {
      to,
      isTip,
      lamports,
      saleLamports,
      isFixed,
      samples: new Set(own.map(({ sample }) => sample)).size,
      percent: shareOf(own, isFixed),
    }
  })
}

type Transfer = { readonly to: string; readonly lamports: bigint }

/** Returns the transfers of SOL from the wallet to other owners. SOL that is sent to a wrapped SOL account opened by
 *  the transaction still belongs to the wallet, and is left out. */
function transfersOf(sample: Sample): Transfer[] {
  const { wallet } = sample.asked
  const system = sample.steps.filter(({ program, data }) => program === PROGRAMS.system && data.length >= 12)
  const kindOf = ({ data }: Step): number => Buffer.from(data).readUInt32LE(0)
  const seeded = system.filter((step) => kindOf(step) === SYSTEM_CREATE_WITH_SEED).map(({ accounts }) => accounts[1])
  return system.flatMap((step) => {
    const [from, to = ''] = step.accounts
    const isOwn = to === wallet || seeded.includes(to) || ownMint(sample, to) !== undefined
    if (kindOf(step) !== SYSTEM_TRANSFER || from !== wallet || isOwn) return []
    return [{ to, lamports: Buffer.from(step.data).readBigUInt64LE(4) }]
  })
}

/** Returns the percentage of the ordered SOL that every buy pays, within a rounding error of 2 lamports; undefined if
 *  the payment is fixed, or if the buys pay different percentages. */
function shareOf(own: readonly (Transfer & { readonly sample: Sample })[], isFixed: boolean): number | undefined {
  const buys = own.flatMap(({ lamports, sample: { asked } }) =>
    asked.side === 'buy' ? [{ paid: Number(lamports), asked: asked.lamports }] : [],
  )
  const largest = buys.sort((one, other) => other.asked - one.asked)[0]
  if (largest === undefined || isFixed) return undefined
  const percent = Math.round((largest.paid / largest.asked) * 100 * PERCENT_PLACES) / PERCENT_PLACES
  const fits = buys.every((one) => Math.abs(one.paid - (one.asked * percent) / 100) <= 2)
  return fits ? percent : undefined
}
