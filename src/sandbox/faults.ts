import { type Draws, draws } from './draws.ts'

/** What can go wrong, and where it shows. */
export const FAULT_KINDS = {
  /** REST: the connection is cut before anything is executed. */
  dropBefore: 'request',
  /** REST: executed, then the connection is cut instead of an answer. */
  dropAfter: 'request',
  /** REST: executed, answered `ms` later. */
  delay: 'request',
  /** REST: 429 although the limit has room. */
  rateLimit: 'request',
  /** REST: `status` (default 500) with a body that is no JSON; `executed` says whether the trade was made. */
  serverError: 'request',
  /** REST: 403 without a code, as for a resource outside the plan. */
  planRefused: 'request',
  /** The trade's answer has a signature, but the network loses the transaction. */
  notLanded: 'chain',
  /** The transaction lands and fails; fees are paid. */
  reverted: 'chain',
  /** A fork takes a confirmed transaction back; it lands again after `slots`, or never. */
  fork: 'chain',
  /** RPC: `status` (default 503). */
  rpcError: 'request',
  /** RPC: sendTransaction answers with the signature, and nothing is sent on. */
  sendDropped: 'request',
  /** RPC: the node is `slots` (default 20) behind. `target`: only for methods whose name has it. */
  rpcLag: 'request',
  /** RPC: no block time of the newest `slots` (default of any); without `slots` no clock account either. */
  noBlockTime: 'request',
  /** RPC: block times are `ms` (default 15,000) old. */
  oldBlockTime: 'request',
  /** RPC: the newest blockhash is `slots` (default 200, so expired) old. */
  staleBlockhash: 'request',
  /** Builder: a transaction whose blockhash is `slots` (default 200, so expired) old. */
  builtStale: 'request',
  /** Builder: a `lastValidBlockHeight` that cannot be. */
  builtHeight: 'request',
  /** Builder: an answer without a transaction. */
  builtGarbage: 'request',
  /**
   * Builder: a transaction that steals; `attack` is one of BUILD_ATTACKS (hostile-build.ts), and `theft` what its
   * opaque program does from the next block on: one of ATTACKS (hostile-program.ts).
   */
  builtHostile: 'request',
  /** RPC: the genesis hash is mainnet's. */
  otherCluster: 'request',
  /** Stream: nothing at all arrives for `ms`, pongs included. */
  silence: 'now',
  /** Stream: every connection is cut without a word. */
  disconnect: 'now',
  /** Stream: the event comes twice. */
  duplicate: 'event',
  /** Stream: the event comes after the one that follows it. */
  reorder: 'event',
  /** Stream: a frame that fits nothing comes first. */
  garbage: 'event',
  /** Stream: a new connection is told CONNECTION_LIMIT and closed. */
  connectionLimit: 'event',
  /** The key of `plan` (default standard) is deleted: 401, and its connections end; a new one replaces it. */
  keyRevoked: 'now',
} as const

export type FaultKind = keyof typeof FAULT_KINDS

export interface Fault {
  kind: FaultKind
  /** How often it strikes; default once. */
  count?: number
  /** The chance that it strikes at an opportunity, 0 to 1; default 1. */
  probability?: number
  /** Only where this is part of the path ("/trade/buy") or of the RPC method's name. */
  target?: string
  ms?: number
  status?: number
  executed?: boolean
  slots?: number
  plan?: string
  attack?: string
  theft?: string
}

/** Faults that were asked for and have not yet struck. */
export class Faults {
  readonly #draws: Draws
  readonly #listeners: ((fault: Fault) => void)[] = []
  #set: Required<Pick<Fault, 'kind' | 'count' | 'probability'>>[] = []

  constructor(seed: number) {
    this.#draws = draws(seed, 'faults')
  }

  /** Those of kind `now` strike at once, the others at their next opportunities. */
  set(fault: Fault): void {
    if (FAULT_KINDS[fault.kind] === 'now') for (const listener of this.#listeners) listener(fault)
    else this.#set.push({ count: 1, probability: 1, ...fault })
  }

  /** What is left to strike. */
  get active(): readonly Fault[] {
    return this.#set
  }

  clear(): void {
    this.#set = []
  }

  /** An opportunity for a fault of this kind: the fault if it strikes, counted down. */
  strike(kind: FaultKind, target = ''): Fault | undefined {
    if (this.#set.length === 0) return undefined
    const fault = this.#set.find(
      (candidate: Fault) => candidate.kind === kind && target.includes(candidate.target ?? ''),
    )
    if (!fault || (fault.probability < 1 && !this.#draws.chance(fault.probability))) return undefined
    if (--fault.count <= 0) this.#set = this.#set.filter((other) => other !== fault)
    return fault
  }

  /** For faults of kind `now`. */
  onNow(listener: (fault: Fault) => void): void {
    this.#listeners.push(listener)
  }
}

const FIELDS = {
  count: 'number',
  probability: 'number',
  target: 'string',
  ms: 'number',
  status: 'number',
  executed: 'boolean',
  slots: 'number',
  plan: 'string',
  attack: 'string',
  theft: 'string',
}

/** A fault as the control endpoint gets it; a text says what is wrong with it. */
export function parseFault(value: unknown): Fault | string {
  if (typeof value !== 'object' || value === null)
    return 'a fault is an object such as {"kind": "delay", "ms": 2000, "count": 3}'
  const fields = value as Record<string, unknown>
  if (!Object.hasOwn(FAULT_KINDS, String(fields.kind))) return `kind is one of ${Object.keys(FAULT_KINDS).join(', ')}`
  for (const [field, type] of Object.entries(FIELDS)) {
    if (fields[field] !== undefined && typeof fields[field] !== type) return `${field} is a ${type}`
  }
  return value as Fault
}
