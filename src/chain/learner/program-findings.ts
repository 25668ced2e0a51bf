import { PRESETS } from '../../core/builder-policy.ts'
import type { Step } from '../verifier/reading.ts'
import { LAYOUTS } from '../verifier/venue-layouts.ts'
import { calls, ownMint, type Sample } from './sample.ts'
import { countOf, type Range, rangeOf, unique } from './sums.ts'

export interface ProgramFinding {
  readonly id: string
  readonly samples: number
  /** It stands in one sample several times. */
  readonly repeated: boolean
  readonly decode: 'pump' | 'pump-swap' | 'opaque'
  /** How the data begins, hex, by the side that was asked for. */
  readonly buy: readonly string[]
  readonly sell: readonly string[]
  /** Places among the accounts that are the same in all samples; undefined: there is none. */
  readonly mint: number | undefined
  readonly wallet: number | undefined
  readonly tokenAccount: number | undefined
  /** Of data behind the beginning that nobody here can read. */
  readonly unreadBytes: Range
}

const BEGINNING_BYTES = 8

export function programOf(id: string, samples: readonly Sample[]): ProgramFinding {
  const uses = samples.flatMap((sample) =>
    sample.steps.filter(({ program }) => program === id).map((step) => ({ sample, step })),
  )
  const of = (side: 'buy' | 'sell'): string[] =>
    unique(uses.filter(({ sample }) => sample.asked.side === side).map(({ step }) => beginningOf(step)))
  const preset = Object.values(PRESETS).find((one) => one.id === id)
  const isKnown =
    preset !== undefined && [...of('buy'), ...of('sell')].every((start) => start in LAYOUTS[preset.decode])
  const place = (is: (address: string, sample: Sample) => boolean): number | undefined => {
    const places = uses[0]?.step.accounts.keys() ?? []
    return [...places].find((index) => uses.every(({ sample, step }) => is(step.accounts[index] ?? '', sample)))
  }
  return {
    id,
    samples: countOf(samples, (one) => calls(one, id)),
    repeated: samples.some(({ steps }) => steps.filter(({ program }) => program === id).length > 1),
    decode: isKnown ? preset.decode : 'opaque',
    buy: of('buy'),
    sell: of('sell'),
    mint: place((address, { asked }) => address === asked.mint),
    wallet: place((address, { asked }) => address === asked.wallet),
    tokenAccount: place((address, sample) => ownMint(sample, address) === sample.asked.mint),
    unreadBytes: rangeOf(uses.map(({ step }) => BigInt(isKnown ? 0 : Math.max(0, step.data.length - BEGINNING_BYTES)))),
  }
}

function beginningOf({ data }: Step): string {
  return Buffer.from(data.subarray(0, BEGINNING_BYTES)).toString('hex')
}
