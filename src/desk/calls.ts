import type { RemoteCommand } from '../live/control/command.ts'
import type { Preview } from '../live/control/preview.ts'
import type { Actor } from './actions.ts'
import type { FromDesk, ToDesk } from './messages.ts'
import { Refusal } from './refusal.ts'

const ANSWER_MS = 10_000

type Answer = Extract<ToDesk, { kind: 'answer' }>
type Call = Extract<FromDesk, { kind: 'call' }>

/** Requests of the desk's thread to the main thread, which previews actions and carries them out. */
export class Calls implements Actor {
  readonly #say: (message: Call) => void
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #next = 1

  constructor(say: (message: Call) => void) {
    this.#say = say
  }

  preview(command: RemoteCommand): Promise<Preview> {
    return this.#call({ step: 'preview', command, by: '' })
  }

  async carryOut(command: RemoteCommand, by: string): Promise<string> {
    return (await this.#call({ step: 'carry out', command, by })).text
  }

  answered(answer: Answer): void {
    this.#waiting.get(answer.id)?.(answer)
  }

  async #call(call: Omit<Call, 'kind' | 'id'>): Promise<Preview> {
    const id = this.#next++
    const answered = Promise.withResolvers<Answer>()
    const late = setTimeout(
      () =>
        answered.reject(
          new Refusal(
            504,
            'FAILED',
            'the process has not answered, and may still carry out the action: check the log and the orders before you repeat it',
          ),
        ),
      ANSWER_MS,
    )
    this.#waiting.set(id, answered.resolve)
    this.#say({ kind: 'call', id, ...call })
    try {
      const { refused, text, warning } = await answered.promise
      if (refused) throw new Refusal(409, 'ACTION_REFUSED', text)
      return { text, ...(warning !== undefined && { warning }) }
    } finally {
      clearTimeout(late)
      this.#waiting.delete(id)
    }
  }
}
