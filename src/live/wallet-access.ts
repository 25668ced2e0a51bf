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
import { lockWallet, openService, type ServiceAccess } from './service-access.ts'
import { openSigner } from './signer-access.ts'

/** A wallet under an exclusive lock, with its chain and its signer. */
export interface WalletAccess {
  readonly wallet: string
  readonly rpcs: ReturnType<typeof budgetedRpcs>
  readonly clock: Clock
  /** Mints of open positions and orders. */
  readonly inUse: ReadonlySet<string>
  /** Whether only the service holds the key. */
  readonly isCloud: boolean
  readonly policyHash: string
  openSigner(): Promise<RunningSigner>
}

/** Locks the journal and the wallet while `use` runs. Throws a SluiceError: with exit 4 if a process uses either of
 *  them, with exit 2 if the wallet or the RPC is missing. */
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
    closers.push(() => service.close())
    if (service.wallet === '') throw new SluiceError('wallet.publicKey is required', ExitCode.usage)
    if (config.service.kind === 'remote') {
      const held = lockWallet(service)
      closers.push(() => held.release())
    }
    const clock = new SystemClock(0)
    closers.push(() => clock.stop())
    const { http, close } = openHttp()
    closers.push(close)
    const rpcs = budgetedRpcs(service.rpc, http, clock)
    await genesisOf(rpcs, config.chain.cluster, undefined)
    return await use({
      ...{ wallet: service.wallet, rpcs, clock, inUse, isCloud: isCloud(service) },
      policyHash: service.signs.policy === undefined ? '' : policyHash(service.signs.policy),
      openSigner: async () => {
        const signer = await signerOf(service, clock, tellSigner)
        closers.push(() => signer.close())
        return signer
      },
    })
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

function isCloud({ signs: { wallet } }: ServiceAccess): boolean {
  return wallet.keypairPath === undefined && wallet.signerPath === undefined
}

function signerOf(
  { signs, wallet }: ServiceAccess,
  clock: Clock,
  tell: (line: string) => void,
): Promise<RunningSigner> {
  const { policy } = signs
  return openSigner(signs.wallet, { wallet, clock, tell, ...(policy && { policy }) })
}

/** Mints of open positions and orders of all accounts. Those of paper bots are included; they only keep more token
 *  accounts open than necessary. */
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
