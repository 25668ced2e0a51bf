import { PROGRAMS, WSOL_MINT } from '../../core/programs.ts'
import { tokenAccountOf as tokenStateOf } from '../verifier/account-state.ts'
import type { Sample } from './sample.ts'
import { type Range, rangeOf, unique } from './sums.ts'

export interface Opened {
  /** Whose it is, in words. */
  readonly what: string
  readonly samples: number
  readonly lamports: Range
}

const RECORD = 'a record of '

export function openedOf(samples: readonly Sample[]): Opened[] {
  const all = samples.flatMap((sample) => openedBy(sample).map((one) => ({ ...one, sample })))
  return unique(all.map(({ what }) => what)).map((what) => {
    const own = all.filter((one) => one.what === what)
    return {
      what,
      samples: new Set(own.map(({ sample }) => sample)).size,
      lamports: rangeOf(own.map(({ lamports }) => lamports)),
    }
  })
}

/** What is there after the simulation and was not before. */
function openedBy(sample: Sample): { what: string; lamports: bigint }[] {
  const { asked, simulated } = sample
  return (simulated?.changes ?? []).flatMap(({ before, after }) => {
    if (after === null || after.lamports === 0n || (before !== null && before.lamports > 0n)) return []
    const token = tokenStateOf(after)
    const mint = token?.mint === asked.mint ? 'the token' : token?.mint === WSOL_MINT ? 'wrapped SOL' : 'another token'
    const what =
      token === undefined
        ? after.owner === PROGRAMS.system
          ? 'an account that was empty'
          : `${RECORD}${after.owner}`
        : `${token.owner === asked.wallet ? "the wallet's" : "somebody's"} account of ${mint}`
    return [{ what, lamports: after.lamports }]
  })
}

/** Accounts of programs that one sample opens: records of volume, a creator's vault. */
export function recordsIn(sample: Sample): number {
  return openedBy(sample).filter(({ what }) => what.startsWith(RECORD)).length
}
