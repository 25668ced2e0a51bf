import type { Kind, Step } from './checker.ts'
import { clone, type State } from './state.ts'

/** What may happen next in a state, collected from everybody who acts in it. */
export class Steps {
  readonly list: Step<State>[] = []
  readonly #state: State

  constructor(state: State) {
    this.#state = state
  }

  /** It never has to happen. */
  fault(name: string, change: (next: State) => void): void {
    this.#add('fault', name, name, change)
  }

  chance(name: string, change: (next: State) => void): void {
    this.#add('chance', name, name, change)
  }

  /** It happens if it stays possible. `subject`: what it happens to. */
  duty(group: string, subject: string, change: (next: State) => void): void {
    this.#add('duty', group, subject === '' ? group : `${group} ${subject}`, change)
  }

  #add(kind: Kind, group: string, name: string, change: (next: State) => void): void {
    const next = clone(this.#state)
    change(next)
    this.list.push({ name, group, kind, next })
  }
}

/** As people count. */
export function attemptName(attempt: number): string {
  return `attempt ${attempt + 1}`
}
