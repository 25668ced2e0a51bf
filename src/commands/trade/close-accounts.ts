import { existsSync } from 'node:fs'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import { formatSol } from '../../base/units.ts'
import { type Closing, closeAll, type RentAccount, readRentAccounts } from '../../chain/close-accounts.ts'
import { Unread } from '../../chain/rpc/read.ts'
import type { RunningSigner } from '../../chain/signer/running.ts'
import type { Config } from '../../config/config.ts'
import { policyHash } from '../../config/hashes.ts'
import { lockJournal } from '../../journal/lock.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { budgetedRpcs, genesisOf } from '../../live/rpc-access.ts'
import { lockWallet, openService, type ServiceAccess } from '../../live/service-access.ts'
import { openSigner } from '../../live/signer-access.ts'
import { isUndecided } from '../../orders/attempt.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import { BASE_FEE } from '../../solana/constants.ts'
import { openHttp } from '../../venues/http.ts'
import type { Options } from '../options.ts'
import { configOf } from './run-bots.ts'

/** `sluice close-accounts FILE`: which empty token accounts of the wallet hold rent; `--yes` closes them to the
 *  wallet. */
export async function run(files: string[], { yes = false, json = false }: Options): Promise<number> {
  const config = await configOf(files)
  return withWallet(config, async (access) => {
    try {
      return await looked(access, yes, json)
    } catch (error) {
      if (error instanceof Unread) throw new SluiceError(`the chain: ${error.message}`)
      throw error
    }
  })
}

/** Shows the accounts, and closes the empty ones where `yes` says so. */
export async function looked(access: WalletAccess, yes: boolean, json: boolean): Promise<number> {
  const { wallet, rpcs, inUse, isCloud } = access
  const accounts = await readRentAccounts(rpcs.any, wallet, inUse)
  const empty = accounts.filter(({ keptBecause }) => keptBecause === '')
  if (!json) show(wallet, accounts, empty)
  if (yes && isCloud && empty.length > 0) throw new SluiceError(CLOUD, ExitCode.unsafe)
  const closings = yes && empty.length > 0 ? await closed(access, empty) : []
  if (json) console.log(JSON.stringify(jsonOf(wallet, accounts, closings)))
  else for (const line of endText(empty, closings, yes, isCloud)) console.log(line)
  return closings.some(({ failure }) => failure !== '') ? ExitCode.failed : ExitCode.done
}

const CLOUD =
  'the service holds the key of this wallet, and none of its requests closes an account: without the key nobody can get this rent back. ' +
  'If you have the key as well, set wallet.keypair (or wallet.signer) and run this again'

async function closed(access: WalletAccess, empty: readonly RentAccount[]): Promise<Closing[]> {
  const signer = await access.openSigner()
  return closeAll({ ...access, signer, say: (text) => console.error(text) }, empty)
}

function show(wallet: string, accounts: readonly RentAccount[], empty: readonly RentAccount[]): void {
  console.log(`${wallet}: ${accounts.length} token accounts, ${empty.length} of them empty`)
  for (const { address, mint, lamports, keptBecause } of accounts)
    console.log(`  ${address}  ${mint}  ${formatSol(Number(lamports))} SOL  ${keptBecause || 'can be closed'}`)
}

function endText(
  empty: readonly RentAccount[],
  closings: readonly Closing[],
  yes: boolean,
  isCloud: boolean,
): string[] {
  const rent = formatSol(rentOf(empty))
  if (empty.length === 0) return ['nothing to close']
  if (!yes && isCloud) return [`${rent} SOL of rent lie in them`, CLOUD]
  if (!yes)
    return [`${rent} SOL of rent would come back, less ${formatSol(BASE_FEE)} SOL a transaction; --yes closes them`]
  const back = closings.filter(({ failure }) => failure === '').flatMap(({ accounts }) => accounts)
  return [
    ...closings.flatMap(({ accounts, failure }) =>
      failure === '' ? [] : [`${accounts.map(({ address }) => address).join(', ')}: ${failure}`],
    ),
    `${back.length} of ${empty.length} accounts are closed, ${formatSol(rentOf(back))} SOL of rent came back`,
  ]
}

function rentOf(accounts: readonly RentAccount[]): number {
  return accounts.reduce((sum, { lamports }) => sum + Number(lamports), 0)
}

function jsonOf(wallet: string, accounts: readonly RentAccount[], closings: readonly Closing[]): object {
  const of = (address: string): Closing | undefined =>
    closings.find(({ accounts: own }) => own.some((one) => one.address === address))
  return {
    wallet,
    accounts: accounts.map(({ address, mint, lamports, keptBecause }) => {
      const closing = of(address)
      const failure = closing?.failure ?? ''
      return {
        ...{
          account: address,
          mint,
          rentSol: Number(lamports) / 1e9,
          empty: keptBecause === '',
          reason: keptBecause || failure,
        },
        ...{ closed: closing !== undefined && failure === '', signature: closing?.signature ?? '' },
      }
    }),
  }
}

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

/** Locks journal and wallet while `use` runs. Throws a SluiceError: exit 4 where a bot runs on either, exit 2 where
 *  wallet or RPC is missing. */
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
