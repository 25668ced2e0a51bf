import { join } from 'node:path'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Clock } from '../base/machine.ts'
import type { RunningSigner } from '../chain/signer/running.ts'
import type { Caps } from '../chain/signer/spending.ts'
import { connectSigner, startSigner } from '../chain/signer/start.ts'
import type { SignerCaps, WalletConfig } from '../config/config.ts'
import { policyHash } from '../config/hashes.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import { stateFolder } from './service-access.ts'

export interface SignerParts {
  /** Base58; the key has to be its own. */
  readonly wallet: string
  readonly clock: Clock
  /** Told in one line when it goes down and comes back. */
  readonly tell: (line: string) => void
  /** Absent: requests may name any, and call any program. */
  readonly policy?: BuilderPolicy
}

/** The signer that a configuration names: started here, or found at a socket. Throws a SluiceError that says what is
 *  wrong with it. */
export async function openSigner(
  config: Omit<WalletConfig, 'limits'>,
  { wallet, clock, tell, policy }: SignerParts,
): Promise<RunningSigner> {
  const { keypairPath, signerPath, caps } = config
  if (signerPath !== undefined) return connectSigner(signerPath, wallet, { clock, tell })
  if (keypairPath === undefined)
    throw new SluiceError('nobody signs: set wallet.keypair or wallet.signer', ExitCode.usage)
  const stateFile = join(stateFolder(), `signer-${wallet}.caps`)
  const launch = { keyPath: keypairPath, stateFile, caps: capsOf(caps), wallet, ...(policy && boundTo(policy)) }
  return startSigner(launch, { clock, tell })
}

export function capsOf({ perTransaction, perHour, perDay }: SignerCaps): Caps {
  const cap = (lamports: number | null) => (lamports === null ? null : BigInt(lamports))
  return { perTransaction: cap(perTransaction), perHour: cap(perHour), perDay: cap(perDay) }
}

/** What a signer holds requests against that were made under a policy. */
export function boundTo(policy: BuilderPolicy): { programs: string[]; policyHash: string } {
  return { programs: policy.programs.map(({ id }) => id), policyHash: policyHash(policy) }
}
