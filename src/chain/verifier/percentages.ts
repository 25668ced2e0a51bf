// Percentages of amounts in integers. A percentage has at most six decimals.

/** Factor that turns a percentage into an integer. */
const FINE = 1_000_000
const WHOLE = 100n * BigInt(FINE)

/** Returns a percentage of an amount, rounded down. */
export function share(amount: bigint, percent: number): bigint {
  return (amount * fineOf(percent)) / WHOLE
}

/** Returns the amount that has `part` as this percentage, rounded up. */
export function wholeOf(part: bigint, percent: number): bigint {
  const fine = fineOf(percent)
  return (part * WHOLE + fine - 1n) / fine
}

function fineOf(percent: number): bigint {
  return BigInt(Math.round(percent * FINE))
}
