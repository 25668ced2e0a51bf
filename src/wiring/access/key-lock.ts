import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { type Lock, lockName } from '../../journal/lock.ts'
import type { ServiceAccess } from './service-access.ts'

/** A hold on an API key. */
export interface KeyUse {
  /** No request was ever sent with it from this machine. */
  readonly isFresh: boolean
  /** A request is about to be sent. */
  began(): void
  release(): void
}

/** A key belongs to one process: two would each spend the whole plan. Not locked where it is shared on purpose, or a sandbox's. Throws a
 *  SluiceError that names the holder. */
export function lockKey(config: Config, service: ServiceAccess): KeyUse {
  const isAnybodys = config.service.kind === 'sandbox' || config.service.share < 1
  if (isAnybodys) return { isFresh: service.fresh, began: () => {}, release: () => {} }
  const lock = lockName(stateFolder(), 'the API key', service.apiKey())
  return {
    isFresh: lock.isUnused,
    began: () => lock.markUsed(),
    release: () => lock.release(),
  }
}

/** One process trades with a wallet. */
export function lockWallet(service: ServiceAccess): Lock {
  return lockName(stateFolder(), 'the wallet', service.wallet)
}

/** Where things lie that belong to the machine's user and not to a journal: locks, what a signer has signed away. */
export function stateFolder(): string {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'sluice')
}
