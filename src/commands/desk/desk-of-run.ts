import type { Config } from '../../config/config.ts'
import { tokenHash } from '../../desk/access/scrapers.ts'
import { Desk, requireSafeDesk } from '../../desk/host.ts'
import type { DeskLink } from '../../live/control/operator.ts'
import type { RunningBots } from '../../live/start-bots.ts'
import { cut, dim } from '../terminal.ts'

/** Time for which the first link works and is shown. */
const SHOWN_MS = 5 * 60_000

/** Serves the desk of running bots, and provides the line of the terminal with the address of the desk. */
export class DeskOfRun {
  readonly #config: Config
  #desk: Desk | undefined
  readonly #started = Promise.withResolvers<Desk>()
  #link: string | undefined

  readonly #scrapeHash: string | undefined

  /** Throws a SluiceError in each of these cases: other machines could reach the desk without TLS (exit 4); the
   *  certificate of the desk cannot be used; the token of the metrics cannot be read. */
  constructor(config: Config) {
    requireSafeDesk(config.desk, Date.now())
    this.#scrapeHash = config.metrics && tokenHash(config.metrics.token.read())
    this.#config = config
  }

  /** Starts the desk and, if stdout is a terminal, makes a login link. Never rejects. */
  async open({ log, world, updates, preview, handle }: RunningBots): Promise<void> {
    const { desk: config, journal } = this.#config
    const desk = new Desk({
      ...{ config, journal: journal.path, view: updates, log, operator: { preview, handle } },
      scrapeHash: this.#scrapeHash,
      alert: (text) => world.alert({ kind: 'desk', bot: '', text, time: Date.now() }),
    })
    this.#desk = desk
    this.#started.resolve(desk)
    if ((await desk.ready) === undefined || process.stdout.isTTY !== true) return
    this.#link = await desk.link(false).catch(() => undefined)
    setTimeout(() => {
      this.#link = undefined
    }, SHOWN_MS).unref()
  }

  readonly link: DeskLink = async (readOnly, name) => {
    const desk = await this.#started.promise
    await desk.ready
    return desk.link(readOnly, name)
  }

  /** The line with the address of the desk. It contains the login link until the link is used or expires. */
  line(columns: number): string {
    return deskLine(this.#desk?.origin, this.#desk?.hasSessions === true ? undefined : this.#link, columns)
  }

  async close(): Promise<void> {
    const desk = this.#desk
    this.#desk = undefined
    await desk?.close()
  }
}

/** Line of at most `columns` characters with the address of the desk. A link that does not fit is left out, because a
 *  part of it is useless. */
export function deskLine(origin: string | undefined, link: string | undefined, columns: number): string {
  if (origin === undefined) return cut(`desk  ${dim('is not served at present: see the log')}`, columns)
  const linked = `desk  ${link}`
  if (link !== undefined && linked.length <= columns)
    return cut(`${linked}  ${dim('logs in once, within 5 minutes')}`, columns)
  return cut(`desk  ${origin}  ${dim('`sluice desk link` makes a login link')}`, columns)
}
