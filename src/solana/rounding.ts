// Upper bounds, in lamports, of how far an honest transaction may exceed its request. A request names SOL as a
// decimal; a transaction holds integers. A builder may round each conversion down, to nearest or up, and may use
// floating point, which can turn an exact integer into the next one. Each conversion therefore adds at most one unit of
// its result:
//
//   amount           lamports of the decimal                                + 1 lamport
//   amount, slippage amount times (1 + slippage)                            + 1 lamport
//   priority fee     lamports of the decimal                                + 1 lamport
//                    micro-lamports per compute unit: fee * 1e6 / limit     + 1 micro-lamport per unit of the limit
//
// The chain charges ceil(limit * price / 1e6), so the last rounding adds up to ceil(limit / 1e6) lamports: one, or two
// above a million compute units. These lamports go to the validator, so no builder gains from them.

/** Maximum number of compute units that a transaction may request (Agave: MAX_COMPUTE_UNIT_LIMIT). */
export const MOST_COMPUTE_UNITS = 1_400_000n

/** Maximum lamports that rounding adds to the payment of an order: less than 2 for the amount (1, plus a slippage of at
 *  most 50 percent), 1 for the slippage, and 3 for the priority fee. */
export const MOST_ROUNDING = 6

/** Returns the largest value that an amount can have after rounding, in lamports or base units. */
export function mostAmount(asked: bigint): bigint {
  return asked + 1n
}

/** Returns the largest value that a priority fee can have after rounding, lamports. `units`: compute units that the
 *  transaction may use. */
export function mostFee(asked: bigint, units: bigint): bigint {
  return asked + 1n + (units + 999_999n) / 1_000_000n
}
