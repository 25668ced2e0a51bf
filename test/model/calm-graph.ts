/** Maximum number of groups of duties. Each group is a bit of one number. */
const MOST_GROUPS = 31

/**
 * All states and the steps between them, without the faults. The graph checks that every order is decided in the end. A
 * duty is a step that must happen if it stays possible. An infinite run in which every duty happens is called fair. A
 * fair run that reaches no decided state is a violation.
 */
export class CalmGraph {
  readonly #targets: number[] = []
  /** For each edge (a step): if the step is a duty, the bit of the duty's group; 0 if the step need not happen. */
  readonly #bits: number[] = []
  /** For each state, the index of its first edge. */
  readonly #firsts: number[] = []
  readonly #decided: boolean[] = []
  /** For each state, the bits of the duties that are possible in it. */
  readonly #possible: number[] = []
  readonly #groups = new Map<string, number>()

  /** Begins the next state. The states are added in the order of their numbers. */
  begin(isDecided: boolean): void {
    this.#firsts.push(this.#targets.length)
    this.#decided.push(isDecided)
    this.#possible.push(0)
  }

  /** Adds a step from the last state that was begun. */
  add(target: number, group: string): void {
    const bit = group === '' ? 0 : this.#bitOf(group)
    this.#targets.push(target)
    this.#bits.push(bit)
    this.#possible[this.#possible.length - 1]! |= bit
  }

  /**
   * Returns the first state from which a decided state cannot be reached without faults, or from which a fair run can
   * avoid all decided states; undefined if there is no such state.
   */
  neverDecided(): number | undefined {
    this.#firsts.push(this.#targets.length)
    return this.#withoutWayOut() ?? this.#onFairCycle()
  }

  #bitOf(group: string): number {
    const known = this.#groups.get(group)
    if (known !== undefined) return known
    if (this.#groups.size === MOST_GROUPS) throw new Error('too many groups of duties')
    const bit = 1 << this.#groups.size
    this.#groups.set(group, bit)
    return bit
  }

  /** Returns the first state from which no path leads to a decided state; undefined if there is no such state. */
  #withoutWayOut(): number | undefined {
    const { starts, sources } = this.#reversed()
    const hasWayOut = this.#decided.slice()
    const line = hasWayOut.flatMap((isDecided, state) => (isDecided ? [state] : []))
    for (let state = line.pop(); state !== undefined; state = line.pop()) {
      for (let edge = starts[state]!; edge < starts[state + 1]!; edge++) {
        const source = sources[edge]!
        if (hasWayOut[source]) continue
        hasWayOut[source] = true
        line.push(source)
      }
    }
    const first = hasWayOut.indexOf(false)
    return first < 0 ? undefined : first
  }

  #reversed(): { starts: Int32Array; sources: Int32Array } {
    const starts = new Int32Array(this.#decided.length + 1)
    for (const target of this.#targets) starts[target + 1]!++
    for (let state = 0; state < this.#decided.length; state++) starts[state + 1]! += starts[state]!
    const places = starts.slice()
    const sources = new Int32Array(this.#targets.length)
    for (let state = 0; state < this.#decided.length; state++)
      for (let edge = this.#firsts[state]!; edge < this.#firsts[state + 1]!; edge++)
        sources[places[this.#targets[edge]!]!++] = state
    return { starts, sources }
  }

  /**
   * Finds cycles with Tarjan's algorithm for strongly connected components, on the undecided states and without
   * recursion.
   */
  #onFairCycle(): number | undefined {
    const size = this.#decided.length
    const orders = new Int32Array(size)
    const lows = new Int32Array(size)
    const component = new Int32Array(size).fill(-1)
    const nextEdges = new Int32Array(size)
    const open: number[] = []
    const path: number[] = []
    let order = 0
    const enter = (state: number): void => {
      orders[state] = lows[state] = ++order
      nextEdges[state] = this.#firsts[state]!
      open.push(state)
      path.push(state)
    }
    for (let root = 0; root < size; root++) {
      if (this.#decided[root] || orders[root] !== 0) continue
      enter(root)
      while (path.length > 0) {
        const state = path.at(-1)!
        if (nextEdges[state]! < this.#firsts[state + 1]!) {
          const target = this.#targets[nextEdges[state]!++]!
          if (this.#decided[target]) continue
          if (orders[target] === 0) enter(target)
          else if (component[target] === -1) lows[state] = Math.min(lows[state]!, orders[target]!)
          continue
        }
        path.pop()
        const parent = path.at(-1)
        if (parent !== undefined) lows[parent] = Math.min(lows[parent]!, lows[state]!)
        if (lows[state] !== orders[state]) continue
        const members = open.splice(open.lastIndexOf(state))
        for (const member of members) component[member] = state
        if (this.#isFairCycle(members, component, state)) return Math.min(...members)
      }
    }
    return undefined
  }

  #isFairCycle(members: readonly number[], component: Int32Array, name: number): boolean {
    let happens = 0
    let staysPossible = -1
    let isCycle = false
    for (const state of members) {
      staysPossible &= this.#possible[state]!
      for (let edge = this.#firsts[state]!; edge < this.#firsts[state + 1]!; edge++) {
        if (component[this.#targets[edge]!] !== name) continue
        isCycle = true
        happens |= this.#bits[edge]!
      }
    }
    return isCycle && (staysPossible & ~happens) === 0
  }
}
