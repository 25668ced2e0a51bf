const LOG_LINES = 6
const DRAW_EVERY_MS = 500

/** A picture that is redrawn in the terminal's alternate buffer, with the last lines of the log below it. */
export class Screen {
  readonly #draw: (columns: number) => string[]
  readonly #log: string[] = []
  #timer: NodeJS.Timeout | undefined

  /** `draw` returns the lines of the picture, at most `columns` wide. */
  constructor(draw: (columns: number) => string[]) {
    this.#draw = draw
  }

  readonly log = (line: string): void => {
    this.#log.push(line.trimEnd())
    if (this.#log.length > LOG_LINES) this.#log.shift()
  }

  start(): void {
    process.stdout.write('\u001b[?1049h\u001b[?25l')
    this.#show()
    this.#timer = setInterval(() => this.#show(), DRAW_EVERY_MS)
  }

  stop(): void {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    process.stdout.write('\u001b[?25h\u001b[?1049l')
  }

  #show(): void {
    const { columns = 100, rows = 40 } = process.stdout
    const log = this.#log.map((line) => line.slice(0, columns))
    const lines = [...this.#draw(columns).slice(0, rows - log.length - 2), '', ...log]
    process.stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\n')}\u001b[J`)
  }
}
