import { BUILT_IN_POLICY } from '../../orders/builder-policy.ts'
import { exposuresIn } from '../verifier/exposure.ts'
import { countOf, ownMint, type Sample, unique } from './sample.ts'

/** An account that the transaction may write to, and that an opaque program could empty by the wallet's signature. */
export interface Handed {
  readonly address: string
  readonly samples: number
  /** It names the wallet; else it holds SOL, and only its owner can say whose it is. */
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

/** Whether it names the wallet, by address. */
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
