import type { Clock, Stop } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { Loudness, TelegramKind } from '../../config/alert-kinds.ts'
import type { TelegramConfig } from '../../config/config.ts'
import type { Log } from '../../runtime/log.ts'
import type { View } from '../../runtime/view/view.ts'
import { openHttp } from '../../venues/http.ts'
import { botClient, type CallBot, type Called } from './bot-client.ts'
import { Outbox } from './outbox.ts'
import { answerTo, summaryOf, textOf } from './texts.ts'

/** An event for the users. */
export interface TelegramEvent {
  readonly kind: TelegramKind
  /** Name of the bot; '' for an event that concerns every bot. */
  readonly bot: string
  readonly text: string
}

export interface TelegramParts {
  readonly viewers: readonly number[]
  readonly events: Readonly<Record<TelegramKind, Loudness>>
  readonly call: CallBot
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Time for which an event waits, so that events shortly after it are sent in the same message. */
const GATHER_MS = 2_000
const MOST_GATHERED = 100
/** A long poll ends after this time without a message. */
const POLL_SECONDS = 25
/** Number of messages of a poll. After a failure each is asked for alone: the longest answer still holds one. */
const MOST_UPDATES = 4
/** Shortest time between two polls, so that strangers who write to the bot cannot busy the process. */
const POLL_EVERY_MS = 1_000
/** An older message is not answered: it waited while the process was down. */
const OLDEST_MESSAGE_MS = 120_000
const CONFLICT_WAIT_MS = 10_000
const REFUSED_WAIT_MS = 60_000
const STRANGER_EVERY_MS = 60_000
const DAY_MS = 86_400_000
/** The summary is sent this long before the UTC day ends, because the results of the day then begin again. */
const BEFORE_MIDNIGHT_MS = 30_000

/** A bot of Telegram: answers questions of viewers, and sends events to them. It never delays trading: nothing waits
 *  for it, and the number of its messages in memory is bounded. */
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

  constructor(parts: TelegramParts) {
    this.#parts = parts
    this.#outbox = new Outbox(parts)
  }

  /** Begins to answer questions, and to send a summary at the end of each UTC day. */
  serve(view: () => View): void {
    this.#summarizeDaily(view)
    void this.#poll(view)
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
      // During an outage, events wait here, where their number is bounded, and not as many messages.
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
    const left = DAY_MS - BEFORE_MIDNIGHT_MS - (clock.now() % DAY_MS)
    clock.after(left > 0 ? left : left + DAY_MS, () => {
      if (this.#isStopped) return
      const isSilent = events.summary === 'silent'
      const text = summaryOf(view())
      for (const user of viewers) this.#outbox.send({ user, text, isSilent })
      this.#summarizeDaily(view)
    })
  }

  async #poll(view: () => View): Promise<void> {
    const { call, clock } = this.#parts
    const began = clock.now()
    const called = await call('getUpdates', {
      ...{ offset: this.#offset, timeout: POLL_SECONDS, limit: this.#failures > 0 ? 1 : MOST_UPDATES },
      allowed_updates: ['message'],
    })
    if (this.#isStopped) return
    const wait = called.kind === 'done' ? this.#answer(called.result, view) : this.#waitAfter(called)
    clock.after(Math.max(wait, POLL_EVERY_MS - (clock.now() - began)), () => void this.#poll(view))
  }

  #answer(updates: unknown, view: () => View): number {
    const { log } = this.#parts
    if (this.#failures > 0) log.info({ failures: this.#failures }, 'telegram: questions are answered again')
    this.#failures = 0
    if (!Array.isArray(updates)) return REFUSED_WAIT_MS
    for (const update of updates) {
      const id: unknown = update?.update_id
      if (!Number.isSafeInteger(id)) continue
      this.#offset = Math.max(this.#offset, (id as number) + 1)
      this.#take(update, view)
    }
    return 0
  }

  /** Time after which a failed poll is repeated. Each problem is logged once. */
  #waitAfter(called: Exclude<Called, { kind: 'done' }>): number {
    const reason = called.kind === 'lost' ? called.reason : `${called.status} ${called.text}`
    const status = called.kind === 'refused' ? called.status : 0
    const remedy =
      status === 409
        ? 'another program answers for the same bot: end it, or make a bot for each process with @BotFather'
        : status === 401 || status === 404
          ? 'check telegram.token, then restart'
          : 'it is tried again'
    if (this.#failures++ === 0)
      this.#parts.log.warn(`telegram: no questions are answered: ${reason}; ${remedy}. Trading continues`)
    if (called.kind === 'refused' && called.retryMs !== undefined) return called.retryMs
    if (status === 409) return CONFLICT_WAIT_MS
    return status === 401 || status === 404
      ? REFUSED_WAIT_MS
      : Math.min(1_000 * 2 ** Math.min(this.#failures, 6), 60_000)
  }

  /** Answers a private message of a viewer. Everything else is dropped, because a role belongs to a person, and an
   *  answer in a group would show the money to all of its members. */
  #take(update: unknown, view: () => View): void {
    const message = messageOf(update)
    if (message === undefined) return
    const { user, text, time, isPrivate } = message
    const { viewers, clock } = this.#parts
    if (!viewers.includes(user)) this.#stranger(user)
    else if (isPrivate && time >= clock.now() - OLDEST_MESSAGE_MS) {
      const command = text.trim().split(/[\s@]/, 1)[0]?.toLowerCase() ?? ''
      this.#outbox.send({ user, text: answerTo(command, view()), isSilent: true })
    }
  }

  /** Logs people who may not ask, at most once a minute. */
  #stranger(user: number): void {
    const { log, clock } = this.#parts
    this.#strangers++
    if (clock.now() - this.#strangerToldAt < STRANGER_EVERY_MS) return
    log.warn({ user, messages: this.#strangers }, 'telegram: ignored messages of a user who is not in telegram.viewers')
    this.#strangers = 0
    this.#strangerToldAt = clock.now()
  }
}

interface Message {
  readonly user: number
  readonly text: string
  readonly time: Millis
  readonly isPrivate: boolean
}

/** The text message of a person in an update; undefined for anything else. */
function messageOf(update: unknown): Message | undefined {
  const { message } = update as { message?: Record<string, unknown> | null }
  if (typeof message !== 'object' || message === null) return undefined
  const { from, chat, text, date } = message as {
    from?: { id?: unknown; is_bot?: unknown }
    chat?: { id?: unknown; type?: unknown }
    text?: unknown
    date?: unknown
  }
  const user = from?.id
  if (typeof text !== 'string' || typeof date !== 'number' || typeof user !== 'number' || from?.is_bot !== false)
    return undefined
  return { user, text, time: date * 1_000, isPrivate: chat?.type === 'private' && chat.id === user }
}

/** Opens the bot of a configuration with connections of its own, which no order uses. */
export function openTelegram(
  { token, viewers, events, api }: TelegramConfig,
  { clock, log }: Pick<TelegramParts, 'clock' | 'log'>,
): { telegram: Telegram; close: Stop } {
  const { http, close } = openHttp({ timeoutMs: (POLL_SECONDS + 10) * 1_000, longestBody: 262_144 })
  const telegram = new Telegram({ viewers, events, clock, log, call: botClient(http, api, token.read()) })
  return {
    telegram,
    close: () => {
      telegram.stop()
      return close()
    },
  }
}
