import type { Kind, Step } from './checker.ts'
import { clone, type State } from './state.ts'

/** Collects the steps of all participants that are possible in a state. */
export class Steps {
  readonly list: Step<State>[] = []
  readonly #state: State

  constructor(state: State) {
    this.#state = state
  }

  /** A step that need not happen. */
  fault(name: string, change: (next: State) => void): void {
    this.#add('fault', name, name, change)
  }

  chance(name: string, change: (next: State) => void): void {
    this.#add('chance', name, name, change)
  }

  /** Adds a step that must happen if it stays possible. `subject`: the attempt or order to which it applies. */
  duty(group: string, subject: string, change: (next: State) => void): void {
    this.#add('duty', group, subject === '' ? group : `${group} ${subject}`, change)
  }

  #add(kind: Kind, group: string, name: string, change: (next: State) => void): void {
    const next = clone(this.#state)
    change(next)
    this.list.push({ name, group, kind, next })
  }
}

/** Returns the number of an attempt for display, counted from one. */
export function attemptName(attempt: number): string {
  return `attempt ${attempt + 1}`
}
