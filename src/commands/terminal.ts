import { createInterface } from 'node:readline/promises'
import { styleText } from 'node:util'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { formatSol } from '../base/units.ts'

/** Words, at most `room` characters a line; one that is longer has a line of its own. */
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

/** `0 orders`, `1 order`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `3 TTL, 1 HALTED`: most frequent first. */
export function listed(counts: Iterable<readonly [what: string, count: number]>): string {
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return sorted.map(([what, count]) => `${count} ${what.trim()}`).join(', ')
}

const dim = (text: string) => styleText('dim', text)

/** Four places are enough to judge by. */
export function shortSol(amount: number): string {
  return formatSol(Math.round(amount / 100000) * 100000)
}

export function rows(lines: readonly (readonly [string, string])[]): string {
  return lines.map(([label, text]) => `  ${dim(label.padEnd(8))} ${text}`).join('\n')
}

/** First column to the left, numbers to the right; the first line names them. */
export function table(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)
  return lines
    .map((line) => `  ${line.map(cell).join('  ')}`.trimEnd())
    .map((line, index) => (index === 0 ? dim(line) : line))
    .join('\n')
}

/** A person types yes, or said so before. Throws a SluiceError where none does. */
export async function confirm(option: string, question: string, yes: boolean): Promise<void> {
  if (yes) return
  refuseNobody(option, yes)
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await prompt.question(`\n${question} Type yes: `)
  prompt.close()
  if (answer.trim() !== 'yes') throw new SluiceError('not confirmed', ExitCode.unsafe)
}

/** Throws a SluiceError where there is nobody to ask. */
export function refuseNobody(option: string, yes: boolean): void {
  if (!yes && process.stdin.isTTY !== true)
    throw new SluiceError(`${option} has to be confirmed by a person, or by --yes`, ExitCode.unsafe)
}

const EVERY_MS = 200
/** Sooner an estimate is a guess. */
const FIRST_ESTIMATE_MS = 1000

/** One line on a terminal that says how far something is and how long it will still take, by its speed so far. Silent
 *  elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream
  readonly #of: number
  readonly #startedAt: number
  #shownAt = Number.NEGATIVE_INFINITY
  #isShown = false

  constructor(stream: NodeJS.WriteStream, of: number, startedAt = performance.now()) {
    this.#stream = stream
    this.#of = of
    this.#startedAt = startedAt
  }

  at(rows: number): void {
    if (this.#stream.isTTY !== true) return
    const now = performance.now()
    if (now - this.#shownAt < EVERY_MS) return
    this.#shownAt = now
    this.#isShown = true
    this.#stream.write(`\r${progressLine(rows, this.#of, now - this.#startedAt)}\u001b[K`)
  }

  /** Takes the line away. */
  end(): void {
    if (this.#isShown) this.#stream.write('\r\u001b[K')
    this.#isShown = false
  }
}

export function progressLine(rows: number, of: number, tookMs: number): string {
  const percent = `${Math.floor((rows / of) * 100)} % of ${of} rows`
  if (tookMs < FIRST_ESTIMATE_MS || rows === 0) return percent
  const leftSeconds = Math.ceil(((of - rows) * tookMs) / rows / 1000)
  return `${percent}, ${((rows / tookMs) * 1e-3).toFixed(1)} M rows/s, ${leftSeconds} s left`
}
