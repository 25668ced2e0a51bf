import type { LogKind } from '../../journal/reader/pages.ts'
import { logLineOf } from '../../runtime/view/log-lines.ts'
import type { DeskJournal } from './desk-journal.ts'
import type { Parameters } from './parameters.ts'
import type { Answers } from './types.ts'

/** For each level of the log, the kinds of engine outputs that it shows. A level includes the kinds of more important
 *  levels. */
const KINDS: Readonly<Record<'error' | 'warn' | 'info', readonly LogKind[]>> = {
  error: ['alarm'],
  warn: ['alarm', 'log'],
  info: ['alarm', 'log', 'message', 'refused', 'note'],
}

/** Lines of the log, newest first. */
export function logAnswer({ reader }: DeskJournal, parameters: Parameters): Answers['log'] {
  const kinds = KINDS[parameters.word('level', ['error', 'warn', 'info']) ?? 'info']
  const [seq = 0, n = 0] = parameters.before(2) ?? [Number.MAX_SAFE_INTEGER, 0]
  const filter = { kinds, bot: parameters.bot(), mint: parameters.mint() }
  const { rows, end } = reader.pages((pages) => pages.log(filter, [seq, n], parameters.limit()))
  const lines = rows.flatMap(({ seq, time, n, mint, output }) => {
    const line = logLineOf(seq, time, n, output)
    return line === undefined ? [] : [{ ...line, mint }]
  })
  return { lines, next: end?.join('.') ?? null }
}
