import { existsSync } from 'node:fs'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Clock } from '../base/machine.ts'
import type { RunningSigner } from '../chain/signer/running.ts'
import type { Config } from '../config/config.ts'
import { policyHash } from '../config/hashes.ts'
import { lockJournal } from '../journal/lock.ts'
import { openReader } from '../journal/reader/reader.ts'
import { isUndecided } from '../orders/attempt.ts'
import { SystemClock } from '../runtime/system-clock.ts'
import { openHttp } from '../venues/http.ts'
import { budgetedRpcs, genesisOf } from './rpc-access.ts'
import { lockWallet, openService, type WalletKeys } from './service-access.ts'
import { openSigner } from './signer-access.ts'

/** A wallet under an exclusive lock, with its chain and its signer. */
export interface WalletAccess {
  readonly wallet: string
  readonly rpcs: ReturnType<typeof budgetedRpcs>
  readonly clock: Clock
  /** Mints of open positions and orders. */
  readonly inUse: ReadonlySet<string>
  /** Whether the key of the wallet is held by the service only. */
  readonly isCloud: boolean
  readonly policyHash: string
  openSigner(): Promise<RunningSigner>
}

/** Locks the journal and the only wallet of the configuration while `use` runs. Throws a SluiceError with exit 4 if a
 *  process uses the journal or the wallet, and with exit 2 if the wallet or the RPC is missing. */
export async function withWallet<T>(
  config: Config,
  tellSigner: (line: string) => void,
  use: (access: WalletAccess) => Promise<T>,
): Promise<T> {
  const closers: (() => unknown)[] = []
  try {
    const { path } = config.journal
    const isKnown = existsSync(path)
    const lock = lockJournal(path)
    closers.push(() => lock.release())
    const inUse = isKnown ? mintsInUse(path) : new Set<string>()
    const service = await openService(config, true)
    const { policy } = service
    closers.push(() => service.close())
    const [keys] = service.wallets as [WalletKeys]
    const wallet = keys.publicKey
    if (wallet === '') throw new SluiceError('wallet.publicKey is required', ExitCode.usage)
    if (config.service.kind === 'remote') {
      const held = lockWallet(keys)
      closers.push(() => held.release())
    }
    const clock = new SystemClock(0)
    closers.push(() => clock.stop())
    const { http, close } = openHttp()
    closers.push(close)
    const rpcs = budgetedRpcs(service.rpc, http, clock)
    await genesisOf(rpcs, config.chain.cluster, undefined)
    return await use({
      ...{ wallet, rpcs, clock, inUse },
      isCloud: keys.keypairPath === undefined && keys.signerPath === undefined,
      policyHash: policy === undefined ? '' : policyHash(policy),
      openSigner: async () => {
        const signer = await openSigner(keys, { wallet, clock, tell: tellSigner, ...(policy && { policy }) })
        closers.push(() => signer.close())
        return signer
      },
    })
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

/** Mints of open positions and orders of all accounts. Mints of paper bots are included too, which only keeps more
 *  token accounts open than necessary. */
function mintsInUse(path: string): Set<string> {
  const reader = openReader(path)
  try {
    const { money, orders, attempts } = reader.recover()
    const held = money.positions.filter(({ state }) => state !== 'closed')
    const out = attempts.filter(({ state }) => isUndecided(state))
    return new Set([...held, ...orders.map(({ order }) => order), ...out].map(({ mint }) => mint))
  } finally {
    reader.close()
  }
}
