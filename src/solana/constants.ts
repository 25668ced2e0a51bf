import { lamports } from '../base/units.ts'

// Constants of Solana, each with its crate in Agave 3.0, and constants of pump.fun (pump-fun/pump-public-docs
// @1b82215).

/** Base fee of each signature, in lamports (solana-fee-structure: `lamports_per_signature`). */
export const BASE_FEE = lamports(5_000)

/** Length of a Solana slot, ms. */
export const SLOT_MS = 400

/** Rent exemption of a token account: (165 + 128 bytes of overhead) * 3,480 lamports a byte-year * 2 years
 *  (solana-rent). The real rent may be lower, because the chain has lowered it since. Code that needs the exact rent
 *  asks a node (`getMinimumBalanceForRentExemption`). */
export const TOKEN_ACCOUNT_RENT = lamports(2_039_280)

/** Each account pays rent for this many bytes in addition to its data (solana-rent: ACCOUNT_STORAGE_OVERHEAD). */
export const ACCOUNT_OVERHEAD_BYTES = 128

/** Length of the longest transaction in bytes, which is an IPv6 packet of 1,280 bytes without its headers
 *  (solana-packet: PACKET_DATA_SIZE). */
export const PACKET_BYTES = 1_232

/** Maximum number of accounts of a message, including those from lookup tables, because an instruction names an account
 *  by one byte. */
export const MOST_ACCOUNTS = 256

/** Number of blocks for which a blockhash is valid (solana-clock: MAX_PROCESSING_AGE). */
export const BLOCKHASH_BLOCKS = 150

/** Lamports that an account with this many bytes of data must hold to be exempt from rent: 3,480 lamports a byte-year
 *  for two years (solana-rent). */
export function rentExemption(bytes: number): number {
  return (ACCOUNT_OVERHEAD_BYTES + bytes) * 2 * 3_480
}

/** Decimals of every pump.fun token. */
export const TOKEN_DECIMALS = 6

/** Supply of every pump.fun token, base units: 1e9 whole tokens. */
export const TOKEN_SUPPLY = 1_000_000_000_000_000n

/** Fee of the bonding curve and of the lowest pool tiers, in basis points of the SOL that enters or leaves the pool: 95
 *  for the protocol and 30 for the creator. */
export const CURVE_FEE_BPS = 125n

/** Reserves of a new bonding curve in lamports and base units. `realTokens` are for sale. */
export const CURVE_START = {
  virtualSol: 30_000_000_000n,
  virtualTokens: 1_073_000_000_000_000n,
  realTokens: 793_100_000_000_000n,
}

/** Reserves, in lamports and base units, of the pool to which a sold-out curve migrates. */
export const POOL_START = { virtualSol: 84_990_360_000n, virtualTokens: 206_900_000_000_000n }
