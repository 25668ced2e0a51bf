import { draws } from '../../src/sandbox/draws.ts'

/**
 * Which participants break the rules in a run. honest: none; an RPC may answer late or not at all, but never falsely,
 * and the service executes a request at most once, in time, and never after a refusal. service: the service breaks
 * these rules. rpc: a node loses data.
 */
export type Kind = 'honest' | 'service' | 'rpc'

/**
 * Timers that a bot sets. regular: a few timers; storm: more timers than a bot is allowed; throws: the strategy throws
 * when one of its timers fires.
 */
export type TimerUse = 'none' | 'regular' | 'storm' | 'throws'

/**
 * The parameters of a simulated run. The seed determines all of them. A share is a probability, 0 to 1: the part of the
 * requests, calls or seconds in which a fault happens.
 */
export interface Scenario {
  readonly seed: number
  readonly kind: Kind
  readonly bots: number
  /** The number of wallets. With two, the bots use them alternately. */
  readonly wallets: 1 | 2
  readonly mints: number
  readonly requestsPerMinute: number
  readonly tradingMs: number
  /** Time from the start of the run to the end of the faults, ms. */
  readonly faultyMs: number
  readonly network: { readonly lost: number; readonly slow: number }
  readonly service: { readonly odd: number; readonly refuses: number; readonly lands: number; readonly lies: number }
  readonly rpc: { readonly ill: number; readonly lies: number }
  readonly chain: { readonly forks: number; readonly strangers: number; readonly byHand: number }
  readonly disk: { readonly fails: number; readonly slow: number }
  readonly clock: { readonly steps: number }
  readonly crashes: number
  /** How the service names and changes the plan of the API key; undefined if the configuration sets the plan. */
  readonly plans: NamedPlans | undefined
  /**
   * Whether strategies request conditional orders and exits for them. `stale`: share of the seconds in which the feed
   * becomes stale.
   */
  readonly conditionals: { readonly areAsked: boolean; readonly stale: number }
  /** The share of seconds in which an operator gives a command. */
  readonly operator: number
  readonly times: Times
  /** The share of the buys that a second process with the same wallet also makes. */
  readonly company: number
  /**
   * For local signing. `dropped`: share of the sends that the network loses. `signerDies`: share of the seconds in
   * which the signer ends.
   */
  readonly local: { readonly dropped: number; readonly signerDies: number; readonly rounding: Rounding | undefined }
  /** The share of the seconds in which the event loop of the process is blocked. */
  readonly stalls: number
  /** The timers of one more bot, which never trades. */
  readonly timers: TimerUse
  /** How another program fills the disk of the journal; undefined if none does. */
  readonly diskRoom: DiskRoom | undefined
}

/**
 * `share`: the configured part of the plan. `changes`: share of the seconds in which the service changes the plan.
 * `strays`: share of the seconds in which 429 answers without a reason begin. `failsFirst`: whether a first start
 * fails.
 */
export interface NamedPlans {
  readonly share: number
  readonly changes: number
  readonly strays: number
  readonly failsFirst: boolean
  /** Names of plans. At each change of the plan, the service chooses one of them. */
  readonly names: readonly string[]
}

/** How another program fills the disk. The times count from the start of the run, ms. */
export interface DiskRoom {
  readonly steps: readonly { readonly atMs: number; readonly freeMib: number }[]
  /** Time at which the program that fills the disk removes its files. */
  readonly endsMs: number
  /** Share of the seconds until `endsMs` in which the operator gives a command. */
  readonly operator: number
}

/**
 * How the builder rounds fees and amounts, and the priority fee of the orders. undefined if the service chooses the
 * fee.
 */
export interface Rounding {
  readonly fees: 'round' | 'ceil' | 'floor'
  readonly amounts: 'round' | 'ceil' | 'floor'
  /** The priority fee that the orders set. */
  readonly feeLamports: number
  /** Whether the builder charges slightly more for a sale than the order's priority fee. */
  readonly overcharges: boolean
}

/** Block times and clocks. */
export interface Times {
  /** Number of newest Solana slots without block times; Infinity if no slot has one. */
  readonly untold: number
  /** Whether nodes serve the chain's Clock account. */
  readonly hasClock: boolean
  /** Age of the time in the Clock account, ms. */
  readonly oldMs: number
  /** How far the machine's clock is ahead of the chain's, ms; negative if it is behind. */
  readonly aheadMs: number
}

