import type { Clock } from '../../base/machine.ts'
import type { Answer } from '../service/answers.ts'
import type { Handle } from '../service/http.ts'

// Telegram's Bot API (core.telegram.org/bots/api) for one bot, as strict as the original: it refuses the second
// `getUpdates`, floods, long messages and long button data.

/** A message that the bot has sent. */
export interface SentMessage {
  readonly chat: number
  readonly text: string
  readonly silent: boolean
  /** Whether the whole text is preformatted, so that nothing in it becomes a link or a command. */
  readonly isBlock: boolean
}

export interface BotApiOptions {
  readonly token: string
  readonly clock: Clock
  /** Users who have opened the bot. It may write only to them. */
  readonly users?: readonly number[]
}

type Parameters = Readonly<Record<string, unknown>>
type Update = { readonly update_id: number } & Readonly<Record<string, unknown>>

const LONGEST_TEXT = 4_096
const LONGEST_BUTTON_DATA = 64
const MOST_UPDATES = 100
const LONGEST_POLL_SECONDS = 50
/** Messages that a chat may receive at once, and the time after which another one is allowed. */
const CHAT_BURST = 5
const CHAT_EVERY_MS = 1_000
/** Number of sent messages that are kept. */
const MOST_SENT = 1_000
const METHODS = ['getMe', 'getUpdates', 'sendMessage']

/** A refusal of the API. */
class Refused extends Error {
  readonly status: number
  readonly retryAfter: number | undefined

  constructor(status: number, text: string, retryAfter?: number) {
    super(text)
    this.status = status
    this.retryAfter = retryAfter
  }
}

interface Poll {
  readonly answer: (updates: readonly Update[]) => void
  readonly refuse: (refused: Refused) => void
}

/** The Bot API of one bot. `receive` delivers what a user does; `sent` lists what the bot has sent. */
export class BotApi {
  readonly sent: SentMessage[] = []
  /** Users who have blocked the bot. */
  readonly blockedBy = new Set<number>()
  /** Number of requests that are refused with 429 from now on. */
  floods = 0
  readonly #options: BotApiOptions
  readonly #users: Set<number>
  readonly #full = new Map<number, number>()
  #updates: Update[] = []
  #nextUpdate = 1
  #poll: Poll | undefined

  constructor(options: BotApiOptions) {
    this.#options = options
    this.#users = new Set(options.users)
  }

  /** Number of updates that the bot has not confirmed. */
  get pending(): number {
    return this.#updates.length
  }

