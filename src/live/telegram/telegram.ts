import type { Clock, Stop } from '../../base/machine.ts'
import { DAY, endOfDay, type Millis } from '../../base/units.ts'
import type { Loudness, TelegramKind } from '../../config/alert-kinds.ts'
import type { TelegramConfig } from '../../config/config.ts'
import type { Log } from '../../runtime/log.ts'
import type { View } from '../../runtime/view/view.ts'
import { openHttp } from '../../venues/http.ts'
import { botClient, type CallBot, type Called } from './bot-client.ts'
import { Confirmations, OPERATOR_COMMANDS, type Steered } from './confirmations.ts'
import { Outbox } from './outbox.ts'
import type { OwnJournal } from './own-journal.ts'
import { commandRefusal, isOperator, isStranger, mayAct, type Users } from './rights.ts'
import { answerTo, summaryOf, textOf } from './texts.ts'
import { type Message, readUpdate, updateIdOf } from './updates.ts'

/** An event for the users. */
export interface TelegramEvent {
  readonly kind: TelegramKind
  /** Name of the trading bot; '' for an event that concerns all of them. */
  readonly bot: string
  readonly text: string
}

export interface TelegramParts extends Users {
  readonly events: Readonly<Record<TelegramKind, Loudness>>
  readonly call: CallBot
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** The data that users may ask about, and the commands that operators may give. */
export interface Shown extends Steered {
  readonly own: Pick<OwnJournal, 'run'>
}

interface Served extends Pick<Shown, 'view' | 'own'> {
  readonly confirmations: Confirmations
}

/** Argument of /why. */
const ABOUT = /^([oc]\d{1,15}|d\d{1,15}\.\d{1,6}|[1-9A-HJ-NP-Za-km-z]{32,44})$/
/** Time for which an event waits, so that events shortly after it are sent in the same message. */
const GATHER_MS = 2_000
const MOST_GATHERED = 100
/** A long poll ends after this time without a message. */
const POLL_SECONDS = 25
/** Maximum number of messages in the answer to a poll. After a failure, messages are requested one at a time, because
 *  an answer with one message is never too long to be accepted. */
const MOST_UPDATES = 4
/** Shortest time between two polls, so that strangers who write to the Telegram bot cannot keep the process busy. */
const POLL_EVERY_MS = 1_000
/** A message that is older than this is not answered, because it waited while the process was down. */
const OLDEST_MESSAGE_MS = 120_000
const CONFLICT_WAIT_MS = 10_000
/** Time without a refused poll, ms, after which a conflict with another program that polls for the same Telegram bot is
 *  over. */
const CONFLICT_OVER_MS = 300_000
const REFUSED_WAIT_MS = 60_000
const STRANGER_EVERY_MS = 60_000
/** The summary is sent this long before the UTC day ends, because the results of the day are reset then. */
const BEFORE_MIDNIGHT_MS = 30_000

/** Returns the advice to the operator about a failed poll. */
function remedyOf(status: number, reason: string): string {
  if (status === 401 || status === 404) return 'check telegram.token, then restart'
  if (status !== 409) return 'Sluice tries again'
  return /webhook/i.test(reason)
    ? 'a webhook receives the messages of this bot: delete it (method deleteWebhook), or create a bot for this process with @BotFather'
    : 'another program answers for the same bot: end it, or create a bot for each process with @BotFather; revoke the token there if you do not know the program'
}

/** A Telegram bot: answers questions, takes the commands of operators, and sends events. It never delays trading: no
 *  other part waits for it, and it keeps a limited number of messages in memory. */
export class Telegram {
  readonly #parts: TelegramParts
  readonly #outbox: Outbox
  #gathered: { text: string; isSilent: boolean }[] = []
  #dropped = 0
  #isGathering = false
  #isStopped = false
  #offset = 0
  #failures = 0
  #strangers = 0
  #strangerToldAt: Millis = Number.NEGATIVE_INFINITY
  #wasGarbage = false
  /** The problem of the polls that was logged last; undefined while the polls work. */
  #problem: string | undefined
  #conflictAt: Millis = Number.NEGATIVE_INFINITY

  constructor(parts: TelegramParts) {
    this.#parts = parts
    this.#outbox = new Outbox(parts)
  }

