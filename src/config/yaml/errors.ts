import { styleText } from 'node:util'

/** A contradiction between values that are each valid. */
export interface Problem {
  /** Whether the contradiction is an error. False for a warning: the values are valid but probably a mistake. */
  readonly fatal: boolean
  readonly error: ConfigError
}

/** Position in a file. The first line and the first column have the number 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** An error in a configuration, at the position where it can be fixed. */
export interface ConfigError extends Position {
  /** Path of the key, for example `bots[0].params.dropPercent`; '' for the file itself. */
  readonly path: string
  readonly message: string
}

/** Returns one line for each error, in the format that editors and terminals turn into links. Uses colors if `stream`
 *  is a terminal. */
export function formatErrors(errors: readonly ConfigError[], stream: NodeJS.WriteStream = process.stderr): string {
  return errors
    .map(({ file, line, column, path, message }) => {
      const place = styleText('bold', printable(`${file}:${line}:${column}`), { stream })
      const text = printable(message)
      return path ? `${place} ${styleText('cyan', printable(path), { stream })}: ${text}` : `${place} ${text}`
    })
    .join('\n')
}

/** Replaces control characters, so that a configuration from an unknown source cannot control the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?')
}

/** Sorts errors by file, in the given order, then by position. */
export function inOrder(errors: readonly ConfigError[], files: readonly string[]): ConfigError[] {
  const rank = new Map(files.map((file, index) => [file, index]))
  return [...errors].sort(
    (a, b) => (rank.get(a.file) ?? 0) - (rank.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  )
}

/** Path to a value: keys and list indexes. */
export type Path = readonly (string | number)[]

/** Returns a path as text, for example `bots[0].params.dropPercent`. */
export function formatPath(path: Path): string {
  let text = ''
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`
    else if (/^[\w$-]{1,60}$/.test(segment)) text += text ? `.${segment}` : segment
    else text += `[${JSON.stringify(segment.slice(0, 40))}]`
  }
  return text
}

/** A problem that a schema finds in a value or in its key, with the path of the value. */
export interface Complaint {
  readonly path: Path
  readonly message: string
  /** Whether the key is wrong and not its value. */
  readonly atKey: boolean
}