/** Which orders a run has. plain: no conditional orders, and no commands of an operator. */
export type Orders = 'plain' | 'any'

/**
 * Returns the scenario of a seed. A third of the scenarios has at most one kind of fault, so that each kind also occurs
 * alone.
 */
export function scenarioOf(seed: number, orders: Orders = 'any'): Scenario {
  const { chance, pick, between, integer } = draws(seed, 'scenario')
  const kind: Kind = chance(0.7) ? 'honest' : chance(0.6) ? 'service' : 'rpc'
  const only = chance(0.33) ? integer(7) : undefined
  const share = (group: number, most: number): number =>
    (only === undefined || only === group) && chance(0.7) ? between(0, most) : 0
  const tradingMs = pick([10_000, 20_000, 30_000])
  const plans = orders === 'plain' ? undefined : plansOf(seed)
  // A run that tests a plan has no second process: trades of a second process would stop the entries of the first one.
  const company = orders === 'plain' || plans !== undefined ? NO_COMPANY : companyOf(seed)
  const scenario: Scenario = {
    seed,
    kind,
    bots: 1 + integer(2),
    wallets: orders === 'plain' || company.share > 0 ? 1 : walletsOf(seed),
    mints: 1 + integer(3),
    requestsPerMinute: pick([5, 10, 20, 60, 100]),
    tradingMs,
    faultyMs: tradingMs + pick([0, 10_000, 30_000]),
    network: { lost: share(0, 0.3), slow: share(0, 0.2) },
    service: {
      odd: share(1, 0.3),
      refuses: share(1, 0.2),
      lands: share(2, 0.3),
      lies: kind === 'service' ? between(0.05, 0.3) : 0,
    },
    rpc: { ill: share(3, 0.1), lies: kind === 'rpc' ? between(0.02, 0.1) : 0 },
    chain: { forks: share(2, 0.3), strangers: share(4, 0.1), byHand: share(4, 0.03) },
    disk: { fails: share(5, 0.01), slow: share(5, 0.1) },
    clock: { steps: share(6, 0.05) },
    crashes: share(5, 0.08),
    conditionals: orders === 'plain' ? { areAsked: false, stale: 0 } : conditionalsOf(seed),
    operator: orders === 'plain' ? 0 : operatorOf(seed),
    times: orders === 'plain' ? GOOD_TIMES : timesOf(seed),
    plans,
    company: company.share,
    local: localOf(seed),
    stalls: orders === 'plain' ? 0 : stallsOf(seed),
    timers: orders === 'plain' ? 'none' : timersOf(seed),
    diskRoom: orders === 'plain' || company.isAlone ? undefined : diskRoomOf(seed, tradingMs),
  }
  if (company.isAlone) return { ...scenario, kind: 'honest', ...NO_FAULTS, times: GOOD_TIMES }
  if (plans?.names === UNKNOWN_AND_PREMIUM) return { ...scenario, ...NO_FAULTS, ...BUSY, ...UNDISTURBED }
  const isTight = orders !== 'plain' && (plans !== undefined || tightOf(seed))
  return isTight
    ? { ...scenario, ...BUSY, requestsPerMinute: plans === undefined ? 5 : scenario.requestsPerMinute }
    : scenario
}

/** Buys that are frequent enough, for a long enough time, to use up a small plan. */
const BUSY = { bots: 2, mints: 3, tradingMs: 60_000, faultyMs: 60_000 }

/** Settings with which only buys use the requests of the plan, and no fault stops these buys. */
const UNDISTURBED = {
  ...{ crashes: 0, operator: 0, diskRoom: undefined },
  disk: { fails: 0, slow: 0 },
  conditionals: { areAsked: false, stale: 0 },
}

function tightOf(seed: number): boolean {
  return draws(seed, 'tight plan').chance(0.25)
}

const NO_COMPANY = { share: 0, isAlone: false }
/** Many buys, and no fault that could hide the chain from a process for some seconds. */
const NO_FAULTS = {
  ...{ requestsPerMinute: 100, tradingMs: 30_000, faultyMs: 30_000 },
  network: { lost: 0, slow: 0 },
  service: { odd: 0, refuses: 0, lands: 0, lies: 0 },
  rpc: { ill: 0, lies: 0 },
  chain: { forks: 0, strangers: 0, byHand: 0 },
} as const

// Each group of parameters below has a random generator of its own. A new group therefore does not change the other
// parameters of a seed.

