import { encodeBase58 } from '../core/base58.ts'
import { digest } from './addresses.ts'
import type { Dialect } from './dialect.ts'
import type { Records } from './records.ts'
import { type RequestWindow, requestWindow } from './request-window.ts'

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