  /** A private message of a user, which also opens the bot. */
  write(user: number, text: string): void {
    this.#users.add(user)
    const from = { id: user, is_bot: false, first_name: `user ${user}` }
    this.receive({ message: { ...this.#message(), from, chat: { id: user, type: 'private' }, text } })
  }

  /** Delivers an update with these fields. */
  receive(fields: Readonly<Record<string, unknown>>): void {
    this.#updates.push({ update_id: this.#nextUpdate++, ...fields })
    const poll = this.#poll
    this.#poll = undefined
    poll?.answer(this.#updates.slice(0, MOST_UPDATES))
  }

  /** Handles `/PREFIX/botTOKEN/METHOD`, and `/PREFIX/user`, by which a user of the sandbox writes to the bot
   *  and reads its messages. */
  readonly handle: Handle = async ({ path, body }) => {
    try {
      const given = parametersOf(body)
      if (path.endsWith('/user')) {
        const from = Number(given.from)
        if (typeof given.text === 'string') this.write(from, given.text)
        return answer({ ok: true, result: this.sent.filter(({ chat }) => chat === from) })
      }
      const [, token, method] = /\/bot([^/]*)\/(\w+)$/.exec(path) ?? []
      if (token !== this.#options.token) throw new Refused(401, 'Unauthorized')
      return answer({ ok: true, result: await this.#call(method as string, given) })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { status, message, retryAfter } = error
      return answer(
        {
          ...{ ok: false, error_code: status, description: message },
          ...(retryAfter !== undefined && { parameters: { retry_after: retryAfter } }),
        },
        status,
      )
    }
  }

  #call(method: string, given: Parameters): unknown {
    if (!METHODS.includes(method)) throw new Refused(404, 'Not Found')
    if (this.floods > 0) {
      this.floods--
      throw tooMany(3)
    }
    if (method === 'getUpdates') return this.#getUpdates(given)
    if (method === 'sendMessage') return this.#sendMessage(given)
    return { id: 1, is_bot: true, first_name: 'Sluice', username: 'sluice_bot' }
  }

  #getUpdates({ offset = 0, limit = MOST_UPDATES, timeout = 0 }: Parameters): Promise<readonly Update[]> {
    this.#poll?.refuse(
      new Refused(
        409,
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
      ),
    )
    this.#poll = undefined
    this.#updates = this.#updates.filter(({ update_id }) => update_id >= Number(offset))
    const found = this.#updates.slice(0, Math.min(Number(limit), MOST_UPDATES))
    if (found.length > 0 || Number(timeout) === 0) return Promise.resolve(found)
    return new Promise((resolve, reject) => {
      const poll = { answer: resolve, refuse: reject }
      this.#poll = poll
      this.#options.clock.after(Math.min(Number(timeout), LONGEST_POLL_SECONDS) * 1_000, () => {
        if (this.#poll === poll) this.#poll = undefined
        resolve([])
      })
    })
  }

  #sendMessage(given: Parameters): unknown {
    const { chat_id, text, entities, reply_markup, disable_notification } = given
    if (typeof text !== 'string' || text.trim() === '') throw new Refused(400, 'Bad Request: message text is empty')
    if (text.length > LONGEST_TEXT) throw new Refused(400, 'Bad Request: message is too long')
    checkEntities(entities, text)
    checkButtons(reply_markup)
    const chat = Number(chat_id)
    if (!this.#users.has(chat)) throw new Refused(400, 'Bad Request: chat not found')
    if (this.blockedBy.has(chat)) throw new Refused(403, 'Forbidden: bot was blocked by the user')
    this.#takeTurn(chat)
    this.sent.push({ chat, text, silent: disable_notification === true, isBlock: isBlock(entities, text) })
    if (this.sent.length > MOST_SENT) this.sent.shift()
    return { ...this.#message(), chat: { id: chat, type: 'private' }, text }
  }

  /** Counts a message against the rate of its chat. */
  #takeTurn(chat: number): void {
    const now = this.#options.clock.now()
    const full = Math.max(now, this.#full.get(chat) ?? 0)
    if (full - now >= CHAT_BURST * CHAT_EVERY_MS) throw tooMany(Math.ceil((full - now) / 1_000) - CHAT_BURST + 1)
    this.#full.set(chat, full + CHAT_EVERY_MS)
  }

  #message(): object {
    return { message_id: this.#nextUpdate, date: Math.floor(this.#options.clock.now() / 1_000) }
  }
}

function tooMany(seconds: number): Refused {
  return new Refused(429, `Too Many Requests: retry after ${seconds}`, seconds)
}

function answer(body: object, status = 200): Answer {
  return { status, body: JSON.stringify(body) }
}

function parametersOf(body: string): Parameters {
  if (body === '') return {}
  try {
    const given: unknown = JSON.parse(body)
    if (typeof given === 'object' && given !== null) return given as Parameters
  } catch {}
  throw new Refused(400, "Bad Request: can't parse JSON object")
}

/** Refuses entities that reach beyond the text. */
function checkEntities(entities: unknown, text: string): void {
  if (entities === undefined) return
  const fits = (entity: { offset?: unknown; length?: unknown }): boolean =>
    Number.isInteger(entity.offset) &&
    Number(entity.length) > 0 &&
    Number(entity.offset) + Number(entity.length) <= text.length
  if (!Array.isArray(entities) || !entities.every(fits))
    throw new Refused(400, 'Bad Request: entity beginning after the end of the text')
}

function isBlock(entities: unknown, { length }: string): boolean {
  return (
    Array.isArray(entities) && entities.some((one) => one.type === 'pre' && one.offset === 0 && one.length === length)
  )
}

function checkButtons(markup: unknown): void {
  const rows = (markup as { inline_keyboard?: { callback_data?: string }[][] } | undefined)?.inline_keyboard ?? []
  for (const { callback_data = '' } of rows.flat())
    if (Buffer.byteLength(callback_data) > LONGEST_BUTTON_DATA)
      throw new Refused(400, 'Bad Request: BUTTON_DATA_INVALID')
}
