import type { AskedTrade } from '../../orders/trade-request.ts'
import { DECIMALS_AT } from '../../solana/mint.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { type AccountState, TOKEN_ACCOUNT_BYTES, tokenAccountOf as tokenStateOf } from '../../solana/token-account.ts'
import { tokenAccountOf } from '../addresses.ts'
import { readAccounts } from '../rpc/accounts.ts'
import { call, whole } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'

/** Facts that were read from the chain. A field is undefined if no node was asked. */
export interface ChainFacts {
  /** Rent-exempt minimum of a token account, lamports. */
  readonly rentLamports: bigint
  /** State of the wallet's associated token account for the traded token. */
  readonly holding?: Holding | undefined
  readonly walletLamports?: bigint | undefined
  /** Maximum number of lamports that can leave the wallet if guards (instructions that check balances) are appended. It
   *  also holds for programs whose instructions cannot be decoded. */
  readonly guardLamports?: bigint | undefined
}

export interface Holding {
  readonly tokens: bigint
  readonly decimals: number
  /** Id of the token program, Token or Token-2022. */
  readonly program: string
  /** Address of the associated account, which may not exist yet. */
  readonly account: string
}

export async function readRent(rpc: Rpc): Promise<bigint> {
  return BigInt(whole(await call(rpc, 'getMinimumBalanceForRentExemption', [TOKEN_ACCOUNT_BYTES])))
}

/** Reads the wallet, its token accounts of the mint, and further accounts (`others`) in one call. `rent` returns the
 *  rent of a token account, which it may have read before. Throws Unread if the node does not answer. */
export async function readFacts(
  rpc: Rpc,
  { wallet, mint }: AskedTrade,
  { rent, others }: { rent: (rpc: Rpc) => Promise<bigint>; others: readonly string[] },
): Promise<{ facts: ChainFacts; read: ReadonlyMap<string, AccountState | null> }> {
  const associated = [PROGRAMS.token, PROGRAMS.token2022].map((program) => tokenAccountOf(wallet, mint, program))
  const addresses = [...new Set([wallet, mint, ...associated, ...others])]
  const [rentLamports, { accounts }] = await Promise.all([rent(rpc), readAccounts(rpc, addresses)])
  const read = new Map(addresses.map((address, index) => [address, accounts[index] ?? null]))
  return { facts: factsOf(read, { wallet, mint, associated, rentLamports }), read }
}

interface Known {
  readonly wallet: string
  readonly mint: string
  /** Addresses of the wallet's associated accounts of the mint, under Token and then under Token-2022. */
  readonly associated: readonly string[]
  readonly rentLamports: bigint
}

function factsOf(
  read: ReadonlyMap<string, AccountState | null>,
  { wallet, mint, associated, rentLamports }: Known,
): ChainFacts {
  const [own, minted] = [read.get(wallet), read.get(mint)]
  const walletLamports = own?.lamports ?? 0n
  const index = minted?.owner === PROGRAMS.token2022 ? 1 : 0
  const isMint = minted?.owner === PROGRAMS.token || minted?.owner === PROGRAMS.token2022
  if (!isMint || minted.data.length <= DECIMALS_AT) return { rentLamports, walletLamports }
  const holding = {
    tokens: tokenStateOf(read.get(associated[index] as string) ?? null)?.tokens ?? 0n,
    decimals: minted.data[DECIMALS_AT] as number,
    program: minted.owner,
    account: associated[index] as string,
  }
  return { rentLamports, walletLamports, holding }
}
