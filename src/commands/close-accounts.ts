import { Unread } from '../chain/read.ts'
import { type RentAccount, readRentAccounts } from '../chain/rent.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { formatSol } from '../core/units.ts'
import { CLOSING_FEE, type Closing, closeAll } from './close-accounts/closing.ts'
import { type WalletAccess, withWallet } from './close-accounts/wallet-access.ts'
import type { Options } from './options.ts'
import { configOf } from './run-bots.ts'

/** `sluice close-accounts FILE`: which empty token accounts of the wallet hold rent; `--yes` closes them to the wallet. */
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
    return [`${rent} SOL of rent would come back, less ${formatSol(CLOSING_FEE)} SOL a transaction; --yes closes them`]
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
