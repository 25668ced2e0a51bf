import type { Config } from '../config/config.ts'
import { backupPath } from '../journal/copy-before-migration.ts'
import { migratesFrom } from '../journal/migrate.ts'
import { type JournalReader, openReader } from '../journal/reader/reader.ts'
import type { Recovered } from '../journal/reader/recovery.ts'
import type { OpenJournal } from '../journal/writer/gathering-journal.ts'
import { startJournalThread } from '../journal/writer/journal-thread.ts'
import type { DiskUsage, SpaceReport } from '../journal/writer/space.ts'
import type { Remainder } from '../journal/writer/writer.ts'
import { isUndecided } from '../orders/attempt.ts'
import type { Log } from '../runtime/log.ts'

/** An open, locked journal, and the state that earlier processes left in it. */
export interface RecoveredJournal {
  readonly journal: OpenJournal
  readonly reader: JournalReader
  readonly recovered: Recovered
  /** Calls `run` with the last report about disk space, if there is one, and with every later one. */
  onSpace(run: (report: SpaceReport) => void): void
  /** Calls `run` with every later report about the size of the journal. */
  onUsage(run: (usage: DiskUsage) => void): void
  /** Calls `run` with every later report about a difference between a ledger and its wallet. */
  onRemainder(run: (text: string) => void): void
}

/** Opens the journal, and migrates it if it is older. Reads use a separate connection. `failed` is called when the
 *  journal can no longer be written. `opened` is called for each resource that was opened, with a function that closes
 *  it. Throws SluiceError. */
export async function openRecoveredJournal(
  { journal: { path, keepTapeDays, archive } }: Config,
  log: Log,
  failed: (error: Error) => void,
  opened: (close: () => unknown) => void,
): Promise<RecoveredJournal> {
  const room = new Room()
  let tellPerson = (_text: string): void => {}
  let tellUsage = (_usage: DiskUsage): void => {}
  const from = migratesFrom(path)
  const journal = await startJournalThread(path, {
    ...(!archive && { keepTapeDays }),
    onFailure: failed,
    onSpace: (report) => room.take(report),
    onUsage: (usage) => tellUsage(usage),
    onRemainder: (remainder) => {
      const text = textOf(remainder)
      if (remainder.lamports === 0) log.info(text)
      else log.error(text)
      tellPerson(text)
    },
  })
  opened(() => journal.close())
  if (from !== undefined)
    log.info(
      { from, backup: backupPath(path, from) },
      'journal: upgraded to the present schema; the backup contains the journal before the upgrade',
    )
  const reader = openReader(path)
  opened(() => reader.close())
  log.info({ path }, 'journal: locked; every commit reaches the disk (synchronous=FULL, verified)')
  return {
    ...{ journal, reader, recovered: recover(path, reader, log), onSpace: (run) => room.tell(run) },
    onRemainder: (run) => {
      tellPerson = run
    },
    onUsage: (run) => {
      tellUsage = run
    },
  }
}

function textOf({ account, slot, lamports }: Remainder): string {
  return lamports === 0
    ? `ledger: the recorded transactions explain the whole balance of ${account} again, at Solana slot ${slot}`
    : `ledger: at Solana slot ${slot}, no recorded transaction explains ${lamports} lamports of ${account}; see \`sluice ledger\``
}

function recover(path: string, reader: JournalReader, log: Log): Recovered {
  const recovered = reader.recover()
  const { clean, lastSegment, money, attempts } = recovered
  if (!clean) {
    reader.checkIntegrity()
    log.warn('journal: the previous process crashed or was killed; the tables of orders and money are intact')
  }
  const counts = {
    ordersOpen: money.orders.length,
    attemptsUndecided: attempts.filter(({ state }) => isUndecided(state)).length,
  }
  log.info({ path, segment: lastSegment + 1, ...counts, endedInOrder: clean }, 'journal open')
  return recovered
}

/** Keeps the last report about disk space for a listener that is registered later. */
export class Room {
  #report: SpaceReport | undefined
  #run: (report: SpaceReport) => void = () => {}

  take(report: SpaceReport): void {
    this.#report = report
    this.#run(report)
  }

  tell(run: (report: SpaceReport) => void): void {
    this.#run = run
    if (this.#report !== undefined) run(this.#report)
  }
}