function conditionalsOf(seed: number): Scenario['conditionals'] {
  const { chance, between } = draws(seed, 'conditionals')
  return { areAsked: chance(0.6), stale: chance(0.3) ? between(0, 0.1) : 0 }
}

function walletsOf(seed: number): 1 | 2 {
  return draws(seed, 'wallets').chance(0.2) ? 2 : 1
}

function operatorOf(seed: number): number {
  const { chance, between } = draws(seed, 'operator')
  return chance(0.3) ? between(0, 0.15) : 0
}

export const GOOD_TIMES: Times = { untold: 0, hasClock: true, oldMs: 0, aheadMs: 0 }

function timesOf(seed: number): Times {
  const { chance, pick, between } = draws(seed, 'times')
  return {
    untold: chance(0.3) ? pick([3, 20, 60, Number.POSITIVE_INFINITY]) : 0,
    hasClock: chance(0.5),
    oldMs: chance(0.15) ? 15_000 : 0,
    aheadMs: chance(0.2) ? Math.round(between(-30_000, 40_000)) : 0,
  }
}

function plansOf(seed: number): Scenario['plans'] {
  const { chance, between, pick } = draws(seed, 'plans')
  if (!chance(0.3)) return undefined
  const share = pick([0.05, 0.1, 0.2])
  const changes = between(0, 0.1)
  const strays = between(0, 0.15)
  const failsFirst = chance(0.3)
  if (chance(0.5)) return { share, changes, strays, failsFirst, names: NAMES }
  return { share: 0.05, changes: between(0.1, 0.2), strays: 0, failsFirst, names: UNKNOWN_AND_PREMIUM }
}

/** Names of plans. Sluice does not know two of them. */
const NAMES = ['Standard', 'premium', 'Platinum', 'ENTERPRISE', ' PREMIUM ']
/**
 * These names test that a process keeps a larger plan when the service names an unknown plan. In runs with these names,
 * the service sends no 429 answers without a reason, because such answers would hide a wrong plan.
 */
const UNKNOWN_AND_PREMIUM = ['premium', 'Platinum', 'ENTERPRISE']

/**
 * Returns how a second process uses the same wallet. Most of these runs have no other faults: only then do the
 * checks know exactly when the trades of the other process become visible.
 */
function companyOf(seed: number): { share: number; isAlone: boolean } {
  const { chance, between } = draws(seed, 'shared wallet')
  return chance(0.2) ? { share: between(0.5, 1), isAlone: chance(0.7) } : NO_COMPANY
}

function localOf(seed: number): Scenario['local'] {
  const { chance, between } = draws(seed, 'local')
  const rounding = roundingOf(seed)
  return { dropped: chance(0.3) ? 0.9 : between(0, 0.5), signerDies: chance(0.5) ? between(0, 0.1) : 0, rounding }
}

function roundingOf(seed: number): Rounding | undefined {
  const { chance, pick, integer } = draws(seed, 'rounding')
  if (chance(0.4)) return undefined
  const ways = ['round', 'ceil', 'floor'] as const
  const feeLamports = 20_001 + integer(150_000)
  return { fees: pick(ways), amounts: pick(ways), feeLamports, overcharges: chance(0.25) }
}

function stallsOf(seed: number): number {
  const { chance, between } = draws(seed, 'event loop')
  return chance(0.3) ? between(0, 0.3) : 0
}

function timersOf(seed: number): TimerUse {
  const { chance, pick } = draws(seed, 'timers')
  return chance(0.4) ? pick(['regular', 'storm', 'throws'] as const) : 'none'
}

/**
 * Free space, MiB, that the program that fills the disk leaves, in steps. Below 512 MiB the market is not recorded;
 * below 128 MiB entries stop.
 */
const STEPS_MIB = [400, 100, 12, 1, 0]

function diskRoomOf(seed: number, tradingMs: number): Scenario['diskRoom'] {
  const { chance, between } = draws(seed, 'disk-room')
  if (!chance(0.25)) return undefined
  const beginsMs = between(0.25, 0.4) * tradingMs
  const everyMs = between(0.01, 0.03) * tradingMs
  const levels = chance(0.3) ? [0] : STEPS_MIB
  const steps = levels.map((freeMib, at) => ({ atMs: Math.round(beginsMs + at * everyMs), freeMib }))
  return { steps, endsMs: Math.round(between(0.75, 1) * tradingMs), operator: between(0.3, 0.8) }
}