  /** Starts to answer questions, to execute commands, and to send a summary at the end of each UTC day. */
  serve(shown: Shown): void {
    this.#summarizeDaily(shown.view)
    const confirmations = new Confirmations({ ...this.#parts, steered: shown, outbox: this.#outbox })
    void this.#poll({ ...shown, confirmations })
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Sends an event to every viewer, unless its kind is off. */
  raise({ kind, bot, text }: TelegramEvent): void {
    const loudness = this.#parts.events[kind]
    if (loudness === 'off') return
    if (this.#gathered.length >= MOST_GATHERED) {
      this.#dropped++
      return
    }
    this.#gathered.push({ text: `${kind}${bot === '' ? '' : ` (${bot})`}: ${text}`, isSilent: loudness === 'silent' })
    this.#gather()
  }

  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    this.#parts.clock.after(GATHER_MS, () => {
      this.#isGathering = false
      // During an outage, the events wait without being turned into messages. The number of waiting events is limited.
      // After the outage, a few messages contain all of them.
      if (this.#outbox.waiting < this.#parts.viewers.length) this.#send()
      else this.#gather()
    })
  }

  #send(): void {
    const lines = this.#gathered.map(({ text }) => text)
    if (this.#dropped > 0) lines.push(`and ${this.#dropped} more`)
    const isSilent = this.#gathered.every((event) => event.isSilent)
    const text = textOf(lines)
    for (const user of this.#parts.viewers) this.#outbox.send({ user, text, isSilent })
    this.#gathered = []
    this.#dropped = 0
  }

  #summarizeDaily(view: () => View): void {
    const { clock, events, viewers } = this.#parts
    if (events.summary === 'off') return
    const now = clock.now()
    const left = endOfDay(now) - BEFORE_MIDNIGHT_MS - now
    clock.after(left > 0 ? left : left + DAY, () => {
      if (this.#isStopped) return
      const isSilent = events.summary === 'silent'
      const text = summaryOf(view())
      for (const user of viewers) this.#outbox.send({ user, text, isSilent })
      this.#summarizeDaily(view)
    })
  }

  async #poll(served: Served): Promise<void> {
    const { call, clock } = this.#parts
    const began = clock.now()
    const called = await call('getUpdates', {
      ...{ offset: this.#offset, timeout: POLL_SECONDS, limit: this.#failures > 0 ? 1 : MOST_UPDATES },
      allowed_updates: ['message', 'callback_query'],
    })
    if (this.#isStopped) return
    const wait = called.kind === 'done' ? await this.#answer(called.result, served) : this.#waitAfter(called)
    clock.after(Math.max(wait, POLL_EVERY_MS - (clock.now() - began)), () => void this.#poll(served))
  }

  async #answer(updates: unknown, served: Served): Promise<number> {
    const { clock, log } = this.#parts
    // Two programs that poll for the same Telegram bot end each other's polls in turn, so one successful poll does not
    // show that the other program has ended.
    if (this.#problem !== undefined && clock.now() - this.#conflictAt > CONFLICT_OVER_MS) {
      log.info({ failures: this.#failures }, 'telegram: questions are answered again')
      this.#problem = undefined
    }
    this.#failures = 0
    if (!Array.isArray(updates)) return REFUSED_WAIT_MS
    const ids = updates.flatMap((update) => updateIdOf(update) ?? [])
    for (const update of updates) {
      if (this.#isStopped) return 0
      if (updateIdOf(update) === undefined) continue
      // The next poll confirms the update, so a command is in the journal before Telegram deletes its update.
      await this.#take(update, served).catch((error) => this.#failed(error))
    }
    // The offset is computed from the ids of this answer, not from the highest id ever seen: after a week without
    // updates, Telegram may continue with a lower id.
    if (ids.length > 0) this.#offset = Math.max(...ids) + 1
    return 0
  }

  /** Returns the time after which a failed poll is repeated. Logs each problem once. */
  #waitAfter(called: Exclude<Called, { kind: 'done' }>): number {
    const reason = called.kind === 'lost' ? called.reason : `${called.status} ${called.text}`
    const status = called.kind === 'refused' ? called.status : 0
    const problem = status === 409 || status === 401 || status === 404 ? `${status}` : 'unreachable'
    this.#failures++
    if (this.#problem !== problem)
      this.#parts.log.warn(
        `telegram: questions are not answered: ${reason}; ${remedyOf(status, reason)}. Trading continues`,
      )
    if (status === 409 && this.#problem !== problem) this.#tellConflict(reason)
    this.#problem = problem
    if (status === 409) this.#conflictAt = this.#parts.clock.now()
    if (called.kind === 'refused' && called.retryMs !== undefined) return called.retryMs
    if (status === 409) return CONFLICT_WAIT_MS
    return status === 401 || status === 404
      ? REFUSED_WAIT_MS
      : Math.min(1_000 * 2 ** Math.min(this.#failures, 6), 60_000)
  }

  /** Tells the users that another program receives their messages. Otherwise they would only notice that commands are
   *  not answered. */
  #tellConflict(reason: string): void {
    const lines = ['This process does not receive your messages.', `${remedyOf(409, reason)}.`]
    for (const user of this.#parts.viewers) this.#outbox.send({ user, text: textOf(lines), isSilent: false })
  }

  /** Takes a message, or a press of a button, if the rights of its user allow it. Ignores everything else. */
  async #take(update: unknown, served: Served): Promise<void> {
    const deed = readUpdate(update)
    if (deed === 'garbage') this.#garbage()
    else if (deed === 'ignored') return
    else if (isStranger(this.#parts, deed)) this.#stranger(deed.user)
    else if (!mayAct(this.#parts, deed)) return
    else if (deed.kind === 'message') this.#message(deed, served)
    else await served.confirmations.press(deed)
  }

  #message({ user, text, time, isOwn }: Message, { view, own, confirmations }: Served): void {
    const [first = '', ...more] = text.trim().split(/\s+/)
    const name = first.split('@', 1)[0]?.toLowerCase() ?? ''
    const isSteering = (OPERATOR_COMMANDS as readonly string[]).includes(name)
    const answer = (...lines: string[]): void => void this.#outbox.send({ user, text: textOf(lines), isSilent: true })
    const refusal = commandRefusal(this.#parts, { user, isOwn })
    if (time < this.#parts.clock.now() - OLDEST_MESSAGE_MS) {
      if (isSteering && isOperator(this.#parts, user))
        answer(`${name}: this message arrived too late. Nothing was done: send the command again.`)
    } else if (isSteering && refusal !== undefined) answer(`${name}: ${refusal}`)
    else if (isSteering) confirmations.ask(user, [name, ...more])
    else if (name === '/why' && !ABOUT.test(more[0] ?? ''))
      answer('/why: send the id of an order (o12), of a conditional order (c3), of a refusal (d1204.2), or a mint')
    else if (name === '/why' || name === '/report')
      own
        .run([name.slice(1), ...(name === '/why' ? [more[0] as string] : [])])
        .then((lines) => answer(...lines))
        .catch((error) => {
          this.#failed(error)
          answer(`${name}: the question failed; the log contains the reason`)
        })
    else answer(...answerTo(name, view(), isOperator(this.#parts, user)))
  }

  /** Logs a message that could not be answered. The process and the polls continue. */
  #failed(error: Error): void {
    this.#parts.log.warn({ error: error.stack }, 'telegram: a message could not be answered because of an error')
  }

  #garbage(): void {
    if (this.#wasGarbage) return
    this.#wasGarbage = true
    this.#parts.log.warn('telegram: ignored an update that the Bot API does not document; further ones are not logged')
  }

  /** Logs, at most once a minute, that a stranger has written: a user who is neither viewer nor operator. */
  #stranger(user: number): void {
    const { log, clock } = this.#parts
    this.#strangers++
    if (clock.now() - this.#strangerToldAt < STRANGER_EVERY_MS) return
    log.warn(
      { user, messages: this.#strangers },
      'telegram: ignored messages of a user who is neither in telegram.viewers nor in telegram.operators',
    )
    this.#strangers = 0
    this.#strangerToldAt = clock.now()
  }
}

/** Opens the Telegram bot of a configuration. It has separate connections, so that no order waits for it. */
export function openTelegram(
  { token, viewers, operators, events, api }: TelegramConfig,
  { clock, log }: Pick<TelegramParts, 'clock' | 'log'>,
): { telegram: Telegram; close: Stop } {
  const { http, close } = openHttp({ timeoutMs: (POLL_SECONDS + 10) * 1_000, longestBody: 262_144 })
  const telegram = new Telegram({ viewers, operators, events, clock, log, call: botClient(http, api, token.read()) })
  return {
    telegram,
    close: () => {
      telegram.stop()
      return close()
    },
  }
}
