import type { Check } from './check.ts'
import { checkLine } from './show.ts'

/** To the beginning of the line, and nothing on it. */
const NO_LINE = '\r\u001b[K'

/** What a person at the terminal is told; with --json nothing but what has gone wrong. */
export class Voice {
  readonly #isJson: boolean
  /** A line that goes again stands there. */
  #isWaiting = false

  constructor(isJson: boolean) {
    this.#isJson = isJson
  }

  check(check: Check): void {
    this.print(checkLine(check, process.stdout.isTTY ? process.stdout.columns : 0))
  }

  print(text: string): void {
    this.#clear()
    if (!this.#isJson) console.log(text)
  }

  warn(text: string): void {
    this.#clear()
    console.error(`sluice: ${text}`)
  }

  /** What is waited for, on a terminal: it goes again before anything else is said. */
  say(text: string): void {
    if (process.stderr.isTTY !== true) return
    this.#isWaiting = true
    process.stderr.write(`${NO_LINE}  ... ${text}`)
  }

  #clear(): void {
    if (this.#isWaiting) process.stderr.write(NO_LINE)
    this.#isWaiting = false
  }
}
