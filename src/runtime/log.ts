import { fstatSync, writeSync } from 'node:fs'
import { type Level, type Logger, pino, stdTimeFunctions } from 'pino'
import { printable } from '../base/text.ts'
import type { Millis } from '../base/units.ts'

export type Log = Logger
export type { Level }

export interface LogOptions {
  readonly level: Level
  /** Removes the secrets from a line; see `redactor`. */
  readonly redact: (text: string) => string
  /** `json`: one JSON object per line, for programs. `text`: time, level, message and fields, for a terminal. */
  readonly format: 'json' | 'text'
  /** Receives each finished line. Default: stderr. */
  readonly write?: (line: string) => void
  /** Receives each warning and each error, with the same text as a line of the format `text`. */
  readonly noticed?: Noticed
}

export type Noticed = (
  time: Millis,
  level: 'warn' | 'error',
  text: string,
  fields: Readonly<Record<string, unknown>>,
) => void

/** Creates a log. Every line passes the redactor and `printable` as a whole, including fields, errors, their stacks and
 *  causes. */
export function createLog({ level, redact, format, write = toStderr, noticed }: LogOptions): Log {
  const line = format === 'json' ? (json: string) => json : textOf
  const shown = (text: string): string => printable(redact(text))
  const destination = {
    write: (json: string) => {
      write(`${shown(line(json.trimEnd()))}\n`)
      if (noticed === undefined || !WARNING.test(json)) return
      const { level, time, ...fields } = JSON.parse(json) as LogRecord
      noticed(Date.parse(time), level >= pino.levels.values.error! ? 'error' : 'warn', shown(wordsOf(fields)), fields)
    },
  }
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, destination)
}

/** Whether stderr is a file. On a full disk, `process.stderr` would end the process or stop writing permanently. */
const isFile = fstatSync(2).isFile()

function toStderr(line: string): void {
  if (!isFile) {
    process.stderr.write(line)
    return
  }
  try {
    writeSync(2, line)
  } catch {
    // A log line that cannot be written is dropped, because a full disk must not stop the bots. `sluice status` and the
    // alerts do not need the log.
  }
}

/** A line of pino with a level of at least `warn`. The level is the first field. */
const WARNING = /^\{"level":[456]0,/

interface LogRecord extends Record<string, unknown> {
  readonly level: number
  readonly time: string
}

function textOf(json: string): string {
  const { level, time, ...fields } = JSON.parse(json) as LogRecord
  const head = [time.slice(11, 23), (pino.levels.labels[level] ?? `${level}`).toUpperCase()]
  return [...head, wordsOf(fields)].filter((word) => word !== '').join(' ')
}

/** The message of a line, then its fields, then its error. */
function wordsOf({ msg, err, ...fields }: Readonly<Record<string, unknown>>): string {
  const words = msg === undefined ? [] : [`${msg}`]
  for (const [name, value] of Object.entries(fields)) {
    words.push(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  }
  if (err !== undefined) words.push(JSON.stringify(err))
  return words.join(' ')
}
