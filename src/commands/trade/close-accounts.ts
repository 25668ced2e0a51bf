import { ExitCode, SluiceError } from '../../base/errors.ts'
import { formatSol } from '../../base/units.ts'
import { type Closing, closeAll, type RentAccount, readRentAccounts } from '../../chain/close-accounts.ts'
import { Unread } from '../../chain/rpc/read.ts'
import { type WalletAccess, withWallet } from '../../live/wallet-access.ts'
import { BASE_FEE } from '../../solana/constants.ts'
import { configOf, withWalletOnly } from '../configuration.ts'
import { defineCommand, flag, JSON_LINE, WALLET } from '../options.ts'

/** Lists the token accounts of the wallet. --yes closes the empty ones and returns their rent to the wallet. */
export const command = defineCommand({
  options: { wallet: WALLET, yes: flag('close the empty accounts'), json: JSON_LINE },
  async run(files, { wallet, yes, json }) {
    const config = withWalletOnly(await configOf(files), wallet)
    return withWallet(
      config,
      (line) => console.error(`signer: ${line}`),
      async (access) => {
        try {
          return await closeAccounts(access, yes, json)
        } catch (error) {
          if (error instanceof Unread) throw new SluiceError(`the chain: ${error.message}`)
          throw error
        }
      },
    )
  },
})

/** Shows the token accounts, and closes the empty ones if `yes`. Returns the exit code. */
export async function closeAccounts(access: WalletAccess, yes: boolean, json: boolean): Promise<number> {
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
  'only the service has the key of this wallet, and the service has no request that closes an account.  ' +
  'If you also have the key, set wallet.keypair (or wallet.signer) and run the command again'

async function closed(access: WalletAccess, empty: readonly RentAccount[]): Promise<Closing[]> {
  const signer = await access.openSigner()
  return closeAll({ ...access, signer, say: (text) => console.error(text) }, empty)
}

function show(wallet: string, accounts: readonly RentAccount[], empty: readonly RentAccount[]): void {
  console.log(`${wallet}: ${accounts.length} token accounts, ${empty.length} of them can be closed`)
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
  if (empty.length === 0) return ['no account to close']
  if (!yes && isCloud) return [`rent in empty accounts: ${rent} SOL`, CLOUD]
  if (!yes)
    return [
      `closing them returns ${rent} SOL of rent and costs ${formatSol(BASE_FEE)} SOL per transaction; run again with --yes`,
    ]
  const back = closings.filter(({ failure }) => failure === '').flatMap(({ accounts }) => accounts)
  return [
    ...closings.flatMap(({ accounts, failure }) =>
      failure === '' ? [] : [`${accounts.map(({ address }) => address).join(', ')}: ${failure}`],
    ),
    `closed ${back.length} of ${empty.length} accounts; returned ${formatSol(rentOf(back))} SOL of rent`,
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
