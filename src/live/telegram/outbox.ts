import type { Cancel, Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { Log } from '../../runtime/log.ts'
import type { CallBot, Called } from './bot-client.ts'

/** A message to one user. */
export interface Letter {
  readonly user: number
  readonly text: string
  readonly isSilent: boolean
  readonly buttons?: readonly Button[]
  /** Id of the message that this one replaces. If that message no longer exists, this one is sent as a new message. */
  readonly replaces?: number
  /** If the message was not sent before `at`, it is useless, and the user receives this text instead. */
  readonly late?: { readonly at: Millis; readonly text: string }
}

export interface Button {
  readonly text: string
  /** At most 64 bytes. */
  readonly data: string
}

export interface OutboxParts {
  readonly call: CallBot
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Maximum number of messages that wait for one user. */
const MOST_LETTERS = 20
/** Time between two messages. Telegram allows about 30 a second to all users together. */
const PACE_MS = 50
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

/** The messages that wait for one user. */
interface Queue {
  readonly letters: Letter[]
  readyAt: Millis
  isUnreachable: boolean
}

/** Sends messages one after another, in order for each user. If Telegram asks for a pause, only the messages to that
 *  user wait. Continues after an outage. */
export class Outbox {
  readonly #parts: OutboxParts
  readonly #queues = new Map<number, Queue>()
  #isSending = false
  #cancel: Cancel = () => {}
  /** Earliest time of the next message to any user. */
  #readyAt: Millis = 0
  #failures = 0

  constructor(parts: OutboxParts) {
    this.#parts = parts
  }

  /** Number of messages that wait. */
  get waiting(): number {
    let sum = 0
    for (const { letters } of this.#queues.values()) sum += letters.length
    return sum
  }

  /** Adds a message to the queue of its user. Returns false if too many messages wait for the user. */
  send(letter: Letter): boolean {
    const queue = this.#queueOf(letter.user)
    if (queue.letters.length >= MOST_LETTERS) return false
    queue.letters.push(letter)
    this.#schedule()
    return true
  }

  #queueOf(user: number): Queue {
    const known = this.#queues.get(user)
    if (known !== undefined) return known
    const queue: Queue = { letters: [], readyAt: 0, isUnreachable: false }
    this.#queues.set(user, queue)
    return queue
  }

  #schedule(): void {
    if (this.#isSending) return
    this.#cancel()
    const next = this.#soonest()
    if (next === undefined) return
    const { clock } = this.#parts
    const at = Math.max(next.readyAt, this.#readyAt)
    this.#cancel = clock.after(Math.max(0, at - clock.now()), () => void this.#send(next))
  }

  #soonest(): Queue | undefined {
    let soonest: Queue | undefined
    for (const queue of this.#queues.values())
      if (queue.letters.length > 0 && (soonest === undefined || queue.readyAt < soonest.readyAt)) soonest = queue
    return soonest
  }

  async #send(queue: Queue): Promise<void> {
    const letter = queue.letters[0] as Letter
    this.#isSending = true
    const called = await this.#call(letter)
    this.#isSending = false
    const { clock } = this.#parts
    const now = clock.now()
    queue.readyAt = now + PACE_MS
    this.#readyAt = now + PACE_MS
    if (this.#isGone(called, letter)) queue.letters[0] = asNew(letter)
    else {
      const wait = this.#waitAfter(called, letter.user, queue)
      if (wait === undefined) queue.letters.shift()
      else if (called.kind === 'refused' && called.status === 429) queue.readyAt = now + wait
      else this.#readyAt = now + wait
    }
    this.#schedule()
  }

  #call({ user, text, isSilent, buttons, replaces, late }: Letter): Promise<Called> {
    const { call, clock } = this.#parts
    const isLate = late !== undefined && clock.now() >= late.at
    const shown = isLate ? late.text : text
    const content = {
      ...{ chat_id: user, text: shown },
      // The message is sent as preformatted text, in which Telegram makes no links, mentions or commands.
      entities: [{ type: 'pre', offset: 0, length: shown.length }],
      ...(buttons !== undefined && !isLate && { reply_markup: { inline_keyboard: [buttons.map(keyOf)] } }),
    }
    if (replaces !== undefined) return call('editMessageText', { ...content, message_id: replaces })
    return call('sendMessage', { ...content, disable_notification: isSilent })
  }

  /** Whether the older message that a message should replace can no longer be edited. */
  #isGone(called: Called, { replaces }: Letter): boolean {
    return (
      replaces !== undefined &&
      called.kind === 'refused' &&
      called.status === 400 &&
      !called.text.includes('message is not modified')
    )
  }

  /** Time after which the message is sent again; undefined if it is not sent again. */
  #waitAfter(called: Called, user: number, queue: Queue): number | undefined {
    const { log } = this.#parts
    if (called.kind === 'done') {
      if (this.#failures > 0) log.info({ failures: this.#failures }, 'telegram: messages are delivered again')
      this.#failures = 0
      queue.isUnreachable = false
      return undefined
    }
    if (called.kind === 'refused' && (called.status === 400 || called.status === 403)) {
      if (!queue.isUnreachable)
        log.warn({ user }, `telegram: a user cannot be reached (${called.text}): the user must send /start to the bot`)
      queue.isUnreachable = true
      return undefined
    }
    const reason = called.kind === 'lost' ? called.reason : `${called.status} ${called.text}`
    if (this.#failures++ === 0)
      log.warn(`telegram: messages cannot be sent: ${reason}; Sluice keeps them and tries again`)
    const asked = called.kind === 'refused' ? called.retryMs : undefined
    return asked ?? Math.min(FIRST_WAIT_MS * 2 ** Math.min(this.#failures - 1, 10), LONGEST_WAIT_MS)
  }
}

function asNew({ replaces: _gone, ...letter }: Letter): Letter {
  return letter
}

function keyOf({ text, data }: Button): object {
  return { text, callback_data: data }
}
