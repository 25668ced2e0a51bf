import { stripVTControlCharacters, styleText } from 'node:util'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { formatSol } from '../base/units.ts'

/** Width of lines, in characters, if stdout is not a terminal. */
export const DEFAULT_COLUMNS = 120

/** Breaks text at spaces into lines of at most `room` characters. A longer word gets a line of its own. */
export function wrapped(text: string, room: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Returns the counts as text, the largest first: `3 TTL, 1 HALTED`. */
export function listed(counts: Iterable<readonly [what: string, count: number]>): string {
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return sorted.map(([what, count]) => `${count} ${what.trim()}`).join(', ')
}

export function dim(text: string): string {
  return styleText('dim', text)
}

/** Lamports as SOL, rounded to four decimals. */
export function shortSol(lamports: number): string {
  return formatSol(Math.round(lamports / 100000) * 100000)
}

/** Lamports as exact SOL with a sign. */
export function signedSol(lamports: number): string {
  return `${lamports > 0 ? '+' : ''}${formatSol(lamports)}`
}

/** SOL with a sign and four decimals. */
export function signedShortSol(sol: number): string {
  return `${sol > 0 ? '+' : ''}${sol.toFixed(4)}`
}

export function rows(lines: readonly (readonly [string, string])[]): string {
  return lines.map(([label, text]) => `  ${dim(label.padEnd(8))} ${text}`).join('\n')
}

/** Lines of a table. Each column is as wide as its widest cell. Cells may contain terminal styles. `alignRight`:
 *  returns whether a column is aligned to the right. */
export function table(
  lines: readonly (readonly string[])[],
  alignRight: (column: number) => boolean = (column) => column > 0,
): string[] {
  const columns = Math.max(0, ...lines.map((line) => line.length))
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...lines.map((line) => visibleWidth(line[at]))))
  const cell = (text: string, column: number): string => {
    const space = ' '.repeat((widths[column] ?? 0) - visibleWidth(text))
    return alignRight(column) ? space + text : text + space
  }
  return lines.map((line) => line.map(cell).join('  ').trimEnd())
}

