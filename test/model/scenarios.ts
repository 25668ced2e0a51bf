import type { Scenario } from './scenario.ts'

const cloud = { executor: 'cloud', orders: ['buy'], attempts: [1] } as const
const local = { executor: 'local', orders: ['buy'], attempts: [2] } as const

/** In these the protocol holds; together they take seconds. */
export const SMALL: Readonly<Record<string, Scenario>> = {
  'cloud: a buy': { ...cloud, attempts: [2], crashes: 1, forks: 1 },
  'cloud: a partial exit': { ...cloud, orders: ['partial exit'], attempts: [2], crashes: 1, forks: 1 },
  'cloud: a full exit and its repetition': { ...cloud, orders: ['full exit'], attempts: [2], crashes: 1 },
  'cloud: a full exit, then a buy': { ...cloud, orders: ['full exit', 'buy'], attempts: [1, 1], crashes: 1, forks: 1 },
  'cloud: a full exit and its repetition, then a buy': { ...cloud, orders: ['full exit', 'buy'], attempts: [2, 1] },
  'cloud: a buy, then another': { ...cloud, orders: ['buy', 'buy'], attempts: [1, 1], crashes: 1, forks: 1 },
  'cloud: strangers use the wallet': { ...cloud, inflows: 2, foreign: 1 },
  'cloud: the service tries again when it reverts': { ...cloud, attempts: [2], crashes: 1, persists: true },
  'cloud: an RPC that tells no time': { ...cloud, attempts: [2], crashes: 1, undated: true },
  'cloud: executes after any time (A1 broken)': { ...cloud, attempts: [2], crashes: 1, broken: ['A1'] },
  'cloud: executes twice (A2 broken)': { ...cloud, crashes: 1, broken: ['A2'] },
  'cloud: the index loses a row (A4 broken)': { ...cloud, crashes: 1, forks: 1, broken: ['A4'] },
  'cloud: executes what it refused (A7 broken)': { ...cloud, attempts: [2], crashes: 1, broken: ['A7'] },
  'local: a buy': { ...local, crashes: 2, forks: 2 },
  'local: a partial exit': { ...local, orders: ['partial exit'], crashes: 1, forks: 1 },
  'local: a full exit and its repetition': { ...local, orders: ['full exit'], crashes: 1, forks: 1 },
  'local: a full exit and its repetition, then a buy': {
    ...local,
    orders: ['full exit', 'buy'],
    attempts: [2, 1],
    forks: 1,
  },
  'local: the index loses a row (A4 broken)': { ...local, crashes: 1, forks: 1, broken: ['A4'] },
}

/** More of everything: minutes. */
export const LARGE: Readonly<Record<string, Scenario>> = {
  ...SMALL,
  'cloud: a buy, 3 attempts': { ...cloud, attempts: [3], crashes: 2, forks: 1 },
  'cloud: a buy, 2 crashes, 2 forks': { ...cloud, attempts: [2], crashes: 2, forks: 2 },
  'cloud: a full exit and its repetition, a fork': { ...cloud, orders: ['full exit'], attempts: [2], forks: 1 },
  'cloud: a full exit and its repetition, tokens from others': {
    ...cloud,
    ...{ orders: ['full exit'], attempts: [2], tokenDust: 1 },
  },
  'cloud: a full exit and its repetition, a crash and a fork': {
    ...cloud,
    ...{ orders: ['full exit'], attempts: [2], crashes: 1, forks: 1 },
  },
  'cloud: a full exit and its repetition, a crash, then a buy': {
    ...cloud,
    ...{ orders: ['full exit', 'buy'], attempts: [2, 1], crashes: 1 },
  },
  'cloud: a full exit and its repetition, a fork, then a buy': {
    ...cloud,
    ...{ orders: ['full exit', 'buy'], attempts: [2, 1], forks: 1 },
  },
  'cloud: a buy that adds, and a full exit meanwhile': {
    ...cloud,
    orders: ['buy', 'full exit'],
    attempts: [1, 1],
    forks: 1,
  },
  'cloud: strangers, a crash and a fork': { ...cloud, inflows: 1, foreign: 1, crashes: 1, forks: 1 },
  'cloud: A1, A2 and A7 broken': { ...cloud, attempts: [2], crashes: 1, broken: ['A1', 'A2', 'A7'] },
  'cloud: executes what it refused, another buy meanwhile (A7 broken)': {
    ...cloud,
    ...{ orders: ['buy', 'buy'], attempts: [1, 2], broken: ['A7'] },
  },
  'local: a buy, 3 attempts': { ...local, attempts: [3], crashes: 3, forks: 2 },
  'local: a full exit and its repetition, 2 crashes, then a buy': {
    ...local,
    ...{ orders: ['full exit', 'buy'], attempts: [2, 1], crashes: 2, forks: 2 },
  },
}
