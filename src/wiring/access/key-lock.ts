import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { type Lock, lockName } from '../../journal/lock.ts'
import type { ServiceAccess } from './service-access.ts'

/** A key belongs to one process: two would each spend the whole plan. undefined where it is shared on purpose, or a sandbox's. Throws a
 *  SluiceError that names the holder. */
export function lockKey(config: Config, service: ServiceAccess): Lock | undefined {
  if (config.service.kind === 'sandbox' || config.service.share < 1) return undefined
  return lockName(stateFolder(), 'the API key', service.apiKey())
}

/** One process trades with a wallet. */
export function lockWallet(service: ServiceAccess): Lock {
  return lockName(stateFolder(), 'the wallet', service.wallet)
}

/** Where things lie that belong to the machine's user and not to a journal: locks, what a signer has signed away. */
export function stateFolder(): string {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'sluice')
}
