import { isPublicKey } from '../core/base58.ts'
import { readList } from '../core/key-list.ts'
import type { CheckedBot } from './bots.ts'
import type { ConfigError } from './errors.ts'
import { readText } from './read.ts'

const LISTS = ['allowMints', 'denyMints', 'allowCreators', 'denyCreators'] as const

/** The lists that filters name, read; what is wrong with a file is said where it is named. */
export function listsOf(
  bots: readonly CheckedBot[],
  cwd: string,
): { lists: Map<string, readonly string[]>; errors: ConfigError[] } {
  const lists = new Map<string, readonly string[]>()
  const errors: ConfigError[] = []
  for (const { config, input, document, path: bot } of bots)
    for (const key of LISTS) {
      const file = config.filters[key]
      if (file === null || lists.has(file)) continue
      const entries = readEntries(file, cwd)
      lists.set(file, typeof entries === 'string' ? [] : entries)
      const at = input.filters?.[key] === undefined ? ['defaults'] : bot
      if (typeof entries === 'string') errors.push(document.error([...at, 'filters', key], entries))
    }
  return { lists, errors }
}

/** What is wrong with it where it is no list. */
function readEntries(file: string, cwd: string): readonly string[] | string {
  const text = readText(file, cwd)
  if (typeof text !== 'string') return `${file}: ${text.problem}`
  const entries = readList(text, isPublicKey)
  return 'line' in entries
    ? `${file}:${entries.line}: expected a base58 key of 32 bytes, or a comment after #`
    : entries
}
