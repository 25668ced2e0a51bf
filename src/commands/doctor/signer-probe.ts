import type { WalletConfig } from '../../config/config.ts'
import { SluiceError } from '../../core/errors.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import { openSigner } from '../../wiring/access/signer-access.ts'
import type { Check } from './check.ts'
import { signerVerdict } from './machine-verdicts.ts'

/** Starts the signer that the configuration names, or connects to it, and has nothing signed. */
export async function examineSigner(config: WalletConfig): Promise<Check[]> {
  const { publicKey: wallet, keypairPath, signerPath } = config
  if (wallet === undefined || (keypairPath ?? signerPath) === undefined) return []
  const clock = new SystemClock()
  try {
    const signer = await openSigner(config, { wallet, clock, tell: () => {} })
    await signer.close()
    return [signerVerdict(wallet, '')]
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return [signerVerdict(wallet, error.message)]
  } finally {
    clock.stop()
  }
}
