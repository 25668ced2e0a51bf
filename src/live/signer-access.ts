import { join } from 'node:path'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Clock } from '../base/machine.ts'
import type { RunningSigner } from '../chain/signer/running.ts'
import type { Caps } from '../chain/signer/spending-caps.ts'
import { connectSigner, startSigner } from '../chain/signer/start.ts'
import type { SignerCaps, WalletConfig } from '../config/config.ts'
import { policyHash } from '../config/hashes.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import { stateFolder } from './service-access.ts'

export interface SignerParts {
  /** Public key of the wallet, base58. The signer's key must belong to this wallet. */
  readonly wallet: string
  readonly clock: Clock
  /** Called with one line when the signer becomes unreachable or reachable again. */
  readonly tell: (line: string) => void
  /** Policy that the signer applies. If absent, requests may use any fee account and call any program. */
  readonly policy?: BuilderPolicy
}

/** Starts the configured signer, or connects to its socket. Throws a SluiceError that names the problem. */
export async function openSigner(
  config: Pick<WalletConfig, 'name' | 'keypairPath' | 'signerPath' | 'caps'>,
  { wallet, clock, tell, policy }: SignerParts,
): Promise<RunningSigner> {
  const { keypairPath, signerPath, caps } = config
  if (signerPath !== undefined) return connectSigner(signerPath, wallet, { clock, tell })
  if (keypairPath === undefined) {
    const section = config.name === '' ? 'wallet' : `wallets.${config.name}`
    throw new SluiceError(`no signer configured: set ${section}.keypair or ${section}.signer`, ExitCode.usage)
  }
  const stateFile = join(stateFolder(), `signer-${wallet}.caps`)
  const launch = { keyPath: keypairPath, stateFile, caps: capsOf(caps), wallet, ...(policy && boundTo(policy)) }
  return startSigner(launch, { clock, tell })
}

export function capsOf({ perTransaction, perHour, perDay }: SignerCaps): Caps {
  const cap = (lamports: number | null) => (lamports === null ? null : BigInt(lamports))
  return { perTransaction: cap(perTransaction), perHour: cap(perHour), perDay: cap(perDay) }
}

/** The parts of a policy that the signer also applies. */
export function boundTo(policy: BuilderPolicy): { programs: string[]; policyHash: string } {
  return { programs: policy.programs.map(({ id }) => id), policyHash: policyHash(policy) }
}
