import { type ChildProcess, execFile } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Millis } from '../../base/units.ts'
import { openReader } from '../../journal/reader/reader.ts'

const PROGRAM = fileURLToPath(new URL('../../../bin/sluice.js', import.meta.url))
const LONGEST_MS = 30_000
const TOO_LONG = 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
/** Maximum number of characters that are shown of an answer that is too long. */
const MOST_SHOWN = 3_500
const LIMITS = { timeout: LONGEST_MS, maxBuffer: 1_000_000 }
const OPTIONS = { ...LIMITS, env: {}, encoding: 'utf8', killSignal: 'SIGKILL' } as const
/** Maximum number of unanswered questions, including the running one. */
const MOST_WAITING = 3
/** Telegram keeps an update for a day. */
const KEPT_MS = 2 * 86_400_000

/** The journal of this process, for questions. Commands such as `sluice why` read it in processes of their own, because
 *  reading a long journal would delay trades. One such process runs at a time. */
export class OwnJournal {
  readonly #journal: string
  readonly #program: string
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #child: ChildProcess | undefined
  #isClosed = false

  /** `program`: the program that is run to answer questions. */
  constructor(journal: string, program = PROGRAM) {
    this.#journal = journal
    this.#program = program
  }

  /** Ends the process that answers a question. Otherwise, the end of this process would have to wait for it. */
  close(): void {
    this.#isClosed = true
    this.#child?.kill('SIGKILL')
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

  #linesOf(args: readonly string[]): Promise<readonly string[]> {
    if (this.#isClosed) return Promise.resolve(['the process ends'])
    const given = [this.#program, ...args, '--journal', this.#journal]
    return new Promise((resolve) => {
      this.#child = execFile(process.execPath, given, OPTIONS, (error, stdout, stderr) => {
        this.#child = undefined
        if (error?.code === TOO_LONG) {
          const lines = stdout.slice(0, MOST_SHOWN).split('\n').slice(0, -1)
          resolve([...lines, `the answer is longer: run \`sluice ${args.join(' ')}\` in a terminal`])
          return
        }
        const text = error === null ? stdout : stderr || `the answer took longer than ${LONGEST_MS / 1_000} s`
        resolve(text.trimEnd().split('\n'))
      })
      yieldProcessor(this.#child)
    })
  }
}

/** Lowers the priority of the process, so that it does not delay the process that trades on the same core. */
function yieldProcessor({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    setPriority(pid, Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {} // the process has ended already
}
