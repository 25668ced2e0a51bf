import { type Lamports, lamports, type Millis, type TokenAmount } from '../../base/units.ts'
import { isPublicKey, isSignature } from '../../solana/base58.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { HIGHEST_TRANSACTION_VERSION, type LandedTransaction, readTransaction } from '../landed/landed-transaction.ts'
import type { Rpc } from './rpc.ts'
import { RPC_BEHIND, RPC_UNSUPPORTED_VERSION } from './rpc-errors.ts'

/** Thrown if a node did not answer or its answer is invalid, so that the caller knows nothing about the chain's
 *  state. */
export class Unread extends Error {
  /** Whether the error means that the node has not reached the requested slot. */
  readonly behind: boolean
  constructor(reason: string, behind = false) {
    super(reason)
    this.behind = behind
  }
}

export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** Slot and block height of a node's newest block. */
export interface Head {
  readonly slot: number
  readonly height: number
}

/** A transaction as getSignaturesForAddress lists it. */
export interface Listed {
  readonly signature: string
  readonly slot: number
  /** Whether the transaction landed and failed. */
  readonly failed: boolean
  readonly time: Millis | null
}

/** Ids of the programs Token and Token-2022. */
const TOKEN_PROGRAMS = [PROGRAMS.token, PROGRAMS.token2022]

export async function readHead(rpc: Rpc, commitment: Commitment, minContextSlot?: number): Promise<Head> {
  const value = await call(rpc, 'getEpochInfo', [options(commitment, minContextSlot)])
  const { absoluteSlot, blockHeight } = record(value)
  return { slot: whole(absoluteSlot), height: whole(blockHeight) }
}

export async function readBalance(
  rpc: Rpc,
  wallet: string,
  minContextSlot: number,
): Promise<{ slot: number; lamports: Lamports }> {
  const { context, value } = record(await call(rpc, 'getBalance', [wallet, options('finalized', minContextSlot)]))
  return { slot: whole(record(context).slot), lamports: lamports(whole(value)) }
}

/** Lists the signatures of a wallet's transactions that lie between two signatures, newest first. `before` and `until`:
 *  these two signatures, which are not listed themselves. */
export async function listSignatures(
  rpc: Rpc,
  wallet: string,
  commitment: Commitment,
  range: { limit: number; before?: string | undefined; until?: string | undefined; minContextSlot?: number },
): Promise<Listed[]> {
  const { limit, before, until, minContextSlot } = range
  const paging = { limit, ...(before !== undefined && { before }), ...(until !== undefined && { until }) }
  const rows = await call(rpc, 'getSignaturesForAddress', [
    wallet,
    { ...options(commitment, minContextSlot), ...paging },
  ])
  if (!Array.isArray(rows)) throw new Unread('the answer is not a list of signatures')
  return rows.map((row) => {
    const { signature, slot, err, blockTime } = record(row)
    if (!isSignature(signature)) throw new Unread('invalid signature in the answer')
    const time = Number.isSafeInteger(blockTime) ? (blockTime as number) * 1_000 : null
    return { signature, slot: whole(slot), failed: err != null, time }
  })
}

/** Reads a landed transaction. Returns null if the node does not have it yet, and `unreadable` if it cannot be
 *  parsed. */
export async function readLanded(
  rpc: Rpc,
  signature: string,
  commitment: Commitment,
): Promise<LandedTransaction | 'unreadable' | null> {
  const how = { commitment, encoding: 'json', maxSupportedTransactionVersion: HIGHEST_TRANSACTION_VERSION }
  const result = await rpc('getTransaction', [signature, how])
  if (!result.ok && result.code === RPC_UNSUPPORTED_VERSION) return 'unreadable'
  if (!result.ok) throw new Unread(result.message, result.code === RPC_BEHIND)
  if (result.value === null) return null
  const transaction = readTransaction(result.value)
  return transaction?.signature === signature ? transaction : 'unreadable'
}

/** Reads the oldest slot that the node still has. */
export async function readFirstSlot(rpc: Rpc): Promise<number> {
  return whole(await call(rpc, 'getFirstAvailableBlock', []))
}

/** Reads the time of a slot, on which the validators voted. */
export async function readBlockTime(rpc: Rpc, slot: number): Promise<Millis> {
  return whole(await call(rpc, 'getBlockTime', [slot])) * 1_000
}

export interface Holding {
  readonly tokens: TokenAmount
  readonly decimals: number
}

/** Reads the token balances of a wallet, by mint. */
export async function readHoldings(rpc: Rpc, wallet: string, minContextSlot?: number): Promise<Map<string, Holding>> {
  const holdings = new Map<string, Holding>()
  for (const programId of TOKEN_PROGRAMS) {
    const how = { ...options('finalized', minContextSlot), encoding: 'jsonParsed' }
    const { value } = record(await call(rpc, 'getTokenAccountsByOwner', [wallet, { programId }, how]))
    if (!Array.isArray(value)) throw new Unread('the answer is not a list of token accounts')
    for (const row of value) {
      const { mint, tokens, decimals } = holdingOf(row)
      holdings.set(mint, { tokens: (holdings.get(mint)?.tokens ?? 0n) + tokens, decimals })
    }
  }
  return holdings
}

function holdingOf(row: unknown): Holding & { mint: string } {
  const { data } = record(record(row).account)
  const { mint, tokenAmount } = record(record(record(data).parsed).info)
  const { amount, decimals } = record(tokenAmount)
  if (!isPublicKey(mint) || typeof amount !== 'string' || !/^\d{1,20}$/.test(amount))
    throw new Unread('invalid token account in the answer')
  return { mint, tokens: BigInt(amount), decimals: whole(decimals) }
}

/** Maximum number of calls if a node is behind. A repeated call may succeed, because one URL may lead to several nodes
 *  of different age. */
const TRIES_BEHIND = 4

/** Calls a node and returns its answer; throws Unread on an error. */
export async function call(rpc: Rpc, method: string, params: readonly unknown[]): Promise<unknown> {
  let result = await rpc(method, params)
  for (let tries = 1; !result.ok && result.code === RPC_BEHIND && tries < TRIES_BEHIND; tries++)
    result = await rpc(method, params)
  if (result.ok) return result.value
  throw new Unread(`${method}: ${result.message}`, result.code === RPC_BEHIND)
}

function options(commitment: Commitment, minContextSlot?: number): object {
  return { commitment, ...(minContextSlot !== undefined && { minContextSlot }) }
}

export function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new Unread('the answer is not an object')
  return value as Record<string, unknown>
}

export function whole(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Unread('invalid number in the answer')
  return value as number
}
