import type { Model } from './checker.ts'
import { protocol } from './protocol.ts'
import type { Scenario } from './scenario.ts'
import type { State } from './state.ts'

/** What occurred in the checked scenarios: changes of the state of orders and attempts, and steps of the model. */
export class Coverage {
  /** `accepted > working`. */
  readonly orderMoves = new Set<string>()
  readonly attemptMoves = new Set<string>()
  readonly #groups = new Set<string>()

  /** The names of the steps that occurred. The number of an attempt is replaced by "the attempt". */
  get happenings(): Set<string> {
    return new Set([...this.#groups].map((group) => group.replaceAll(/attempt \d/g, 'the attempt')))
  }

  /** Returns the model of the protocol in a scenario. The model records the steps that occur. */
  of(scenario: Scenario): Model<State> {
    const model = protocol(scenario)
    return {
      ...model,
      steps: (state) => {
        const steps = model.steps(state)
        for (const { group, next } of steps) {
          this.#groups.add(group)
          this.#addMoves(state, next)
        }
        return steps
      },
    }
  }

  #addMoves({ journal: before }: State, { journal: after }: State): void {
    for (let index = 0; index < after.orders.length; index++) {
      const from = before.orders[index]!.state
      const to = after.orders[index]!.state
      if (from !== to && from !== 'none') this.orderMoves.add(`${from} > ${to}`)
    }
    for (let index = 0; index < before.attempts.length; index++) {
      const from = before.attempts[index]!.state
      const to = after.attempts[index]!.state
      if (from !== to) this.attemptMoves.add(`${from} > ${to}`)
    }
  }
}
