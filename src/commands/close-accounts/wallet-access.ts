import { existsSync } from 'node:fs'
import type { RunningSigner } from '../../chain/signer/running.ts'
import type { Config } from '../../config/config.ts'
import { policyHash } from '../../config/config-hash.ts'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import { isUndecided } from '../../core/order.ts'
import type { Clock } from '../../core/ports.ts'
import { lockJournal } from '../../journal/lock.ts'
import { openReader } from '../../journal/reader.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import { openHttp } from '../../service/http.ts'
import { lockWallet } from '../../wiring/access/key-lock.ts'
import { budgetedRpcs, genesisOf } from '../../wiring/access/rpc-access.ts'
import { openService, type ServiceAccess } from '../../wiring/access/service-access.ts'
import { openSigner } from '../../wiring/access/signer-access.ts'

/** A wallet that nobody else uses meanwhile, its chain, and who signs for it. */
export interface WalletAccess {
  readonly wallet: string
  readonly rpcs: ReturnType<typeof budgetedRpcs>
  readonly clock: Clock
  /** Mints of open positions and orders. */
  readonly inUse: ReadonlySet<string>
  /** The service has the key, and nobody here. */
  readonly isCloud: boolean
  readonly policyHash: string
  openSigner(): Promise<RunningSigner>
}

/** Locks journal and wallet while `use` runs. Throws a SluiceError: exit 4 where a bot runs on either, exit 2 where wallet or RPC is missing. */
export async function withWallet<T>(config: Config, use: (access: WalletAccess) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = []
  try {
    const { path } = config.journal
    const isKnown = existsSync(path)
    const lock = lockJournal(path)
    closers.push(() => lock.release())
    const inUse = isKnown ? mintsInUse(path) : new Set<string>()
    const service = await openService(config, true)
    closers.push(() => service.close())
    if (service.wallet === '') throw new SluiceError('wallet.publicKey is missing: whose accounts?', ExitCode.usage)
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
        const signer = await signerOf(service, clock)
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

function signerOf({ signs, wallet }: ServiceAccess, clock: Clock): Promise<RunningSigner> {
  const { policy } = signs
  const tell = (line: string): void => console.error(`signer: ${line}`)
  return openSigner(signs.wallet, { wallet, clock, tell, ...(policy && { policy }) })
}

/** Of all accounts: what is held on paper is no harm. */
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
