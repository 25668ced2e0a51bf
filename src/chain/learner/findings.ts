import { BUILT_IN_POLICY, PRESETS } from '../../orders/builder-policy.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { tokenAccountOf as tokenStateOf } from '../../solana/token-account.ts'
import { exposuresIn } from '../verifier/exposure.ts'
import { LAYOUTS } from '../verifier/program-layouts.ts'
import { priorityFee, readComputeBudget } from '../verifier/read-compute-budget.ts'
import type { Step } from '../verifier/reading.ts'
import { type Payment, paymentsOf } from './payments.ts'
import { calls, countOf, ownMint, type Range, rangeOf, type Sample, unique } from './sample.ts'

/** Summary of the transactions that a builder returned as samples. Each field `samples` is the number of samples in
 *  which the fact was found. */
export interface Findings {
  readonly samples: number
  /** Programs that top-level instructions call, without Solana's own programs. */
  readonly programs: readonly ProgramFinding[]
  /** Solana's own programs that top-level instructions call. */
  readonly native: readonly { readonly id: string; readonly samples: number }[]
  /** Programs called by other programs. */
  readonly inner: readonly { readonly id: string; readonly samples: number }[]
  /** SOL that top-level instructions transfer from the wallet to other accounts. */
  readonly payments: readonly Payment[]
  readonly coSigners: readonly { readonly key: string; readonly samples: number; readonly signed: number }[]
  readonly tables: readonly { readonly address: string; readonly samples: number }[]
  readonly priorityLamports: Range
  readonly opened: readonly Opened[]
  /** Accounts that an opaque program could empty. A program is opaque if Sluice cannot decode its instructions. Empty
   *  if no program is opaque. */
  readonly handed: readonly Handed[]
  /** Largest number of program records that one sample opens. A record is an account in which a program stores data; it
   *  holds no tokens. */
  readonly records: number
  /** Number of samples that were not simulated successfully. */
  readonly notSimulated: number
  /** Whether the node omits inner instructions. */
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

/** Returns the priority fee in lamports that the transaction would pay. */
export function priorityOf({ steps }: Pick<Sample, 'steps'>): bigint {
  const asked = { computeLimit: undefined, microLamports: undefined, refuse: () => {} }
  for (const step of steps) if (step.program === PROGRAMS.computeBudget) readComputeBudget(step, asked)
  return priorityFee(
    asked,
    countOf(steps, ({ program }) => program !== PROGRAMS.computeBudget),
  )
}

export interface ProgramFinding {
  readonly id: string
  readonly samples: number
  /** Whether one sample calls the program several times. */
  readonly repeated: boolean
  readonly decode: 'pump' | 'pump-swap' | 'opaque'
  /** The different values, in hex, of the first 8 bytes of the instruction data: in samples of buys (`buy`), and in
   *  samples of sales (`sell`). */
  readonly buy: readonly string[]
  readonly sell: readonly string[]
  /** Indexes of the mint, the wallet and the wallet's token account among the instruction's accounts; undefined if the
   *  index is not the same in all samples. */
  readonly mint: number | undefined
  readonly wallet: number | undefined
  readonly tokenAccount: number | undefined
  /** Smallest and largest number of data bytes after the first 8, which Sluice does not decode; 0 if the layout of the
   *  instruction is known. */
  readonly unreadBytes: Range
}

const BEGINNING_BYTES = 8

function programOf(id: string, samples: readonly Sample[]): ProgramFinding {
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

export interface Opened {
  /** Owner and kind of the opened account, as text for a person. */
  readonly what: string
  readonly samples: number
  readonly lamports: Range
}

const RECORD = 'a record of '

function openedOf(samples: readonly Sample[]): Opened[] {
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

/** Returns the accounts that exist after the simulation and did not exist before. */
function openedBy(sample: Sample): { what: string; lamports: bigint }[] {
  const { asked, simulated } = sample
  return (simulated?.changes ?? []).flatMap(({ before, after }) => {
    if (after === null || after.lamports === 0n || (before !== null && before.lamports > 0n)) return []
    const token = tokenStateOf(after)
    const mint = token?.mint === asked.mint ? 'the token' : token?.mint === WSOL_MINT ? 'wrapped SOL' : 'another token'
    const what =
      token === undefined
        ? after.owner === PROGRAMS.system
          ? 'an account that was empty before'
          : `${RECORD}${after.owner}`
        : `${token.owner === asked.wallet ? "the wallet's" : "another owner's"} account of ${mint}`
    return [{ what, lamports: after.lamports }]
  })
}

/** Returns the number of program records that one sample opens, for example volume records or a creator's vault. */
function recordsIn(sample: Sample): number {
  return openedBy(sample).filter(({ what }) => what.startsWith(RECORD)).length
}

/** A writable account that an opaque program (one whose instructions Sluice cannot decode) could empty with the
 *  wallet's signature. */
export interface Handed {
  readonly address: string
  readonly samples: number
  /** Whether the data of the account contain the wallet's address. If not, the account holds SOL, and the key that may
   *  spend this SOL is unknown. */
  readonly namesWallet: boolean
}

function handedOf(samples: readonly Sample[]): Handed[] {
  const all = samples.map(exposuresOf)
  return unique(all.flatMap((own) => [...own.keys()])).map((address) => ({
    address,
    samples: countOf(all, (own) => own.has(address)),
    namesWallet: all.some((own) => own.get(address) === true),
  }))
}

/** Returns the writable accounts that an opaque program (one whose instructions Sluice cannot decode) could empty, by
 *  address. The value is true if the data of the account contain the wallet's address. */
function exposuresOf(sample: Sample): ReadonlyMap<string, boolean> {
  const { asked, simulated, transaction } = sample
  const states = new Map(simulated?.changes.map(({ address, before }) => [address, before]))
  const writable = [...states.keys()]
  const { keys, signers } = transaction.message
  const policy = { ...BUILT_IN_POLICY, coSigners: keys.slice(0, signers) }
  const own = writable.filter((address) => ownMint(sample, address) !== undefined)
  const exposures = exposuresIn({ states, writable, own, asked, policy })
  return new Map(exposures.map(({ address, kind }) => [address, kind === 'names the wallet']))
}
