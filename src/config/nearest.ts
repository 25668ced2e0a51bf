/** What was probably meant by `word`, or undefined when nothing is close. Case, `-`, `_` and spaces are no difference, and a word that is
 *  the beginning or the end of a candidate is near it (`stopLoss`, `percent`). */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const bare = plain(word)
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const other = plain(candidate)
    const longer = Math.max(bare.length, other.length)
    const whole = editDistance(bare, other)
    const distance = Math.min(
      whole <= Math.max(1, longer * 0.4) ? whole : Number.POSITIVE_INFINITY,
      partDistance(bare, other),
    )
    if (distance < least && distance < longer) {
      best = candidate
      least = distance
    }
  }
  return best
}

/** How far a word is from the beginning or the end of another; one letter may be wrong where there are enough of them. */
function partDistance(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length < 4) return Number.POSITIVE_INFINITY
  const parts = [0, 1].flatMap((more) => [long.slice(0, short.length + more), long.slice(-short.length - more)])
  const distance = Math.min(...parts.map((part) => editDistance(short, part)))
  return distance <= (short.length < 7 ? 0 : 1) ? distance + 1.5 : Number.POSITIVE_INFINITY
}

/** `; did you mean X?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const close = nearest(word.slice(0, 60), candidates)
  return close === undefined ? '' : `; did you mean ${close}?`
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '')
}

/** Damerau-Levenshtein: letters added, left out, changed, or two neighbours swapped. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, at(beforeLast, j - 2) + 1)
      }
      row.push(least)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] as number
}
