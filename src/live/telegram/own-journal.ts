import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Millis } from '../../base/units.ts'
import { openReader } from '../../journal/reader/reader.ts'

const PROGRAM = fileURLToPath(new URL('../../../bin/sluice.js', import.meta.url))
const LONGEST_MS = 30_000
const MOST_BYTES = 1_000_000
/** Questions that wait for the one that is answered. */
const MOST_WAITING = 3
/** Telegram keeps an update for a day. */
const KEPT_MS = 2 * 86_400_000

/** The journal of this process, for questions. Commands such as `sluice why` read it in processes of their own, because
 *  a long journal takes longer to read than a trade may wait. One runs at a time. */
export class OwnJournal {
  readonly #journal: string
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(journal: string) {
    this.#journal = journal
  }

  /** Whether a command that this update of Telegram confirmed is in the journal. */
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
    const lines = this.#last.then(() => linesOf([...args, '--journal', this.#journal]))
    this.#last = lines
    try {
      return await lines
    } finally {
      this.#waiting--
    }
  }
}

function linesOf(args: readonly string[]): Promise<readonly string[]> {
  const options = { env: {}, timeout: LONGEST_MS, maxBuffer: MOST_BYTES, encoding: 'utf8' } as const
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) => {
      const text = error === null ? stdout : stderr || `the answer took longer than ${LONGEST_MS / 1_000} s`
      resolve(text.trimEnd().split('\n'))
    })
  })
}
