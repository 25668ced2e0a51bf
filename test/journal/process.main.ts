// A test starts this process and kills it. The arguments are the name of the action and the path.

import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openForWriting } from '../../src/journal/database.ts'
import { lockName } from '../../src/journal/lock.ts'
import { startJournalThread } from '../../src/journal/writer/journal-thread.ts'
import { Writer } from '../../src/journal/writer/writer.ts'
import { Mints } from '../../src/market/mints.ts'
import { attempt, NO_LIMITS, order, report, start, timeOf, trades } from '../support/journal-values.ts'

const [, , task, path = ''] = process.argv

async function collectGarbage(): Promise<void> {
  await setTimeout(0)
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  await setTimeout(10) // finalizers run after the collection
}

function say(word: string): void {
  process.stdout.write(`${word}\n`)
}

/** Locks a name until the process is killed, and drops the only reference to the lock. */
async function hold(): Promise<void> {
  lockName(path, 'wallet', 'secret')
  await collectGarbage()
  say('held')
  setInterval(() => {}, 1000)
}

/**
 * Commits one order after the other, each together with its rows, its attempt and its report. Prints the number of each
 * order once it is durable.
 */
async function trade(): Promise<void> {
  const journal = await startJournalThread(path, {
    space: NO_LIMITS,
    onFailure: (error) => {
      throw error
    },
  })
  journal.input(1, timeOf(0), start(1))
  const mints = new Mints()
  let seq = 2
  const next = (number: number) => {
    const block = trades(50, number * 50, mints)
    journal.rows(block, 0, 50, seq)
    seq += 50
    journal.output(seq - 1, timeOf(number * 50), 0, { kind: 'order', order: order(number) })
    journal.write({ kind: 'attempt', attempt: attempt(number) })
    journal.write({ kind: 'report', id: number, report: report(number) })
    journal.commit(() => {
      say(String(number))
      setImmediate(next, number + 1)
    })
  }
  next(1)
}

/** Merges blocks, and is killed while it writes the first large block. The small blocks are already deleted, but
 *  nothing is committed. */
function merge(): void {
  const db = openForWriting(path)
  db.function('die', () => {
    process.kill(process.pid, 'SIGKILL')
    return 0
  })
  db.exec('CREATE TEMP TRIGGER killed AFTER INSERT ON main.block BEGIN SELECT die(); END')
  const writer = new Writer(db, { space: NO_LIMITS }, {}, () => 1e12)
  for (;;) writer.tidy()
}

if (task === 'hold') await hold()
else if (task === 'merge') merge()
else await trade()
