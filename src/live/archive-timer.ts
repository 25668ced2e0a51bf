import { ExitCode } from '../base/errors.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import { counted } from '../base/text.ts'
import { endOfDay, HOUR } from '../base/units.ts'
import type { Log } from '../runtime/log.ts'
import { type OwnCommand, runOwnCommand } from './own-command.ts'

/** Time from the start of the process to the first archive, ms. The bots warm up first. */
const AFTER_START_MS = 5_000
/** The archive of a day starts this long after midnight, because market rows of the day may arrive a little after its
 *  end. */
const AFTER_MIDNIGHT_MS = 10 * 60_000
const AFTER_FAILURE_MS = HOUR
const LONGEST_MS = 6 * HOUR
/** A signal that ends this process, for example at Ctrl-C, also ends the process of the archive. So the end of an
 *  archive by one of these signals is not reported as a failure. */
const OF_A_STOP: readonly string[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

export interface ArchiveTimerParts {
  /** Path of the journal. */
  readonly journal: string
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'error'>
  readonly alert: (text: string) => void
  readonly run?: typeof runOwnCommand
}

/** Archives the recorded market rows (the tape) of each day that has ended: once after the start, and after each
 *  midnight (UTC). `sluice tape archive` writes and checks the files in a process of its own; the journal's thread then
 *  removes the archived blocks from the journal. A failure loses nothing, because the blocks stay in the journal until
 *  then, and the next attempt follows after an hour. */
export class ArchiveTimer {
  readonly #parts: ArchiveTimerParts
  #running: OwnCommand | undefined
  #cancel: Cancel
  #isFailing = false
  #isClosed = false

  constructor(parts: ArchiveTimerParts) {
    this.#parts = parts
    this.#cancel = parts.clock.after(AFTER_START_MS, () => void this.#archive())
  }

  /** Ends the process of the archive. The next archive continues its work. */
  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.#running?.kill()
  }

  /** Archives the closed days in a child process. Its exit code 4 is no failure: another command is archiving, for
   *  example one that a killed process had started. */
  async #archive(): Promise<void> {
    const { journal, clock, run = runOwnCommand } = this.#parts
    this.#running = run(['tape', 'archive', '--journal', journal, '--json'], LONGEST_MS)
    const { error, stdout, stderr } = await this.#running.ended
    this.#running = undefined
    if (this.#isClosed) return
    if (error === null) this.#done(stdout)
    else if (error.code !== ExitCode.unsafe && !OF_A_STOP.includes(error.signal ?? ''))
      this.#failed(stderr.trim().replace(/^sluice: /, '') || `its process ended with ${error.signal ?? error.code}`)
    const now = clock.now()
    const pause = error !== null ? AFTER_FAILURE_MS : endOfDay(now) + AFTER_MIDNIGHT_MS - now
    this.#cancel = clock.after(pause, () => void this.#archive())
  }

  #done(stdout: string): void {
    this.#isFailing = false
    const { days, kept } = JSON.parse(stdout) as { days: readonly object[]; kept: readonly object[] }
    if (days.length > 0 || kept.length > 0)
      this.#parts.log.info({ days, kept }, `tape: market data of ${counted(days.length, 'closed day')} archived`)
  }

  /** Logs a failure. Only the first of several failures in a row raises an alert. */
  #failed(reason: string): void {
    const { log, alert } = this.#parts
    const text = `the archive of the tape failed: ${reason}; Sluice tries again every hour, and trading continues`
    log.error(text)
    if (!this.#isFailing) alert(text)
    this.#isFailing = true
  }
}
