/** `0 orders`, `1 order`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `3 TTL, 1 HALTED`: most frequent first. */
export function listed(counts: Iterable<readonly [what: string, count: number]>): string {
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return sorted.map(([what, count]) => `${count} ${what.trim()}`).join(', ')
}
