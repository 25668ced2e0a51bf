import { BUILT_IN_POLICY } from '../../orders/builder-policy.ts'
import { exposuresIn } from '../verifier/exposure.ts'
import { countOf, ownMint, type Sample, unique } from './sample.ts'

/** A writable account that an opaque program could empty with the wallet's signature. */
export interface Handed {
  readonly address: string
  readonly samples: number
  /** Whether the account names the wallet. If not, it holds SOL, and its owner is unknown. */
  readonly namesWallet: boolean
}

export function handedOf(samples: readonly Sample[]): Handed[] {
  const all = samples.map(exposuresOf)
  return unique(all.flatMap((own) => [...own.keys()])).map((address) => ({
    address,
    samples: countOf(all, (own) => own.has(address)),
    namesWallet: all.some((own) => own.get(address) === true),
  }))
}

/** Exposed accounts by address; the value tells whether the account names the wallet. */
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
