import { DAY, type Millis } from '../../base/units.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { type OwnCommand, runOwnCommand } from '../own-command.ts'

const LONGEST_MS = 30_000
const TOO_LONG = 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
/** If the output of a command is longer than Sluice accepts, this number of characters of it is shown. */
const MOST_SHOWN = 3_500
/** Maximum number of unanswered questions, including the one that is being answered. */
const MOST_WAITING = 3
/** Time for which the ids of handled updates are kept: twice as long as Telegram keeps an update. */
const KEPT_MS = 2 * DAY

/** Answers questions about the journal of this process with commands such as `sluice why`. Each command runs in a
 *  process of its own, because reading a long journal here would delay trades. Only one such process runs at a time. */
export class OwnJournal {
  readonly #journal: string
  readonly #program: string | undefined
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #running: OwnCommand | undefined
  #isClosed = false

  /** `program`: the program that is run to answer questions. */
  constructor(journal: string, program?: string) {
    this.#journal = journal
    this.#program = program
  }

  /** Ends the child process that answers a question, so that this process can exit without waiting for it. */
  close(): void {
    this.#isClosed = true
    this.#running?.kill()
  }

  /** Whether the journal contains a command that this Telegram update confirmed. */
  hasUpdate(update: number, now: Millis): boolean {
    const reader = openReader(this.#journal)
    try {
      return reader.telegramUpdates(now - KEPT_MS).includes(update)
    } finally {
      reader.close()
    }
  }

  /** Returns the lines that the command prints, or its error. */
  async run(args: readonly string[]): Promise<readonly string[]> {
    if (this.#waiting >= MOST_WAITING) return ['too many questions are waiting: ask again in a moment']
    this.#waiting++
    const lines = this.#last.then(() => this.#linesOf(args))
    this.#last = lines.catch(() => {})
    try {
      return await lines
    } finally {
      this.#waiting--
    }
  }

  async #linesOf(args: readonly string[]): Promise<readonly string[]> {
    if (this.#isClosed) return ['the process ends']
    this.#running = runOwnCommand([...args, '--journal', this.#journal], LONGEST_MS, this.#program)
    const { error, stdout, stderr } = await this.#running.ended
    this.#running = undefined
    if (error?.code === TOO_LONG) {
      const lines = stdout.slice(0, MOST_SHOWN).split('\n').slice(0, -1)
      return [...lines, `the answer is longer: run \`sluice ${args.join(' ')}\` in a terminal`]
    }
    const text = error === null ? stdout : stderr || `the answer took longer than ${LONGEST_MS / 1_000} s`
    return text.trimEnd().split('\n')
  }
}
