import fc from 'fast-check'

// Changes numbers of a configuration at random, for property tests.

export type Path = readonly (string | number)[]

function numberPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'number') return [path]
  if (typeof value !== 'object' || value === null) return []
  const keyed = Array.isArray(value) ? value.map((one, at) => [at, one] as const) : Object.entries(value)
  return keyed.flatMap(([key, one]) => numberPaths(one, [...path, key]))
}

/** Returns a copy with another number at `path`. */
export function withNumber<T>(of: T, [key, ...inside]: Path, change: (value: number) => number): T {
  if (key === undefined) return change(of as number) as T
  const copy = (Array.isArray(of) ? [...of] : { ...of }) as Record<string | number, unknown>
  copy[key] = withNumber(copy[key], inside, change)
  return copy as T
}

/** Returns a number close to the current one, so that many changed configurations are valid. */
type Change = (value: number) => number
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.double({ min: 0.5, max: 2, noNaN: true }).map(
      (factor): Change =>
        (value) =>
          value * factor,
    ),
  },
  {
    weight: 2,
    arbitrary: fc.integer({ min: -12, max: 12 }).map(
      (power): Change =>
        (value) =>
          value * 10 ** power,
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(0, -0, -1, 1, 100, 10_000, 1e5, 1e6, 2 ** 53, 1e300, 5e-324).map((value) => () => value),
  },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY).map((value) => () => value) },
  { weight: 1, arbitrary: fc.double().map((value) => () => value) },
)
/** Returns copies of `config` in which up to three numbers are changed. */
export function changedNumbers<T>(config: T): fc.Arbitrary<T> {
  const changes = fc.array(fc.tuple(fc.constantFrom(...numberPaths(config)), change), { minLength: 1, maxLength: 3 })
  return changes.map((made) => made.reduce((before, [path, to]) => withNumber(before, path, to), config))
}
