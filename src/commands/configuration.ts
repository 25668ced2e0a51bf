import { resolve } from 'node:path'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { walletNamed } from '../config/accounts.ts'
import type { Config } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import { formatErrors } from '../config/yaml/errors.ts'

/** Loads a configuration. Throws one SluiceError with all errors of the configuration. */
export async function configOf(files: readonly string[], how: { readsPolicy?: boolean } = {}): Promise<Config> {
  const loaded = await loadConfig(files, how)
  if (!loaded.ok) throw new SluiceError(`the configuration is invalid\n${formatErrors(loaded.errors)}`, ExitCode.usage)
  return loaded.config
}

/** Returns the configuration with only one wallet: the wallet with this name, or without a name the configuration's
 *  only wallet. */
export function withWalletOnly(config: Config, name: string | undefined): Config {
  return { ...config, wallets: [walletNamed(config.wallets, name)] }
}

/** Returns the configuration with another journal, if one is given. */
export function withJournal(config: Config, journal: string | undefined): Config {
  return journal === undefined ? config : { ...config, journal: { ...config.journal, path: resolve(journal) } }
}
