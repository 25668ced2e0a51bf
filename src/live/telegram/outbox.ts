import type { Clock } from '../../base/machine.ts'
import type { Log } from '../../runtime/log.ts'
import type { CallBot, Called } from './bot-client.ts'

/** A message to one user. */
export interface Letter {
  readonly user: number
  readonly text: string
  readonly isSilent: boolean
}

export interface OutboxParts {
  readonly call: CallBot
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

const MOST_LETTERS = 60
/** Time between two messages. Telegram allows about 30 a second to all users together. */
const PACE_MS = 50
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

/** Sends messages one after another. Waits as long as Telegram asks for, and waits out an outage. */
export class Outbox {
  readonly #parts: OutboxParts
  readonly #letters: Letter[] = []
  readonly #unreachable = new Set<number>()
  #isBusy = false
  #failures = 0

  constructor(parts: OutboxParts) {
    this.#parts = parts
  }

  /** Number of messages that wait. */
  get waiting(): number {
    return this.#letters.length
  }

  /** Returns false if too many messages wait. */
  send(letter: Letter): boolean {
    if (this.#letters.length >= MOST_LETTERS) return false
    this.#letters.push(letter)
    if (!this.#isBusy) {
      this.#isBusy = true
      void this.#next()
    }
    return true
  }

  async #next(): Promise<void> {
    const letter = this.#letters[0]
    if (letter === undefined) {
      this.#isBusy = false
      return
    }
    const { call, clock } = this.#parts
    const { user, text, isSilent } = letter
    // As preformatted text, nothing in the message becomes a link, a mention or a command.
    const entities = [{ type: 'pre', offset: 0, length: text.length }]
    const called = await call('sendMessage', { chat_id: user, text, entities, disable_notification: isSilent })
    const wait = this.#waitAfter(called, user)
    if (wait === undefined) this.#letters.shift()
    clock.after(wait ?? PACE_MS, () => void this.#next())
  }

  /** Time after which the message is sent again; undefined if it is done with. */
  #waitAfter(called: Called, user: number): number | undefined {
    const { log } = this.#parts
    if (called.kind === 'done') {
      if (this.#failures > 0) log.info({ failures: this.#failures }, 'telegram: messages are delivered again')
      this.#failures = 0
      this.#unreachable.delete(user)
      return undefined
    }
    if (called.kind === 'refused' && (called.status === 400 || called.status === 403)) {
      if (!this.#unreachable.has(user))
        log.warn(
          { user },
          `telegram: a user cannot be reached (${called.text}): the user has to write /start to the bot`,
        )
      this.#unreachable.add(user)
      return undefined
    }
    const reason = called.kind === 'lost' ? called.reason : `${called.status} ${called.text}`
    if (this.#failures++ === 0) log.warn(`telegram: messages are not delivered: ${reason}; they wait`)
    const asked = called.kind === 'refused' ? called.retryMs : undefined
    return asked ?? Math.min(FIRST_WAIT_MS * 2 ** Math.min(this.#failures - 1, 10), LONGEST_WAIT_MS)
  }
}
