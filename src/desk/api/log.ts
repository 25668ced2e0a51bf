import type { LogKind, LogRow } from '../../journal/reader/pages.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { Parameters } from './parameters.ts'
import type { Answers, LogLevel, LogLine } from './types.ts'

const LEVELS: Readonly<Record<LogKind, LogLevel>> = {
  alarm: 'error',
  log: 'warn',
  message: 'info',
  refused: 'info',
  note: 'debug',
}
const KINDS = Object.keys(LEVELS) as LogKind[]
const ORDER: readonly LogLevel[] = ['error', 'warn', 'info', 'debug']

/** Lines of the log, newest first. `level`: the least important one that is wanted. */
export function logAnswer(journal: JournalReader, parameters: Parameters): Answers['log'] {
  const level = parameters.word('level', ORDER) ?? 'debug'
  const kinds = KINDS.filter((kind) => ORDER.indexOf(LEVELS[kind]) <= ORDER.indexOf(level))
  const [seq, n] = parameters.before(2) ?? [Number.MAX_SAFE_INTEGER, 0]
  const filter = { kinds, bot: parameters.bot(), mint: parameters.mint() }
  const { rows, end } = journal.pages((pages) => pages.log(filter, [seq as number, n as number], parameters.limit()))
  return { lines: rows.map(lineOf), next: end === undefined ? null : end.join('.') }
}

function lineOf({ time, seq, kind, bot, mint, code, reason }: LogRow): LogLine {
  return { time, seq, level: LEVELS[kind], bot, mint, code, text: reason }
}
