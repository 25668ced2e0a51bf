import type { LogKind, LogRow } from '../../journal/reader/pages.ts'
import { logLineOf } from '../../runtime/view/log-lines.ts'
import { decisionIdOf } from '../../runtime/why/decision-id.ts'
import type { DeskJournal } from './desk-journal.ts'
import type { Parameters } from './parameters.ts'
import type { Answers, RefusedRequest } from './types.ts'

/** For each level of the log, the kinds of engine outputs that it shows. A level includes the kinds of more important
 *  levels. */
const KINDS: Readonly<Record<'error' | 'warn' | 'info', readonly LogKind[]>> = {
  error: ['alarm'],
  warn: ['alarm', 'log'],
  info: ['alarm', 'log', 'message', 'refused', 'note'],
}

/** Lines of the log, newest first. */
export function logAnswer(journal: DeskJournal, parameters: Parameters): Answers['log'] {
  const { rows, next } = outputs(
    journal,
    parameters,
    KINDS[parameters.word('level', ['error', 'warn', 'info']) ?? 'info'],
  )
  const lines = rows.flatMap(({ seq, time, n, mint, output }) => {
    const line = logLineOf(seq, time, n, output)
    return line === undefined ? [] : [{ ...line, mint }]
  })
  return { lines, next }
}

/** Refused requests of the bots, newest first. */
export function refusalsAnswer(journal: DeskJournal, parameters: Parameters): Answers['refusals'] {
  const { rows, next } = outputs(journal, parameters, ['refused'], parameters.text('code'))
  const refusals = rows.flatMap(({ seq, time, n, output }): RefusedRequest[] => {
    if (output.kind !== 'refused') return []
    const { bot, mint, code, reason } = output
    return [{ id: decisionIdOf({ seq, n }), time, bot, mint, code, text: reason }]
  })
  return { refusals: journal.named(refusals), next }
}

/** Returns the page of the log's outputs that `parameters` request, newest first. */
function outputs(
  { reader }: DeskJournal,
  parameters: Parameters,
  kinds: readonly LogKind[],
  code?: string,
): { readonly rows: readonly LogRow[]; readonly next: string | null } {
  const [seq = 0, n = 0] = parameters.before(2) ?? [Number.MAX_SAFE_INTEGER, 0]
  const filter = { kinds, code, bot: parameters.bot(), mint: parameters.mint() }
  const { rows, end } = reader.pages((pages) => pages.log(filter, [seq, n], parameters.limit()))
  return { rows, next: end?.join('.') ?? null }
}
