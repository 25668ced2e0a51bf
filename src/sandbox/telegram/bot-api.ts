import type { Clock } from '../../base/machine.ts'
import type { Answer } from '../service/answers.ts'
import type { Handle } from '../service/http.ts'
import { type Button, buttonsOf } from './buttons.ts'
import { badRequest, Refused, tooMany } from './refused.ts'
import { UpdateQueue } from './update-queue.ts'

// Telegram's Bot API (core.telegram.org/bots/api) for one bot, as strict as the original: it refuses the first of two
// `getUpdates`, any `getUpdates` while a webhook is set, floods, long messages, long button data, late answers to a
// button, and edits that change nothing.

/** A message that the bot has sent. */
export interface SentMessage {
  readonly id: number
  readonly chat: number
  text: string
  readonly silent: boolean
  /** Whether the whole text is preformatted, so that nothing in it becomes a link or a command. */
  isBlock: boolean
  buttons: readonly Button[]
  /** Number of times that the bot has edited the message. */
  edits: number
}

/** The bot's answer to a press of a button. */
export interface ButtonAnswer {
  readonly user: number
  readonly text: string
  readonly isAlert: boolean
}

export interface BotApiOptions {
  readonly token: string
  readonly clock: Clock
  /** Users who have opened the bot. It may write only to them. */
  readonly users?: readonly number[]
}

type Parameters = Readonly<Record<string, unknown>>

const BOT = { id: 1, is_bot: true, first_name: 'Sluice', username: 'sluice_bot' }
const LONGEST_TEXT = 4_096
const LONGEST_NOTE = 200
/** Number of messages that a chat may receive in a burst. `CHAT_EVERY_MS`: time after which another message is
 *  allowed. */
const CHAT_BURST = 5
const CHAT_EVERY_MS = 1_000
/** Maximum number of messages per second to all chats together. */
const MOST_A_SECOND = 30
/** A press of a button must be answered within this time. */
const ANSWER_MS = 30_000
/** Number of sent messages that are kept. */
const MOST_SENT = 1_000

/** The Bot API of one bot. `receive` delivers the actions of users; `sent` lists the messages of the bot. */
export class BotApi {
  readonly sent: SentMessage[] = []
  readonly answers: ButtonAnswer[] = []
  /** Users who have blocked the bot. */
  readonly blockedBy = new Set<number>()
  /** Number of further requests that will be refused with 429. */
  floods = 0
  readonly #options: BotApiOptions
  readonly #users: Set<number>
  readonly #full = new Map<number, number>()
  readonly #updates: UpdateQueue
  /** Button presses that the bot has not answered, by the id of their query. */
  readonly #presses = new Map<string, { readonly user: number; readonly at: number }>()
  #lastSecond: number[] = []
  #nextMessage = 1
  #nextQuery = 1

  constructor(options: BotApiOptions) {
    this.#options = options
    this.#users = new Set(options.users)
    this.#updates = new UpdateQueue(options.clock)
  }

  /** Simulates that a webhook is set, or deleted. */
  setWebhook(isSet: boolean): void {
    this.#updates.hasWebhook = isSet
  }

  /** Number of updates that wait for the bot's confirmation. */
  get pending(): number {
    return this.#updates.length
  }

