import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { join } from 'node:path/posix'
import { runBacktest } from '../backtest/run.ts'
import { importTape } from '../backtest/tape-import.ts'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { type LoneBotOptions, loneBot } from '../config/bots.ts'
import type { Indicators } from '../engine/indicators/indicator.ts'
import type { Strategy } from '../engine/strategy.ts'
import { openTape } from '../journal/tape-files.ts'
import { decisionText, RunLog } from './run-log.ts'

/** Environment variable. If it is 1, golden files are written instead of compared. */
export const UPDATE = 'SLUICE_UPDATE_GOLDEN'

/** Options of `matchGolden`. */
export interface GoldenOptions extends RecordingOptions {
  /** Path of the golden file, which has one decision per line. */
  readonly golden: string
  /** Whether to write the file instead of comparing with it. Default: true if SLUICE_UPDATE_GOLDEN is 1, which `sluice
   *  test --update` sets. */
  readonly update?: boolean
}

/** Compares the decisions of a strategy on a recording with its golden file. Returns the number of decisions. Throws an
 *  error that describes the first decision that differs, or SluiceError if the golden file is missing. */
export async function matchGolden<P, S, I extends Indicators>(
  strategy: Strategy<P, S, I>,
  { golden, update = process.env[UPDATE] === '1', ...options }: GoldenOptions,
): Promise<number> {
  const decisions = await decisionsOf(strategy, options)
  const expected = existsSync(golden) ? readFileSync(golden, 'utf8').split('\n').filter(Boolean) : undefined
  if (update) {
    mkdirSync(dirname(golden), { recursive: true })
    writeFileSync(golden, decisions.map((line) => `${line}\n`).join(''))
    console.error(`wrote ${golden}: ${decisions.length} decisions${expected ? `, ${expected.length} before` : ''}`)
  } else if (expected === undefined)
    throw new SluiceError(
      `${golden} does not exist: \`sluice test --update\` writes it (or ${UPDATE}=1 with another test runner); then review it`,
      ExitCode.usage,
    )
  else {
    const line = firstDifference(expected, decisions)
    if (line !== undefined) throw new Error(differenceText(golden, line, expected, decisions))
  }
  return decisions.length
}

function differenceText(golden: string, line: number, expected: readonly string[], found: readonly string[]): string {
  const textAt = (decisions: readonly string[]): string => {
    const decision = decisions[line]
    return decision === undefined ? 'no further decision' : decisionText(decision)
  }
  return [
    `${golden}:${line + 1}: decision ${line + 1} differs from the golden file`,
    `  golden: ${textAt(expected)}`,
    `  now:    ${textAt(found)}`,
    `the golden file has ${expected.length} decisions, the strategy now makes ${found.length}; to accept them, run \`sluice test --update\` (or ${UPDATE}=1 with another test runner)`,
  ].join('\n')
}

function firstDifference(expected: readonly string[], found: readonly string[]): number | undefined {
  const length = Math.max(expected.length, found.length)
  for (let line = 0; line < length; line++) if (expected[line] !== found[line]) return line
  return undefined
}

/** A recording, and the options of the bot that runs on it. */
export interface RecordingOptions extends LoneBotOptions {
  /** A journal, or a capture of the feed (NDJSON, CSV). */
  readonly tape: string
  /** Whether to continue if the tape does not cover the data that the strategy needs. */
  readonly partial?: boolean
}

const SQLITE = 'SQLite format 3\0'

/** Returns the decisions of a strategy on a recorded market, in order, one line of JSON each: orders, refusals and
 *  notes. Orders are filled as in `sluice backtest`. Throws SluiceError in the same cases as a backtest, and for the
 *  first invalid line of a capture. */
export async function decisionsOf<P, S, I extends Indicators>(
  strategy: Strategy<P, S, I>,
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
  if (!existsSync(path)) throw new SluiceError(`${path} does not exist`, ExitCode.usage)
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(SQLITE.length)
    readSync(file, head, 0, head.length, 0)
    return head.toString('latin1') === SQLITE
  } finally {
    closeSync(file)
  }
}
