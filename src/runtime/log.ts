import { fstatSync, writeSync } from 'node:fs'
import { type Level, type Logger, pino, stdTimeFunctions } from 'pino'
import { printable } from '../core/printable.ts'

export type Log = Logger

export interface LogOptions {
  readonly level: Level
  /** Takes the secrets out of a line; see `redactor`. */
  readonly redact: (text: string) => string
  /** `json`: a line of JSON each, for machines. `text`: time, level, message and fields, for a person at a terminal. */
  readonly format: 'json' | 'text'
  /** Takes a finished line. Default: stderr, where all logs go. */
  readonly write?: (line: string) => void
}

/** Every line passes the redactor and `printable` as a whole, whatever went into it: fields, errors, their stacks and causes. */
export function createLog({ level, redact, format, write = toStderr }: LogOptions): Log {
  const line = format === 'json' ? (json: string) => json : textOf
  const destination = { write: (json: string) => write(`${printable(redact(line(json.trimEnd())))}\n`) }
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, destination)
}

/** A file may lie on a full disk. `process.stderr` would end the process for that, or never write again. */
const isFile = fstatSync(2).isFile()

function toStderr(line: string): void {
  if (!isFile) {
    process.stderr.write(line)
    return
  }
  try {
    writeSync(2, line)
  } catch {
    // The line is lost. What it says reaches a person by `sluice status`, and by an alert where it cannot wait.
  }
}

function textOf(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Record<string, unknown> & { level: number }
  const words = [`${time}`.slice(11, 23), (pino.levels.labels[level] ?? `${level}`).toUpperCase()]
  if (msg !== undefined) words.push(`${msg}`)
  for (const [name, value] of Object.entries(fields)) {
    words.push(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  }
  if (err !== undefined) words.push(JSON.stringify(err))
  return words.join(' ')
}
