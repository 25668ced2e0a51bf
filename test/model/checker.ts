import { CalmGraph } from './calm-graph.ts'

/** What may happen in a state. A fault need never happen. A chance may or may not; a duty does happen if it stays
 *  possible. */
export type Kind = 'fault' | 'chance' | 'duty'

export interface Step<State> {
  readonly name: string
  /** Duties of one group count as one: it is enough that one of them keeps happening. */
  readonly group: string
  readonly kind: Kind
  readonly next: State
}

export interface Model<State> {
  initial(): State
  steps(state: State): readonly Step<State>[]
  /** Two states with the same key are the same state. */
  key(state: State): string
  /** Name of the property that does not hold here. */
  broken(state: State, steps: readonly Step<State>[]): string | undefined
  /** Everything is known and booked: from every state, without faults, one like this must come. */
  isDecided(state: State): boolean
}

export interface Violation {
  readonly property: string
  /** Names of the steps to it; no shorter path leads there. */
  readonly trace: readonly string[]
}

export interface Result {
  readonly states: number
  readonly steps: number
  readonly violation?: Violation
}

export const NEVER_DECIDED = 'never decided'

/** Looks at every reachable state, nearest first, and then at what happens once faults stop. Ends at the first
 *  violation. */
export function check<State>(model: Model<State>, mostStates = 5_000_000): Result {
  return new Search(model, mostStates).run()
}

class Search<State> {
  readonly #model: Model<State>
  readonly #mostStates: number
  readonly #numbers = new Map<string, number>()
  /** Found and not looked at yet; a state that was looked at is forgotten but for its key. */
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

  /** The property that is broken in this state. */
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
