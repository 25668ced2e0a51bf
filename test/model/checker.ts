import { CalmGraph } from './calm-graph.ts'

/**
 * The kind of a step. A fault or a chance need not happen. A duty must happen if it stays possible. Every order must be
 * decided even if no further fault happens.
 */
export type Kind = 'fault' | 'chance' | 'duty'

export interface Step<State> {
  readonly name: string
  /** Name of the duty's group. The duties of one group count as one duty. */
  readonly group: string
  readonly kind: Kind
  readonly next: State
}

export interface Model<State> {
  initial(): State
  steps(state: State): readonly Step<State>[]
  /** States with the same key are equal. */
  key(state: State): string
  /** Returns the name of the property that the state breaks; undefined if it breaks none. */
  broken(state: State, steps: readonly Step<State>[]): string | undefined
  /**
   * Returns whether every order is decided and booked. From each reachable state, the steps without faults must lead to
   * a state in which this is true.
   */
  isDecided(state: State): boolean
}

export interface Violation {
  readonly property: string
  /** Names of the steps on a shortest path to the violation. */
  readonly trace: readonly string[]
}

export interface Result {
  readonly states: number
  readonly steps: number
  readonly violation?: Violation
}

export const NEVER_DECIDED = 'an order was never decided'

/**
 * Visits every reachable state in breadth-first order, then checks the runs without faults. Stops at the first
 * violation.
 */
export function check<State>(model: Model<State>, mostStates = 5_000_000): Result {
  return new Search(model, mostStates).run()
}

class Search<State> {
  readonly #model: Model<State>
  readonly #mostStates: number
  readonly #numbers = new Map<string, number>()
  /** The states, by number. A visited state is removed, so that only its key uses memory. */
  readonly #states: (State | undefined)[] = []
  readonly #parents: number[] = []
  readonly #names: string[] = []
  readonly #calm = new CalmGraph()
  #steps = 0

  constructor(model: Model<State>, mostStates: number) {
    this.#model = model
    this.#mostStates = mostStates
  }

  run(): Result {
    this.#find(this.#model.initial(), -1, '')
    for (let number = 0; number < this.#states.length; number++) {
      const property = this.#expand(number)
      if (property !== undefined) return this.#result(property, number)
      if (this.#states.length > this.#mostStates) throw new Error(`more than ${this.#mostStates} states`)
    }
    const stuck = this.#calm.neverDecided()
    return stuck === undefined ? this.#result() : this.#result(NEVER_DECIDED, stuck)
  }

  /**
   * Adds the states that can follow a state. Returns the property that the state breaks; undefined if it breaks none.
   */
  #expand(number: number): string | undefined {
    const state = this.#states[number] as State
    this.#states[number] = undefined
    const steps = this.#model.steps(state)
    const property = this.#model.broken(state, steps)
    if (property !== undefined) return property
    this.#calm.begin(this.#model.isDecided(state))
    for (const { name, group, kind, next } of steps) {
      const target = this.#find(next, number, name)
      this.#steps++
      if (target === number) continue
      if (kind !== 'fault') this.#calm.add(target, kind === 'duty' ? group : '')
    }
    return undefined
  }

  #find(state: State, parent: number, name: string): number {
    const key = this.#model.key(state)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#states.length
    this.#numbers.set(key, number)
    this.#states.push(state)
    this.#parents.push(parent)
    this.#names.push(name)
    return number
  }

  #result(property?: string, number = 0): Result {
    const counts = { states: this.#states.length, steps: this.#steps }
    return property === undefined ? counts : { ...counts, violation: { property, trace: this.#trace(number) } }
  }

  #trace(end: number): string[] {
    const names: string[] = []
    for (let at = end; at > 0; at = this.#parents[at] as number) names.push(this.#names[at] as string)
    return names.reverse()
  }
}
