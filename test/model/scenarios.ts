import type { Scenario } from './scenario.ts'

const cloud = { executor: 'cloud', orders: ['buy'], attempts: [1] } as const
const local = { executor: 'local', orders: ['buy'], attempts: [2] } as const

/**
 * Scenarios whose check takes some seconds in total. `npm test` checks them, and also that together they contain every
 * kind of step.
 */
export const QUICK: Readonly<Record<string, Scenario>> = {
  'cloud: a buy': { ...cloud, attempts: [2], crashes: 1, forks: 1 },
  'cloud: a partial exit': { ...cloud, orders: ['partial exit'], attempts: [2], crashes: 1, forks: 1 },
  'cloud: a full exit, then a buy': { ...cloud, orders: ['full exit', 'buy'], attempts: [1, 1], crashes: 1, forks: 1 },
  'cloud: a buy, then another buy': { ...cloud, orders: ['buy', 'buy'], attempts: [1, 1], crashes: 1, forks: 1 },
  'cloud: strangers use the wallet': { ...cloud, inflows: 2, foreign: 1 },
  'cloud: the service retries after a revert': { ...cloud, attempts: [2], crashes: 1, persists: true },
  'cloud: an RPC without block times': { ...cloud, attempts: [2], crashes: 1, undated: true },
  'cloud: the service executes at any later time (assumption A1 does not hold)': {
    ...cloud,
    attempts: [2],
    crashes: 1,
    broken: ['A1'],
  },
  'cloud: the service executes twice (assumption A2 does not hold)': { ...cloud, crashes: 1, broken: ['A2'] },
  'cloud: the signature index loses a transaction (assumption A4 does not hold)': {
    ...cloud,
    crashes: 1,
    forks: 1,
    broken: ['A4'],
  },
  'cloud: the service executes a refused attempt (assumption A7 does not hold)': {
    ...cloud,
    attempts: [2],
    crashes: 1,
    broken: ['A7'],
  },
  'local: a buy': { ...local, crashes: 2, forks: 2 },
  'local: a partial exit': { ...local, orders: ['partial exit'], crashes: 1, forks: 1 },
  'local: a full exit and its repetition': { ...local, orders: ['full exit'], crashes: 1, forks: 1 },
  'local: a full exit and its repetition, then a buy': {
    ...local,
    orders: ['full exit', 'buy'],
    attempts: [2, 1],
    forks: 1,
  },
  'local: the signature index loses a transaction (assumption A4 does not hold)': {
    ...local,
    crashes: 1,
    forks: 1,
    broken: ['A4'],
  },
}

/** Scenarios whose check takes half a minute in total. CI checks them. */
export const SMALL: Readonly<Record<string, Scenario>> = {
  ...QUICK,
  'cloud: a full exit and its repetition': { ...cloud, orders: ['full exit'], attempts: [2], crashes: 1 },
  'cloud: a full exit and its repetition, then a buy': { ...cloud, orders: ['full exit', 'buy'], attempts: [2, 1] },
}

/** Larger scenarios, whose check takes minutes. */
export const LARGE: Readonly<Record<string, Scenario>> = {
  ...SMALL,
  'cloud: a buy with 3 attempts': { ...cloud, attempts: [3], crashes: 2, forks: 1 },
  'cloud: a buy with 2 crashes and 2 forks': { ...cloud, attempts: [2], crashes: 2, forks: 2 },
  'cloud: a full exit and its repetition, with a fork': { ...cloud, orders: ['full exit'], attempts: [2], forks: 1 },
  'cloud: a full exit and its repetition, while strangers send tokens': {
    ...cloud,
    ...{ orders: ['full exit'], attempts: [2], tokenDust: 1 },
  },
  'cloud: a full exit and its repetition, with a crash and a fork': {
    ...cloud,
    ...{ orders: ['full exit'], attempts: [2], crashes: 1, forks: 1 },
  },
  'cloud: a full exit and its repetition with a crash, then a buy': {
    ...cloud,
    ...{ orders: ['full exit', 'buy'], attempts: [2, 1], crashes: 1 },
  },
  'cloud: a full exit and its repetition with a fork, then a buy': {
    ...cloud,
    ...{ orders: ['full exit', 'buy'], attempts: [2, 1], forks: 1 },
  },
  'cloud: a buy that adds to a position, and a full exit at the same time': {
    ...cloud,
    orders: ['buy', 'full exit'],
    attempts: [1, 1],
    forks: 1,
  },
  'cloud: strangers use the wallet, with a crash and a fork': {
    ...cloud,
    inflows: 1,
    foreign: 1,
    crashes: 1,
    forks: 1,
  },
  'cloud: the assumptions A1, A2 and A7 are broken': {
    ...cloud,
    attempts: [2],
    crashes: 1,
    broken: ['A1', 'A2', 'A7'],
  },
  'cloud: the service executes a refused attempt during another buy (assumption A7 does not hold)': {
    ...cloud,
    ...{ orders: ['buy', 'buy'], attempts: [1, 2], broken: ['A7'] },
  },
  'local: a buy with 3 attempts': { ...local, attempts: [3], crashes: 3, forks: 2 },
  'local: a full exit and its repetition with 2 crashes, then a buy': {
    ...local,
    ...{ orders: ['full exit', 'buy'], attempts: [2, 1], crashes: 2, forks: 2 },
  },
}
