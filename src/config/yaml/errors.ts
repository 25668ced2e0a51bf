import { styleText } from 'node:util'

/** Where something stands in a file; both count from 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Something wrong in a configuration, at the place where it can be put right. */
export interface ConfigError extends Position {
  /** As in `bots[0].params.dropPercent`; '' for the file itself. */
  readonly path: string
  readonly message: string
}

/** One line each, as editors and terminals make links of them; bold on a terminal that `stream` leads to. */
export function formatErrors(errors: readonly ConfigError[], stream: NodeJS.WriteStream = process.stderr): string {
  return errors
    .map(({ file, line, column, path, message }) => {
      const place = styleText('bold', printable(`${file}:${line}:${column}`), { stream })
      const said = printable(message)
      return path ? `${place} ${styleText('cyan', printable(path), { stream })}: ${said}` : `${place} ${said}`
    })
    .join('\n')
}

/** A configuration may come from a stranger: nothing in it steers the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?')
}

/** By file in the order given, then from top to bottom. */
export function inOrder(errors: readonly ConfigError[], files: readonly string[]): ConfigError[] {
  const rank = new Map(files.map((file, index) => [file, index]))
  return [...errors].sort(
    (a, b) => (rank.get(a.file) ?? 0) - (rank.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  )
}

/** The way to a value: keys and places in lists. */
export type Path = readonly (string | number)[]

/** As in `bots[0].params.dropPercent`. */
export function formatPath(path: Path): string {
  let text = ''
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`
    else if (/^[\w$-]{1,60}$/.test(segment)) text += text ? `.${segment}` : segment
    else text += `[${JSON.stringify(segment.slice(0, 40))}]`
  }
  return text
}

/** What a schema has against a value, at one place. */
export interface Complaint {
  readonly path: Path
  readonly message: string
  /** It is the key that is wrong, not its value. */
  readonly atKey: boolean
}
