import { absenceSteps } from './absence.ts'
import { chainSteps } from './chain.ts'
import type { Model } from './checker.ts'
import { evidenceSteps } from './evidence.ts'
import { gatewaySteps } from './gateway.ts'
import { brokenProperty, isDecided } from './properties.ts'
import { resolverSteps } from './resolver.ts'
import { attemptsIn, type Case, holds, transactionsIn } from './scenario.ts'
import { serviceSteps } from './service.ts'
import { keyOf, type State } from './state.ts'
import { Steps } from './steps.ts'

/** Model of the order protocol in one scenario. */
export function protocol(scenario: Case): Model<State> {
  return {
    initial: () => initial(scenario),
    key: keyOf,
    isDecided,
    broken: (state, steps) => brokenProperty(scenario, state, steps),
    steps: (state) => {
      const steps = new Steps(state)
      gatewaySteps(scenario, state, steps)
      resolverSteps(scenario, state, steps)
      evidenceSteps(scenario, state, steps)
      absenceSteps(scenario, state, steps)
      if (scenario.executor === 'cloud') serviceSteps(scenario, state, steps)
      chainSteps(scenario, state, steps)
      return steps.list
    },
  }
}

function initial(scenario: Case): State {
  const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
  const { orders, crashes = 0, forks = 0, tokenDust = 0 } = scenario
  return {
    head: 0,
    transactions: times(transactionsIn(scenario), () => ({
      lastHeight: 0,
      isOut: false,
      at: null,
      isOk: false,
      sold: 0,
    })),
    strangers: [],
    dust: 0,
    lostRow: null,
    posts: times(attemptsIn(scenario), () => ({ request: 'none', answer: 'none', isOpen: false })),
    journal: {
      orders: orders.map(() => ({ state: 'none', isHeard: true, isReserved: false })),
      attempts: [],
      fills: times(transactionsIn(scenario), () => ({ seen: 'none', booked: 0 })),
      isAlarmed: false,
      isHalted: false,
    },
    memory: {
      arming: null,
      sending: null,
      lanes: orders.map(() => false),
      inbox: orders.map(() => false),
      bracket: null,
      mismatches: 0,
    },
    faults: {
      ...{ crashes, forks, tokenDust },
      lostRows: holds(scenario, 'A4') ? 0 : 1,
      secondExecutions: holds(scenario, 'A2') ? 0 : 1,
    },
  }
}
