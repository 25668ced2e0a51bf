import { PROGRAMS } from '../../core/programs.ts'
import { priorityFee, readComputeBudget } from '../verifier/compute-budget.ts'
import { type Handed, handedOf } from './handed-accounts.ts'
import { type Opened, openedOf, recordsIn } from './opened-accounts.ts'
import { type Payment, paymentsOf } from './payments.ts'
import { type ProgramFinding, programOf } from './program-findings.ts'
import { calls, type Sample } from './sample.ts'
import { countOf, type Range, rangeOf, unique } from './sums.ts'

/** All that stood in the samples of a builder. Counts are of samples. */
export interface Findings {
  readonly samples: number
  /** Of the message's own instructions, Solana's programs apart. */
  readonly programs: readonly ProgramFinding[]
  /** Solana's own programs by name, and how often. */
  readonly native: readonly { readonly id: string; readonly samples: number }[]
  /** Called from inside. */
  readonly inner: readonly { readonly id: string; readonly samples: number }[]
  /** SOL of the wallet by transfers of the message, to whom it is not the wallet's. */
  readonly payments: readonly Payment[]
  readonly coSigners: readonly { readonly key: string; readonly samples: number; readonly signed: number }[]
  readonly tables: readonly { readonly address: string; readonly samples: number }[]
  readonly priorityLamports: Range
  readonly opened: readonly Opened[]
  /** What an opaque program could take, if one of the programs is. */
  readonly handed: readonly Handed[]
  /** The most accounts that one sample opens and that are nobody's token accounts: records of programs. */
  readonly records: number
  /** Samples of which a program is not known, or did not run. */
  readonly notSimulated: number
  /** The node does not tell what was called from inside. */
  readonly innerUntold: boolean
}

const NATIVE: readonly string[] = [
  ...[PROGRAMS.system, PROGRAMS.token, PROGRAMS.token2022, PROGRAMS.associatedToken, PROGRAMS.computeBudget],
  ...[PROGRAMS.memo, PROGRAMS.memo1],
]

export function findingsOf(samples: readonly Sample[]): Findings {
  const ids = unique(samples.flatMap(({ steps }) => steps.map(({ program }) => program)))
  const inner = unique(samples.flatMap(({ simulated }) => simulated?.inner ?? []))
  return {
    samples: samples.length,
    programs: ids.filter((id) => !NATIVE.includes(id)).map((id) => programOf(id, samples)),
    native: ids
      .filter((id) => NATIVE.includes(id))
      .map((id) => ({ id, samples: countOf(samples, (one) => calls(one, id)) })),
    inner: inner.map((id) => ({
      id,
      samples: countOf(samples, ({ simulated }) => simulated?.inner?.includes(id) === true),
    })),
    payments: paymentsOf(samples),
    coSigners: coSignersOf(samples),
    tables: unique(samples.flatMap(tablesOf)).map((address) => ({
      address,
      samples: countOf(samples, (one) => tablesOf(one).includes(address)),
    })),
    priorityLamports: rangeOf(samples.map(priorityOf)),
    opened: openedOf(samples),
    handed: handedOf(samples),
    records: Math.max(0, ...samples.map(recordsIn)),
    notSimulated: countOf(samples, ({ simulated }) => simulated === undefined),
    innerUntold: samples.some(({ simulated }) => simulated !== undefined && simulated.inner === undefined),
  }
}

function coSignersOf(samples: readonly Sample[]): Findings['coSigners'] {
  const of = ({ asked, transaction: { message } }: Sample): string[] =>
    message.keys.slice(0, message.signers).filter((key) => key !== asked.wallet)
  const hasSigned = ({ transaction: { message, signatures } }: Sample, key: string): boolean =>
    signatures[message.keys.indexOf(key)]?.some((byte) => byte !== 0) === true
  return unique(samples.flatMap(of)).map((key) => {
    const own = samples.filter((sample) => of(sample).includes(key))
    return { key, samples: own.length, signed: countOf(own, (sample) => hasSigned(sample, key)) }
  })
}

function tablesOf({ transaction: { message } }: Sample): string[] {
  return message.lookups.map(({ table }) => table)
}

/** What the transaction would pay as priority fee, lamports. */
export function priorityOf({ steps }: Pick<Sample, 'steps'>): bigint {
  const asked = { computeLimit: undefined, microLamports: undefined, refuse: () => {} }
  for (const step of steps) if (step.program === PROGRAMS.computeBudget) readComputeBudget(step, asked)
  return priorityFee(
    asked,
    countOf(steps, ({ program }) => program !== PROGRAMS.computeBudget),
  )
}
