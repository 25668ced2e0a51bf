// How far above what was asked an honest transaction may end, in lamports. A request names SOL as a decimal; a
// transaction holds whole numbers. A builder may round each conversion down, to the nearest or up, and may compute in
// floating point, where a whole number can come out a hair too large and be rounded up to the next. So each conversion
// adds at most one unit of what it yields:
//
//   amount           lamports of the decimal                                   + 1 lamport
//   amount, slippage the amount times (1 + slippage)                           + 1 lamport
//   priority fee     lamports of the decimal                                   + 1 lamport
//                    micro-lamports a compute unit: fee * 1e6 / limit          + 1 micro-lamport for each unit of the limit
//
// The chain charges ceil(limit * price / 1e6), so the last of these adds up to ceil(limit / 1e6) lamports: one, or two
// above a million units. Nobody gains anything from these lamports but the validator, who gets the fee.

/** The most compute units that a transaction may ask for. */
export const MOST_COMPUTE_UNITS = 1_400_000n

/** The most that an order may pay beyond its amount, slippage and fee because of rounding: 1 for the amount grows to
 *  less than 2 with a slippage of 50 percent, 1 for the slippage, and 3 for the fee. */
export const MOST_ROUNDING = 6

/** Of an amount of lamports or base units that was asked for. */
export function mostAmount(asked: bigint): bigint {
  return asked + 1n
}

/** Of a priority fee that was asked for, where the transaction may use so many compute units. */
export function mostFee(asked: bigint, units: bigint): bigint {
  return asked + 1n + (units + 999_999n) / 1_000_000n
}
