export interface Range {
  readonly least: bigint
  readonly most: bigint
}

export function rangeOf(values: readonly bigint[]): Range {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return { least: sorted[0] ?? 0n, most: sorted.at(-1) ?? 0n }
}

export function countOf<T>(values: readonly T[], is: (value: T) => boolean): number {
  return values.filter(is).length
}

export function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}
