import { LAMPORTS_PER_SOL } from '../../base/units.ts'
import type { ServedInterface } from '../../orders/served-interface.ts'
import { encodeBase58 } from '../../solana/base58.ts'
import type { Dialect } from '../dialect.ts'
import { digest } from '../keys.ts'
import type { Records } from '../records.ts'

/** Limits of a plan. */
export interface Plan {
  name: PlanName
  requestsPerMinute: number
  connections: number
  messagesPerSecond: number
  maxBuySol: number
}

export const PLAN_NAMES = ['standard', 'premium', 'enterprise'] as const
export type PlanName = (typeof PLAN_NAMES)[number]

/** Limits of the Enterprise plan. The document calls them "custom", so these numbers are chosen for the sandbox. */
const ENTERPRISE: Plan = {
  name: 'enterprise',
  requestsPerMinute: 5_000,
  connections: 100,
  messagesPerSecond: 1_000,
  maxBuySol: 500,
}

export type ApiKeys = Record<PlanName, string>

/** A customer of the service. The limits of the plan apply to the customer, regardless of the number of keys. */
export interface Customer {
  userId: string
  plan: Plan
  window: RequestWindow
  /** Number of open WebSocket connections. */
  connections: number
}

const KEYS = 'keys'

/** Holds one customer with one key for each plan. The keys are saved together with the chain. */
export class Customers {
  /** The present key of each plan; a new key replaces a revoked one. */
  readonly apiKeys: ApiKeys
  readonly #records: Records
  readonly #customers: Map<PlanName, Customer>

  constructor(genesisHash: string, dialect: Dialect, records: Records, published: ServedInterface['plans']) {
    this.#records = records
    this.apiKeys = records.read<ApiKeys>('secret').get(KEYS) ?? firstKeys(genesisHash)
    this.#customers = new Map(PLAN_NAMES.map((name) => [name, customer(planOf(name, published), dialect)]))
    this.#save()
  }

  byKey(apiKey: string): Customer | undefined {
    const name = PLAN_NAMES.find((plan) => this.apiKeys[plan] === apiKey)
    return name && this.#customers.get(name)
  }

  /** Revokes the key of a plan, creates a new one, and returns the customer of the plan. */
  revoke(name: PlanName): Customer {
    this.apiKeys[name] = apiKey(name, this.apiKeys[name])
    this.#save()
    return this.#customers.get(name)!
  }

  #save(): void {
    this.#records.write([{ kind: 'secret', key: KEYS, body: this.apiKeys }])
  }
}

function planOf(name: PlanName, published: ServedInterface['plans']): Plan {
  const known = published.find((plan) => plan.name.toLowerCase() === name)
  if (known === undefined) return { ...ENTERPRISE, name }
  const { maxBuyLamports, ...numbers } = known
  return { ...numbers, name, maxBuySol: maxBuyLamports / LAMPORTS_PER_SOL }
}

function customer(plan: Plan, dialect: Dialect): Customer {
  return { userId: `user-${plan.name}`, plan, window: requestWindow(plan.requestsPerMinute, dialect), connections: 0 }
}

function firstKeys(genesisHash: string): ApiKeys {
  return Object.fromEntries(PLAN_NAMES.map((name) => [name, apiKey(name, genesisHash)])) as ApiKeys
}

function apiKey(name: PlanName, source: string): string {
  return `${name}-${encodeBase58(digest('api key ', name, source)).slice(0, 24)}`
}

/** Result of counting a request. `resetMs`: time in ms until another request may be accepted. */
export interface Admission {
  accepted: boolean
  limit: number
  remaining: number
  resetMs: number
}

export interface RequestWindow {
  admit(now: number): Admission
}

const WINDOW_MS = 60000

/** Creates a window that accepts at most `limit` requests a minute, counted by their arrival times. */
export function requestWindow(
  limit: number,
  { window, refusedCount }: Pick<Dialect, 'window' | 'refusedCount'>,
): RequestWindow {
  const countsRefused = refusedCount === 'yes'
  return window === 'sliding' ? slidingWindow(limit, countsRefused) : fixedWindow(limit, countsRefused)
}

function slidingWindow(limit: number, countsRefused: boolean): RequestWindow {
  const arrivals: number[] = []
  return {
    admit(now) {
      while (arrivals.length > 0 && arrivals[0]! <= now - WINDOW_MS) arrivals.shift()
      const accepted = arrivals.length < limit
      if (accepted || countsRefused) arrivals.push(now)
      // The next request is accepted when a certain earlier request is a minute old. If refused requests count too,
      // there can be more requests than the limit, so this request is not always the oldest.
      const blocking = arrivals[Math.max(0, arrivals.length - limit)] ?? now
      return {
        accepted,
        limit,
        remaining: Math.max(0, limit - arrivals.length),
        resetMs: Math.max(0, blocking + WINDOW_MS - now),
      }
    },
  }
}

function fixedWindow(limit: number, countsRefused: boolean): RequestWindow {
  let minute = -1
  let count = 0
  return {
    admit(now) {
      const current = Math.floor(now / WINDOW_MS)
      if (current !== minute) {
        minute = current
        count = 0
      }
      const accepted = count < limit
      if (accepted || countsRefused) count++
      return { accepted, limit, remaining: Math.max(0, limit - count), resetMs: (current + 1) * WINDOW_MS - now }
    },
  }
}
