import { relative } from 'node:path'
import { printable } from '../../base/text.ts'
import type { Config } from '../../config/config.ts'

/** The given journals, else the journal of the configuration. stderr then names it, because the person did not. */
export function tapesOf(journals: readonly string[], { journal: { path }, files }: Config): readonly string[] {
  if (journals.length > 0) return journals
  const near = relative('', path)
  const shown = near.startsWith('..') ? path : near
  console.error(printable(`sluice: reading the tape of ${shown}, the journal of ${files.join(', ')}`))
  return [shown]
}
