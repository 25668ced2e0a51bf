import { CalmGraph } from './calm-graph.ts'

/**
 * The kind of a step. A fault or a chance need never happen. A duty happens if it stays possible. Decisions must not
 * need faults.
 */
export type Kind = 'fault' | 'chance' | 'duty'

export interface Step<State> {
  readonly name: string
  /** Duties of one group count as one duty. */
  readonly group: string
  readonly kind: Kind
  readonly next: State
}

export interface Model<State> {
  initial(): State
  steps(state: State): readonly Step<State>[]
  /** States with the same key are equal. */
  key(state: State): string
  /** Returns the name of a property that the state breaks. */
  broken(state: State, steps: readonly Step<State>[]): string | undefined
  /** Returns whether every order is decided and booked. Each state must lead to such a state without faults. */
  isDecided(state: State): boolean
}

export interface Violation {
  readonly property: string
  /** Names of the steps of a shortest path. */
  readonly trace: readonly string[]
}

export interface Result {
  readonly states: number
  readonly steps: number
  readonly violation?: Violation
}

export const NEVER_DECIDED = 'never decided'

/** Visits every reachable state in breadth-first order, and then checks the runs without faults. Stops at the first
 *  violation. */
export function check<State>(model: Model<State>, mostStates = 5_000_000): Result {
  return new Search(model, mostStates).run()
}

class Search<State> {
  readonly #model: Model<State>
  readonly #mostStates: number
  readonly #numbers = new Map<string, number>()
  /** States that were found and not visited yet. Of a visited state, only the key is kept. */
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

  /** Adds the states that follow a state. Returns the property that the state violates; undefined if there is none. */
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
