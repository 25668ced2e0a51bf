import { draws } from '../../src/sandbox/draws.ts'

/** honest: every RPC tells the truth, if late or not at all, and the service executes a request at most once, in its
 *  time, and never after it refused. service: it does otherwise. rpc: a node loses what it had. */
export type Kind = 'honest' | 'service' | 'rpc'

/** regular: a few, that go on. storm: more than a bot may have. throws: its strategy throws in one. */
export type TimerUse = 'none' | 'regular' | 'storm' | 'throws'

/** What one run is like; all of it drawn from its seed. Shares are of the requests, calls, or seconds that could be
 *  struck. */
export interface Scenario {
  readonly seed: number
  readonly kind: Kind
  readonly bots: number
  readonly mints: number
  readonly requestsPerMinute: number
  readonly tradingMs: number
  /** Faults go on for so long; then there are none. */
  readonly faultyMs: number
  readonly network: { readonly lost: number; readonly slow: number }
  readonly service: { readonly odd: number; readonly refuses: number; readonly lands: number; readonly lies: number }
  readonly rpc: { readonly ill: number; readonly lies: number }
  readonly chain: { readonly forks: number; readonly strangers: number; readonly byHand: number }
  readonly disk: { readonly fails: number; readonly slow: number }
  readonly clock: { readonly steps: number }
  readonly crashes: number
  /** The service names the plan, another one now and then, and answers 429 for no reason; undefined: the configuration
   *  names it. */
  readonly plans:
    | { readonly share: number; readonly changes: number; readonly strays: number; readonly failsFirst: boolean }
    | undefined
  /** Whether conditional orders are asked for, and exits that only they need; seconds in which the feed goes stale. */
  readonly conditionals: { readonly areAsked: boolean; readonly stale: number }
  /** Seconds in which an operator says something. */
  readonly operator: number
  readonly times: Times
  /** Buys that a second process with the same wallet makes, too. */
  readonly company: number
  /** Of orders that are signed here: sends that the network loses, seconds in which the signer dies. */
  readonly local: { readonly dropped: number; readonly signerDies: number; readonly rounding: Rounding | undefined }
  /** Seconds in which the event loop of the process stands still for a while. */
  readonly stalls: number
  /** What one more bot, which never trades, does with timers. */
  readonly timers: TimerUse
  /** Another program fills the journal's disk; undefined: it does not. */
  readonly diskRoom: DiskRoom | undefined
}

/** Times count from the beginning of the run. */
export interface DiskRoom {
  readonly steps: readonly { readonly atMs: number; readonly freeMib: number }[]
  /** When the other program removes what it wrote. */
  readonly endsMs: number
  /** Share of the seconds in between in which the operator gives a command. */
  readonly operator: number
}

/** How a builder turns decimals into whole numbers, and what orders ask of it; undefined: the fee is the service's to
 *  choose. */
export interface Rounding {
  readonly fees: 'round' | 'ceil' | 'floor'
  readonly amounts: 'round' | 'ceil' | 'floor'
  /** The priority fee that orders name. */
  readonly feeLamports: number
  /** For sales it charges a little more than the fee that was named, and no more than usual where none was. */
  readonly overcharges: boolean
}

/** What is known of the time. */
export interface Times {
  /** Of their newest slots the nodes have no block time; Infinity: of none. */
  readonly untold: number
  /** Whether they serve the account of the chain's clock. */
  readonly hasClock: boolean
  /** What they tell is so much too old. */
  readonly oldMs: number
  /** The machine's clock is so far ahead of the chain's; below 0: behind. */
  readonly aheadMs: number
}

/** plain: no conditional orders in any and no operator, as before there were any. */
export type Orders = 'plain' | 'any'

/** A third of the runs have no more than one kind of fault, so that what it does alone is seen, too. */
export function scenarioOf(seed: number, orders: Orders = 'any'): Scenario {
  const { chance, pick, between, integer } = draws(seed, 'scenario')
  const kind: Kind = chance(0.7) ? 'honest' : chance(0.6) ? 'service' : 'rpc'
  const only = chance(0.33) ? integer(7) : undefined
  const share = (group: number, most: number): number =>
    (only === undefined || only === group) && chance(0.7) ? between(0, most) : 0
  const tradingMs = pick([10_000, 20_000, 30_000])
  const plans = orders === 'plain' ? undefined : plansOf(seed)
  // It would end the trading that a plan is to be seen in.
  const company = orders === 'plain' || plans !== undefined ? NO_COMPANY : companyOf(seed)
  const scenario: Scenario = {
    seed,
    kind,
    bots: 1 + integer(2),
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
  const isTight = orders !== 'plain' && (plans !== undefined || tightOf(seed))
  return isTight
    ? { ...scenario, ...BUSY, requestsPerMinute: plans === undefined ? 5 : scenario.requestsPerMinute }
    : scenario
}

/** Enough is bought, and long enough, that the requests of a small plan run out. */
const BUSY = { bots: 2, mints: 3, tradingMs: 60_000, faultyMs: 60_000 }

function tightOf(seed: number): boolean {
  return draws(seed, 'tight plan').chance(0.25)
}

const NO_COMPANY = { share: 0, isAlone: false }
/** Many buys, and nothing that could keep a process from seeing for some seconds what happens. */
const NO_FAULTS = {
  ...{ requestsPerMinute: 100, tradingMs: 30_000, faultyMs: 30_000 },
  network: { lost: 0, slow: 0 },
  service: { odd: 0, refuses: 0, lands: 0, lies: 0 },
  rpc: { ill: 0, lies: 0 },
  chain: { forks: 0, strangers: 0, byHand: 0 },
} as const

// Drawn apart, so that it changes nothing of what else there is.

function conditionalsOf(seed: number): Scenario['conditionals'] {
  const { chance, between } = draws(seed, 'conditionals')
  return { areAsked: chance(0.6), stale: chance(0.3) ? between(0, 0.1) : 0 }
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
  return { share: pick([0.05, 0.1, 0.2]), changes: between(0, 0.1), strays: between(0, 0.15), failsFirst: chance(0.3) }
}

/** Alone, in most of the runs: what comes of it by itself is known to the second. */
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

/** Below 512 MiB the market is not recorded, below 128 MiB nothing is bought. */
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
