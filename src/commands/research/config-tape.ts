import { relative } from 'node:path'
import { printable } from '../../base/text.ts'
import type { Config } from '../../config/config.ts'
import type { Options } from '../options.ts'

/** The journals that are given, else the one that the configuration names: then stderr says which, because nobody typed
 *  it. */
export function tapesOf({ journals }: Options, { journal: { path }, files }: Config): string[] {
  if (journals !== undefined) return journals
  const near = relative('', path)
  const shown = near.startsWith('..') ? path : near
  console.error(printable(`sluice: the tape of ${shown}, the journal of ${files.join(', ')}`))
  return [shown]
}
