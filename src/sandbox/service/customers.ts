import { encodeBase58 } from '../../solana/base58.ts'
import type { Dialect } from '../dialect.ts'
import { digest } from '../keys.ts'
import type { Records } from '../records.ts'

export type PlanName = 'standard' | 'premium' | 'enterprise'

/** The document's table of limits; its Enterprise numbers are "custom". */
export interface Plan {
  name: PlanName
  requestsPerMinute: number
  connections: number
  messagesPerSecond: number
  maxBuySol: number
}

const PLANS: Readonly<Record<PlanName, Plan>> = {
  standard: { name: 'standard', requestsPerMinute: 100, connections: 5, messagesPerSecond: 50, maxBuySol: 100 },
  premium: { name: 'premium', requestsPerMinute: 1_000, connections: 20, messagesPerSecond: 200, maxBuySol: 100 },
  enterprise: {
    name: 'enterprise',
    requestsPerMinute: 5_000,
    connections: 100,
    messagesPerSecond: 1_000,
    maxBuySol: 500,
  },
}

export const PLAN_NAMES = Object.keys(PLANS) as PlanName[]

export type ApiKeys = Record<PlanName, string>

/** Limits belong to the customer, whatever the number of his keys. */
export interface Customer {
  userId: string
  plan: Plan
  window: RequestWindow
  /** Open streaming connections. */
  connections: number
}

const KEYS = 'keys'

/** One customer a plan, each with one key. The keys survive with the chain. */
export class Customers {
  /** The present keys: replaced when one is revoked. */
  readonly apiKeys: ApiKeys
  readonly #records: Records
  readonly #customers: Map<PlanName, Customer>

  constructor(genesisHash: string, dialect: Dialect, records: Records) {
    this.#records = records
    this.apiKeys = records.read<ApiKeys>('secret').get(KEYS) ?? firstKeys(genesisHash)
    this.#customers = new Map(PLAN_NAMES.map((name) => [name, customer(name, dialect)]))
    this.#save()
  }

  byKey(apiKey: string): Customer | undefined {
    const name = PLAN_NAMES.find((plan) => this.apiKeys[plan] === apiKey)
    return name && this.#customers.get(name)
  }

  /** Deletes a plan's key and makes a new one for the same customer, who is returned. */
  revoke(name: PlanName): Customer {
    this.apiKeys[name] = apiKey(name, this.apiKeys[name])
    this.#save()
    return this.#customers.get(name)!
  }

  #save(): void {
    this.#records.write([{ kind: 'secret', key: KEYS, body: this.apiKeys }])
  }
}

function customer(name: PlanName, dialect: Dialect): Customer {
  const plan = PLANS[name]
  return { userId: `user-${name}`, plan, window: requestWindow(plan.requestsPerMinute, dialect), connections: 0 }
}

function firstKeys(genesisHash: string): ApiKeys {
  return Object.fromEntries(PLAN_NAMES.map((name) => [name, apiKey(name, genesisHash)])) as ApiKeys
}

function apiKey(name: PlanName, source: string): string {
  return `${name}-${encodeBase58(digest('api key ', name, source)).slice(0, 24)}`
}

/** A request's place in the limit. `resetMs`: until a further one may be accepted. */
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

/** At most `limit` requests a minute, by arrival. */
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
      // With refused ones counted, the oldest that must leave is further back.
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
