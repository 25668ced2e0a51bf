import type { AskedTrade } from '../../orders/asked-trade.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { type AccountState, tokenAccountOf as tokenStateOf } from '../../solana/token-account.ts'
import { tokenAccountOf } from '../addresses.ts'
import { readAccounts } from '../rpc/accounts.ts'
import { call, whole } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'

/** What is known of the chain; undefined where nobody asked it. */
export interface ChainFacts {
  /** Rent of a token account of 165 bytes, lamports. */
  readonly rentLamports: bigint
  /** Of the traded token, base units, in the wallet's associated account. */
  readonly holding?: Holding | undefined
  readonly walletLamports?: bigint | undefined
  /** Guards at the end of the transaction will let no more leave the wallet, whatever an opaque program in it does. */
  readonly guardLamports?: bigint | undefined
}

export interface Holding {
  readonly tokens: bigint
  readonly decimals: number
  /** Token or Token-2022. */
  readonly program: string
  /** The associated account, which need not be there yet. */
  readonly account: string
}

const TOKEN_ACCOUNT_BYTES = 165
const DECIMALS_AT = 44

export async function readRent(rpc: Rpc): Promise<bigint> {
  return BigInt(whole(await call(rpc, 'getMinimumBalanceForRentExemption', [TOKEN_ACCOUNT_BYTES])))
}

/** What the wallet has, in one call, with other accounts that will be needed. Unread where nobody can say. `rent`: a
 *  call of its own, or known already. */
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
  /** The wallet's account for the mint under Token, and under Token-2022. */
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
