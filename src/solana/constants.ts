import { lamports } from '../base/units.ts'

// Constants of Solana, each with its crate in Agave 3.0, and of pump.fun (pump-fun/pump-public-docs @1b82215).

/** Base fee of each signature (solana-fee-structure: `lamports_per_signature`). */
export const BASE_FEE = lamports(5_000)

/** Length of a slot, ms. */
export const SLOT_MS = 400

/** Rent exemption of a token account: (165 + 128 bytes of overhead) * 3,480 lamports a byte-year * 2 years
 *  (solana-rent). An upper bound, because the chain has lowered its rent since: where money depends on it, a node is
 *  asked (`getMinimumBalanceForRentExemption`). */
export const TOKEN_ACCOUNT_RENT = lamports(2_039_280)

/** Bytes of an account that rent counts on top of its data (solana-rent: ACCOUNT_STORAGE_OVERHEAD). */
export const ACCOUNT_OVERHEAD_BYTES = 128

/** Longest transaction, bytes: an IPv6 packet of 1,280 without its headers (solana-packet: PACKET_DATA_SIZE). */
export const PACKET_BYTES = 1_232

/** Most accounts of a message, looked-up ones included: an instruction names them by one byte. */
export const MOST_ACCOUNTS = 256

/** Blocks for which a blockhash is valid (solana-clock: MAX_PROCESSING_AGE). */
export const BLOCKHASH_BLOCKS = 150

/** Lamports that an account with so many bytes of data must hold: 3,480 a byte-year, two years (solana-rent). */
export function rentExemption(bytes: number): number {
  return (ACCOUNT_OVERHEAD_BYTES + bytes) * 2 * 3_480
}

/** Decimals of every pump.fun token. */
export const TOKEN_DECIMALS = 6

/** Supply of every pump.fun token, base units: 1e9 whole tokens. */
export const TOKEN_SUPPLY = 1_000_000_000_000_000n

/** Fee of the bonding curve and of the lowest pool tiers, basis points of the SOL that enters or leaves: 95 for the
 *  protocol, 30 for the creator. */
export const CURVE_FEE_BPS = 125n

/** Reserves of a new bonding curve, lamports and base units. `realTokens` are for sale. */
export const CURVE_START = {
  virtualSol: 30_000_000_000n,
  virtualTokens: 1_073_000_000_000_000n,
  realTokens: 793_100_000_000_000n,
}

/** Reserves of the pool that a sold-out curve migrates to, lamports and base units. */
export const POOL_START = { virtualSol: 84_990_360_000n, virtualTokens: 206_900_000_000_000n }