const ASCII = /^[\x20-\x7e]*$/
/** Matches characters that take two columns of a terminal: East Asian wide and fullwidth characters, and emoji. */
const WIDE =
  /[\u1100-\u115f\u231a-\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** Matches characters that are drawn over the character before them. */
const OVER = /^\p{M}$/u

/** Number of columns that a terminal uses for a styled text. */
export function visibleWidth(text = ''): number {
  const plain = stripVTControlCharacters(text)
  if (ASCII.test(plain)) return plain.length
  let width = 0
  for (const character of plain) width += columnsOf(character)
  return width
}

function columnsOf(character: string): number {
  if (OVER.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** Cuts a styled text that is wider than `columns`, and resets its colour at the cut. */
export function cut(text: string, columns: number): string {
  if (visibleWidth(text) <= columns) return text
  let seen = 0
  let kept = ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colour codes of styleText
  for (const [part] of text.matchAll(/\u001b\[[0-9;]*m|[^\u001b]/gu)) {
    if (!part.startsWith('\u001b')) seen += columnsOf(part)
    if (seen >= columns) break
    kept += part
  }
  const isColored = kept !== stripVTControlCharacters(kept)
  return isColored ? `${kept}\u001b[0m…` : `${kept}…`
}

export interface Confirmation {
  /** Name of the option that a person must confirm. */
  readonly option: string
  readonly question: string
  readonly answer?: string
  /** Whether the person has already confirmed the option with --yes on the command line. */
  readonly yes: boolean
}

/** Asks a person to type the answer. Throws a SluiceError if the answer is a different one or if there is no
 *  terminal. */
export async function confirm({ option, question, answer = 'yes', yes }: Confirmation): Promise<void> {
  if (yes) return
  requireConfirmation(option, yes)
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const typed = await prompt.question(`\n${question} Type ${answer}: `)
  prompt.close()
  if (typed.trim() !== answer) throw new SluiceError('not confirmed', ExitCode.unsafe)
}

/** Throws a SluiceError if an option is not confirmed and no person can be asked. */
export function requireConfirmation(option: string, yes: boolean): void {
  if (!yes && process.stdin.isTTY !== true)
    throw new SluiceError(`${option} needs a confirmation: run it in a terminal, or add --yes`, ExitCode.unsafe)
}

const EVERY_MS = 200
/** Time before the first estimate of the remaining time; an earlier estimate would be unreliable. */
const FIRST_ESTIMATE_MS = 1000

/** Shows one line with the progress and the estimated remaining time on a terminal. Prints nothing if the stream is not
 *  a terminal. */
export class Progress {
  readonly #stream: NodeJS.WriteStream
  readonly #of: number
  readonly #startedAt: number
  readonly #unit: ProgressUnit
  readonly #label: string
  #shownAt = Number.NEGATIVE_INFINITY
  #isShown = false

  constructor(
    stream: NodeJS.WriteStream,
    of: number,
    { unit = 'rows', startedAt = performance.now(), label = '' }: ProgressOptions = {},
  ) {
    this.#stream = stream
    this.#of = of
    this.#startedAt = startedAt
    this.#unit = unit
    this.#label = label === '' ? '' : `${label}: `
  }

  /**
   * Shows the progress, at most five times per second. `done`: number of finished units; `of`: number of all units, if
   * it has changed.
   */
  at(done: number, of = this.#of): void {
    const now = performance.now()
    if (now - this.#shownAt < EVERY_MS) return
    this.#shownAt = now
    this.note(this.#label + progressLine(done, of, now - this.#startedAt, this.#unit))
  }

  /** Shows a step whose duration is unknown. */
  note(text: string): void {
    if (this.#stream.isTTY !== true) return
    this.#isShown = true
    this.#stream.write(`\r${cut(text, (this.#stream.columns || DEFAULT_COLUMNS) - 1)}\u001b[K`)
  }

  /** Clears the line, if it is shown. */
  end(): void {
    if (this.#isShown) this.#stream.write('\r\u001b[K')
    this.#isShown = false
  }
}

interface ProgressOptions {
  readonly unit?: ProgressUnit
  readonly startedAt?: number
  /** Name of the step, if a command has several. */
  readonly label?: string
}

/** Unit in which the progress of a command is counted. */
export type ProgressUnit = 'rows' | 'bytes' | 'decisions'

export function progressLine(done: number, of: number, elapsedMs: number, unit: ProgressUnit = 'rows'): string {
  const whole = unit === 'bytes' ? `${(of / 1e6).toFixed(1)} MB` : `${of} ${unit}`
  const percent = `${Math.min(100, Math.floor((done / Math.max(of, 1)) * 100))} % of ${whole}`
  if (elapsedMs < FIRST_ESTIMATE_MS || done === 0) return percent
  const leftSeconds = Math.max(0, Math.ceil(((of - done) * elapsedMs) / done / 1000))
  const rate = `${((done / elapsedMs) * 1e-3).toFixed(1)} ${unit === 'bytes' ? 'MB' : `M ${unit}`}/s`
  return `${percent}, ${rate}, ${leftSeconds} s left`
}

/**
 * Runs a task with a line of progress on stderr. The task calls `progress` with the number of rows that it has handled,
 * and with the number of all rows. Returns the result of the task.
 */
export function withRowsProgress<T>(run: (progress: (rows: number, of: number) => void) => T): T {
  return withProgress(0, (line) => run((rows, of) => line.at(rows, of)))
}

/** Runs a task with a line of progress on stderr, which is cleared at the end of the task. Returns the result of the
 *  task. */
export function withProgress<T>(of: number, run: (progress: Progress) => T, unit: ProgressUnit = 'rows'): T {
  const progress = new Progress(process.stderr, of, { unit })
  return ended(
    () => run(progress),
    () => progress.end(),
  )
}

/** Runs a task of several steps, each with a line of progress and an estimate of its own. */
export function withSteps<T>(run: (step: (label: string, unit: ProgressUnit) => Progress) => T): T {
  const lines = new Map<string, Progress>()
  const step = (label: string, unit: ProgressUnit): Progress => {
    const line = lines.get(label) ?? new Progress(process.stderr, 0, { unit, label })
    lines.set(label, line)
    return line
  }
  return ended(
    () => run(step),
    () => {
      for (const line of lines.values()) line.end()
    },
  )
}

/** Runs a task, and then `end`, even if the task fails. */
function ended<T>(run: () => T, end: () => void): T {
  try {
    const result = run()
    if (result instanceof Promise) return result.finally(end) as T
    end()
    return result
  } catch (error) {
    end()
    throw error
  }
}