  /** A private message of a user, which also opens the bot. */
  write(user: number, text: string): void {
    this.#users.add(user)
    this.receive({ message: { ...this.#message(), from: person(user), chat: privateChat(user), text } })
  }

  /** A user presses a button of a message, by default a button of the last message with this text on it. Returns false
   *  if there is no such button. */
  press(user: number, text: string, message = this.#lastWith(user, text)): boolean {
    const button = message?.buttons.find((one) => one.text === text)
    if (message === undefined || button === undefined) return false
    this.pressData(user, button.data, message.id)
    return true
  }

  /** A press of a button with this data, even if no button has the data. `fields` replace those of the query. */
  pressData(user: number, data: unknown, messageId: number, fields: object = {}): void {
    const id = `${this.#nextQuery++}`
    this.#presses.set(id, { user, at: this.#options.clock.now() })
    const message = { message_id: messageId, date: this.#date(), from: BOT, chat: privateChat(user), text: '' }
    this.receive({ callback_query: { id, from: person(user), message, chat_instance: '1', data, ...fields } })
  }

  /** Delivers an update with the given fields. */
  receive(fields: Readonly<Record<string, unknown>>): void {
    this.#updates.add(fields)
  }

  /** Handles `/PREFIX/botTOKEN/METHOD` and `/PREFIX/user`. Through the second path, a user of the sandbox writes to the
   *  bot (`text`), presses a button (`press`) and reads its messages. */
  readonly handle: Handle = async ({ path, body }) => {
    try {
      const given = parametersOf(body)
      if (path.endsWith('/user')) return answer({ ok: true, result: this.#user(given) })
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

  #user({ from, text, press }: Parameters): readonly SentMessage[] {
    const user = Number(from)
    if (typeof text === 'string') this.write(user, text)
    if (typeof press === 'string' && !this.press(user, press)) throw badRequest('no message has such a button')
    return this.sent.filter(({ chat }) => chat === user)
  }

  #call(method: string, given: Parameters): unknown {
    const run = this.#methods[method]
    if (run === undefined) throw new Refused(404, 'Not Found')
    if (this.floods > 0) {
      this.floods--
      throw tooMany(3)
    }
    return run(given)
  }

  readonly #methods: Readonly<Record<string, (given: Parameters) => unknown>> = {
    getMe: () => BOT,
    getUpdates: (given) => this.#updates.get(given),
    sendMessage: (given) => this.#sendMessage(given),
    editMessageText: (given) => this.#editMessageText(given),
    answerCallbackQuery: (given) => this.#answerCallbackQuery(given),
  }

  #sendMessage(given: Parameters): unknown {
    const { entities, disable_notification } = given
    const { text, buttons } = contentOf(given)
    const chat = this.#chatOf(given)
    this.#takeTurn(chat)
    const message = this.#message()
    this.sent.push({
      ...{ id: message.message_id, chat, text, silent: disable_notification === true },
      ...{ isBlock: isBlock(entities, text), buttons, edits: 0 },
    })
    if (this.sent.length > MOST_SENT) this.sent.shift()
    return { ...message, chat: privateChat(chat), text }
  }

  #editMessageText(given: Parameters): unknown {
    const { entities, message_id } = given
    const { text, buttons } = contentOf(given)
    const chat = this.#chatOf(given)
    const message = this.sent.find((one) => one.id === message_id && one.chat === chat)
    if (message === undefined) throw badRequest('message to edit not found')
    if (message.text === text && JSON.stringify(message.buttons) === JSON.stringify(buttons))
      throw badRequest(
        'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
      )
    this.#takeTurn(chat)
    Object.assign(message, { text, buttons, isBlock: isBlock(entities, text), edits: message.edits + 1 })
    return { message_id, chat: privateChat(chat), text }
  }

  #answerCallbackQuery({ callback_query_id, text = '', show_alert }: Parameters): true {
    const press = this.#presses.get(String(callback_query_id))
    this.#presses.delete(String(callback_query_id))
    if (press === undefined || this.#options.clock.now() - press.at > ANSWER_MS)
      throw badRequest('query is too old and response timeout expired or query ID is invalid')
    if (typeof text !== 'string' || text.length > LONGEST_NOTE) throw badRequest('MESSAGE_TOO_LONG')
    this.answers.push({ user: press.user, text, isAlert: show_alert === true })
    return true
  }

  #chatOf({ chat_id }: Parameters): number {
    const chat = Number(chat_id)
    if (!this.#users.has(chat)) throw badRequest('chat not found')
    if (this.blockedBy.has(chat)) throw new Refused(403, 'Forbidden: bot was blocked by the user')
    return chat
  }

  /** Counts a message against the rates of its chat and of the bot. */
  #takeTurn(chat: number): void {
    const now = this.#options.clock.now()
    const full = Math.max(now, this.#full.get(chat) ?? 0)
    if (full - now >= CHAT_BURST * CHAT_EVERY_MS) throw tooMany(Math.ceil((full - now) / 1_000) - CHAT_BURST + 1)
    this.#lastSecond = this.#lastSecond.filter((at) => now - at < 1_000)
    if (this.#lastSecond.length >= MOST_A_SECOND) throw tooMany(1)
    this.#lastSecond.push(now)
    this.#full.set(chat, full + CHAT_EVERY_MS)
  }

  #lastWith(user: number, text: string): SentMessage | undefined {
    return this.sent.findLast(({ chat, buttons }) => chat === user && buttons.some((one) => one.text === text))
  }

  #message(): { message_id: number; date: number } {
    return { message_id: this.#nextMessage++, date: this.#date() }
  }

  #date(): number {
    return Math.floor(this.#options.clock.now() / 1_000)
  }
}

function person(id: number): object {
  return { id, is_bot: false, first_name: `user ${id}` }
}

function privateChat(id: number): object {
  return { id, type: 'private' }
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
  throw badRequest("can't parse JSON object")
}

/** Checks and returns the text and the buttons of a message. */
function contentOf({ text, entities, reply_markup, parse_mode }: Parameters): {
  text: string
  buttons: readonly Button[]
} {
  if (typeof text !== 'string' || text.trim() === '') throw badRequest('message text is empty')
  if (text.length > LONGEST_TEXT) throw badRequest('message is too long')
  if (parse_mode !== undefined) throw badRequest("can't parse entities: the sandbox knows no markup")
  checkEntities(entities, text)
  const buttons = buttonsOf(reply_markup)
  if (typeof buttons === 'string') throw badRequest(buttons)
  return { text, buttons }
}

/** Refuses entities that reach beyond the text. */
function checkEntities(entities: unknown, text: string): void {
  if (entities === undefined) return
  const fits = (entity: { offset?: unknown; length?: unknown }): boolean =>
    Number.isInteger(entity.offset) &&
    Number(entity.length) > 0 &&
    Number(entity.offset) + Number(entity.length) <= text.length
  if (!Array.isArray(entities) || !entities.every(fits)) throw badRequest('entity beginning after the end of the text')
}

function isBlock(entities: unknown, { length }: string): boolean {
  return (
    Array.isArray(entities) && entities.some((one) => one.type === 'pre' && one.offset === 0 && one.length === length)
  )
}
