import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoneBotOptions, loneBot } from '../../config/lone-bot.ts'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import type { Strategy } from '../../core/strategy.ts'
import { openTape } from '../../journal/tape-files.ts'
import { RunLog } from '../../testing/run-log.ts'
import { runBacktest } from '../backtest/backtest-run.ts'
import { importTape } from '../tape/tape-import.ts'

export interface RecordingOptions extends LoneBotOptions {
  /** A journal, or a capture of the feed (NDJSON, CSV). */
  readonly tape: string
  /** Go on with a tape that does not cover what the strategy needs. */
  readonly partial?: boolean
}

const SQLITE = 'SQLite format 3\0'

/** What a bot of this strategy decides on a recorded market, a line of JSON each: orders, refusals, notes, in order. Orders are filled as
 *  `sluice backtest` fills them. Throws SluiceError as a backtest does, and on the first bad line of a capture. */
export async function decisionsOf<P, S>(
  strategy: Strategy<P, S>,
  { tape, partial = false, ...options }: RecordingOptions,
): Promise<string[]> {
  const config = loneBot(strategy as unknown as Strategy, options)
  const log = new RunLog()
  await withJournal(tape, (journal) => {
    const opened = openTape([journal])
    try {
      runBacktest(config, opened.market, { partial, journal: log })
    } finally {
      opened.close()
    }
  })
  return log.decisions
}

async function withJournal(tape: string, run: (journal: string) => void): Promise<void> {
  if (isJournal(tape)) {
    run(tape)
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tape-'))
  try {
    const journal = join(folder, 'tape.db')
    await importTape([tape], journal, { strict: true, complain: () => {} })
    run(journal)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function isJournal(path: string): boolean {
  if (!existsSync(path)) throw new SluiceError(`there is no ${path}`, ExitCode.usage)
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(SQLITE.length)
    readSync(file, head, 0, head.length, 0)
    return head.toString('latin1') === SQLITE
  } finally {
    closeSync(file)
  }
}
