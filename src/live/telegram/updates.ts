import type { Millis } from '../../base/units.ts'

/** An action of a person. `user`: id of the person who acted, never that of the chat. */
export type Deed = Message | Press

export interface Message {
  readonly kind: 'message'
  readonly update: number
  readonly user: number
  readonly text: string
  /** Time at which Telegram received the message, in whole seconds. */
  readonly time: Millis
  /** Whether only the user and the Telegram bot see the chat. */
  readonly isPrivate: boolean
  /** Whether the user wrote the text, instead of forwarding it or choosing it from another Telegram bot. */
  readonly isOwn: boolean
}

/** A press of a button below a message of the Telegram bot. */
export interface Press {
  readonly kind: 'press'
  readonly update: number
  readonly user: number
  /** Id of the press, which the answer to the press must contain. */
  readonly query: string
  readonly data: string
  /** Id of the message with the button. */
  readonly message: number
  readonly isPrivate: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** Fields of a message that was written by someone else, or in the name of a group or channel. */
const FOREIGN = [
  ...['forward_origin', 'forward_date', 'forward_from', 'forward_from_chat', 'forward_sender_name'],
  ...['is_automatic_forward', 'via_bot', 'sender_business_bot', 'business_connection_id'],
]

/** Returns the id of an update; undefined if it has none. */
export function updateIdOf(update: unknown): number | undefined {
  const id = fieldsOf(update)?.update_id
  return Number.isSafeInteger(id) ? (id as number) : undefined
}

/** Reads an update. `ignored`: a valid update that is neither a text nor a press of a button by a person, for example a
 *  photo, a channel's post, or a message of an anonymous administrator. `garbage`: the Bot API never sends such an
 *  update. */
export function readUpdate(update: unknown): Deed | 'ignored' | 'garbage' {
  const fields = fieldsOf(update)
  const id = updateIdOf(update)
  if (fields === undefined || id === undefined) return 'garbage'
  if (fields.message !== undefined) return messageOf(id, fieldsOf(fields.message))
  if (fields.callback_query !== undefined) return pressOf(id, fieldsOf(fields.callback_query))
  return 'ignored'
}

function messageOf(update: number, message: Fields | undefined): Message | 'ignored' | 'garbage' {
  if (message === undefined) return 'garbage'
  const { from, sender_chat, chat, text, date } = message
  // The sender of a message by an anonymous administrator or in the name of a channel is not the person who wrote it.
  if (from === undefined || sender_chat !== undefined) return 'ignored'
  const user = personOf(from)
  if (user === undefined || typeof date !== 'number' || !Number.isSafeInteger(date)) return 'garbage'
  if (user === 'bot' || text === undefined) return 'ignored'
  if (typeof text !== 'string') return 'garbage'
  const isOwn = FOREIGN.every((field) => message[field] === undefined)
  return { kind: 'message', update, user, text, time: date * 1_000, isPrivate: isPrivate(chat, user), isOwn }
}

function pressOf(update: number, query: Fields | undefined): Press | 'ignored' | 'garbage' {
  const user = personOf(query?.from)
  const { id, data, message } = query ?? {}
  if (user === undefined || typeof id !== 'string') return 'garbage'
  // This Telegram bot never sends buttons of games or of inline messages.
  if (user === 'bot' || data === undefined || message === undefined) return 'ignored'
  const { message_id, chat } = fieldsOf(message) ?? {}
  if (typeof data !== 'string' || !Number.isSafeInteger(message_id)) return 'garbage'
  return {
    kind: 'press',
    update,
    user,
    query: id,
    data,
    message: message_id as number,
    isPrivate: isPrivate(chat, user),
  }
}

/** Id of a person, or `bot`; undefined for anything else. */
function personOf(from: unknown): number | 'bot' | undefined {
  const { id, is_bot } = fieldsOf(from) ?? {}
  if (!Number.isSafeInteger(id) || typeof is_bot !== 'boolean') return undefined
  return is_bot ? 'bot' : (id as number)
}

function isPrivate(chat: unknown, user: number): boolean {
  const { id, type } = fieldsOf(chat) ?? {}
  return type === 'private' && id === user
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}
