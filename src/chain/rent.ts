import { encodeBase58, isPublicKey } from '../core/base58.ts'
import type { Rpc } from '../core/ports.ts'
import { PROGRAMS } from '../core/programs.ts'
import { encodeMessage, type Message } from '../core/transaction-bytes.ts'
import { call, record, Unread } from './read.ts'
import { accountOf, tokenAccountOf } from './verifier/account-state.ts'

/** A token account of a wallet, and why it is not closed; '' where it may be. */
export interface RentAccount {
  readonly address: string
  readonly program: string
  readonly mint: string
  /** What closing it gives back, lamports. */
  readonly lamports: bigint
  readonly keptBecause: string
}

/** Fits into a packet. */
export const MOST_CLOSED_AT_ONCE = 20
const TOKEN_PROGRAMS: readonly string[] = [PROGRAMS.token, PROGRAMS.token2022]
/** CloseAccount, the same in Token and Token-2022 (spl-token-interface). */
const CLOSE = Uint8Array.of(9)
/** COption<Pubkey> of who may close it, behind all else of a token account (spl-token state.rs). */
const CLOSE_AUTHORITY = 129

/** All token accounts of a wallet, as confirmed. `inUse`: mints of open positions and orders. Unread where no node can say. */
export async function readRentAccounts(rpc: Rpc, wallet: string, inUse: ReadonlySet<string>): Promise<RentAccount[]> {
  const accounts: RentAccount[] = []
  for (const programId of TOKEN_PROGRAMS) {
    const how = { commitment: 'confirmed', encoding: 'base64' }
    const { value } = record(await call(rpc, 'getTokenAccountsByOwner', [wallet, { programId }, how]))
    if (!Array.isArray(value)) throw new Unread('no list of token accounts')
    for (const row of value) accounts.push(rentAccountOf(row, wallet, inUse))
  }
  return accounts.sort((a, b) => (a.address < b.address ? -1 : 1))
}

function rentAccountOf(row: unknown, wallet: string, inUse: ReadonlySet<string>): RentAccount {
  const { pubkey: address, account } = record(row)
  const state = accountOf(account)
  const held = tokenAccountOf(state)
  if (state === null || held === undefined || !isPublicKey(address)) throw new Unread('no token account')
  const closer =
    state.data[CLOSE_AUTHORITY] === 1 ? state.data.subarray(CLOSE_AUTHORITY + 4, CLOSE_AUTHORITY + 36) : null
  const keptBecause =
    held.owner !== wallet
      ? 'another wallet owns it'
      : held.tokens > 0n
        ? `it holds ${held.tokens} base units`
        : inUse.has(held.mint)
          ? 'a position or an order of its token is open'
          : closer !== null && encodeBase58(closer) !== wallet
            ? 'somebody else has the right to close it'
            : ''
  return { address, program: state.owner, mint: held.mint, lamports: state.lamports, keptBecause }
}

/** The bytes to sign that close these accounts to the wallet, and do nothing else. The chain refuses to close one that holds anything. */
export function closingMessage(wallet: string, accounts: readonly RentAccount[], blockhash: string): Uint8Array {
  const programs = [...new Set(accounts.map(({ program }) => program))]
  const keys = [wallet, ...accounts.map(({ address }) => address), ...programs]
  const message: Message = {
    ...{ version: 'legacy', signers: 1, readonlySigners: 0, readonlyOthers: programs.length, keys, blockhash },
    instructions: accounts.map(({ program }, index) => ({
      program: keys.length - programs.length + programs.indexOf(program),
      accounts: [index + 1, 0, 0],
      data: CLOSE,
    })),
    lookups: [],
  }
  return encodeMessage(message)
}
