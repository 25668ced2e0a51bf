import type { Millis } from '../base/units.ts'
import type { Notice } from './view/view.ts'

/** Number of notices that are kept. Further warnings are in the log file of the process. */
const MOST_KEPT = 50

/** The last alerts, warnings and errors of this process, which the journal does not record: for example a failure of
 *  Telegram, a certificate that expires, or a refused login. The view shows them, so that Telegram and the webhook
 *  report nothing that the page does not show. */
export class Notices {
  #list: readonly Notice[] = []

  /** Newest first. The list is another object after each new notice. */
  get list(): readonly Notice[] {
    return this.#list
  }

  add(notice: Notice): void {
    this.#list = [notice, ...this.#list].slice(0, MOST_KEPT)
  }

  /** Adds a line of the log, unless the journal records it too: lines and alarms of strategies have a bot. */
  readonly addLine = (
    time: Millis,
    level: 'warn' | 'error',
    text: string,
    fields: Readonly<Record<string, unknown>>,
  ) => {
    if (typeof fields.bot === 'string') return
    this.add({ time, level, kind: '', bot: '', text })
  }
}
