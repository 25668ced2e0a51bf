// Functions of a list of numbers. They return undefined if the list is too short.

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

export function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : sum(values) / values.length
}

/** Sample standard deviation (n - 1). */
export function deviation(values: readonly number[]): number | undefined {
  const middle = mean(values)
  if (middle === undefined || values.length < 2) return undefined
  return Math.sqrt(sum(values.map((value) => (value - middle) ** 2)) / (values.length - 1))
}

/** Square root of the mean of the squares of all values, in which values above 0 count as 0. */
export function downsideDeviation(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined
  return Math.sqrt(sum(values.map((value) => Math.min(0, value) ** 2)) / values.length)
}

/** The value below which the given share (0 to 1) of the values lies, interpolated between neighbouring values. */
export function quantile(values: readonly number[], share: number): number | undefined {
  if (values.length === 0) return undefined
  const sorted = [...values].sort((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = Math.floor(place)
  const low = sorted[below] as number
  return low + ((sorted[below + 1] ?? low) - low) * (place - below)
}

/** Third standardized moment of the population. */
export function skewness(values: readonly number[]): number | undefined {
  return moment(values, 3)
}

/** Fourth standardized moment of the population, less 3. */
export function excessKurtosis(values: readonly number[]): number | undefined {
  const fourth = moment(values, 4)
  return fourth === undefined ? undefined : fourth - 3
}

function moment(values: readonly number[], power: number): number | undefined {
  const middle = mean(values)
  if (middle === undefined || values.length < 3) return undefined
  const variance = sum(values.map((value) => (value - middle) ** 2)) / values.length
  if (variance === 0) return undefined
  return sum(values.map((value) => (value - middle) ** power)) / values.length / variance ** (power / 2)
}

export function scaled(value: number | undefined, by: number): number | undefined {
  return value === undefined ? undefined : value * by
}

/** Divides two numbers. Returns undefined if one is undefined or the divisor is 0. */
export function ratio(value: number | undefined, by: number | undefined): number | undefined {
  return value === undefined || by === undefined || by === 0 ? undefined : value / by
}

/** Distribution function of the standard normal distribution, accurate to 1.5e-7 (Abramowitz and Stegun 7.1.26). */
export function normal(z: number): number {
  const t = 1 / (1 + (0.3275911 * Math.abs(z)) / Math.SQRT2)
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
  const half = 1 - series * Math.exp((-z * z) / 2)
  return z < 0 ? (1 - half) / 2 : (1 + half) / 2
}

/** Length of the longest run of consecutive values that pass. */
export function longestRun(values: readonly number[], passes: (value: number) => boolean): number {
  let longest = 0
  let run = 0
  for (const value of values) {
    run = passes(value) ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  return longest
}
