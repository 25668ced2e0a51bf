import { ExitCode, SluiceError } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import type { Millis, Seq } from '../base/units.ts'
import { didYouMean } from '../config/yaml/wording.ts'
import type { LogLine, Message } from '../engine/messages.ts'
import { text } from './options.ts'

/** Levels of log lines, lowest first. */
const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LEVELS)[number]

export const LOG_LEVEL = text('<level>', 'log lines from this level on: debug, info, warn, error', 'info')

/** Returns the level that an option names. Throws SluiceError (exit 2) for an unknown one. */
export function levelOf(option: string, name: string): LogLevel {
  const level = LEVELS.find((one) => one === name)
  if (level !== undefined) return level
  const hint = didYouMean(name, LEVELS)
  throw new SluiceError(
    printable(`${option} ${name}: the level is unknown${hint}; the levels are ${LEVELS.join(', ')}`),
    ExitCode.usage,
  )
}

/**
 * Returns a function that prints the messages of a backtest's strategies, and their log lines of the level `from` and
 * above.
 */
export function linePrinter(from: LogLevel, print: (text: string) => void) {
  return (line: LogLine | Message, seq: Seq, time: Millis): void => {
    if (line.kind === 'log' && LEVELS.indexOf(line.level) < LEVELS.indexOf(from)) return
    print(printable(lineText(line, seq, time)))
  }
}

function lineText(line: LogLine | Message, seq: Seq, time: Millis): string {
  const at = new Date(time).toISOString()
  if (line.kind === 'message') return `${at} MESSAGE ${line.bot}: ${line.text} seq=${seq}`
  const { level, bot, text: said, fields = {}, dropped } = line
  const values = Object.entries({ ...fields, ...(dropped !== undefined && { dropped }), seq })
  return `${at} ${level.toUpperCase()} ${bot}: ${said} ${values.map(([name, value]) => `${name}=${value}`).join(' ')}`
}
