import type { TokenId } from './block.ts'

/** Something for a few of many tokens, read for every row. */
export type ByToken<T> = (T | undefined)[]

/** Fills up to the token first: an array with entries far apart becomes a hash table, and is as slow to read as one. */
export function setByToken<T>(list: ByToken<T>, token: TokenId, value: T | undefined): void {
  while (list.length < token) list.push(undefined)
  list[token] = value
}
