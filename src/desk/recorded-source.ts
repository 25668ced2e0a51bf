import { basename } from 'node:path'
import { reportedNames } from '../backtest/results-folder.ts'
import type { Clock } from '../base/machine.ts'
import type { JournalReader } from '../journal/reader/reader.ts'
import { recordedView, resultsView } from '../runtime/view/recorded-view.ts'
import { withSymbols } from '../runtime/view/token-symbols.ts'
import type { View } from '../runtime/view/view.ts'
import { FollowedJournal } from './followed-journal.ts'
import type { DeskStart } from './messages.ts'
import type { OpenedSource } from './shown-view.ts'

// This module loads the rules of limits and exits with their schemas. The desk of a run does not load it, because the
// main thread sends the view; the thread then does not load zod and 33 modules.

/** The view of a desk without running bots: a journal, which may be growing, or a folder of results. */
export function recordedSource(
  reader: () => JournalReader,
  { journal, results }: Pick<DeskStart, 'journal' | 'results'>,
  clock: Clock,
  failed: (error: unknown) => void,
): OpenedSource {
  if (results !== undefined) {
    const view = resultsView(results, basename(results), clock.now())
    return { view, listen: () => () => {}, close: () => {} }
  }
  const symbols = new Map([...reportedNames(journal)].map(([mint, { symbol }]) => [mint, symbol]))
  const read = (n: number): View => withSymbols(recordedView(reader(), basename(journal), n), symbols)
  return new FollowedJournal({ clock, failed, read, version: () => reader().version })
}
