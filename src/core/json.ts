/** Plain JSON, and the two functions through which everything journaled goes: a bigint is written as {"$bigint":"123"}. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export function encodeJson(value: unknown): string {
  // A replacer is called for each value, so it is left out where there is nothing to replace.
  if (!holdsBigint(value)) return JSON.stringify(value)
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'bigint' ? { $bigint: item.toString() } : item,
  )
}

function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  if (typeof value !== 'object' || value === null) return false
  for (const key in value) if (holdsBigint((value as Record<string, unknown>)[key])) return true
  return false
}

export function decodeJson<T>(text: string): T {
  return JSON.parse(text, (_key, item: unknown) => (isBigint(item) ? BigInt(item.$bigint) : item)) as T
}

function isBigint(item: unknown): item is { $bigint: string } {
  return (
    typeof item === 'object' &&
    item !== null &&
    '$bigint' in item &&
    typeof item.$bigint === 'string' &&
    /^-?\d{1,40}$/.test(item.$bigint)
  )
}
