import { type Draws, draws } from './draws.ts'

/** Kinds of faults, each with the kind of event at which it strikes. */
export const FAULT_KINDS = {
  /** REST: the connection is closed before the request is executed. */
  dropBefore: 'request',
  /** REST: the request is executed, then the connection is closed without an answer. */
  dropAfter: 'request',
  /** REST: the request is executed and answered `ms` later. */
  delay: 'request',
  /** REST: the answer is 429 although the limit is not reached. */
  rateLimit: 'request',
  /** REST: the answer has `status` (default 500) and a body that is not JSON. `executed`: whether the trade is executed
   *  before the error. */
  serverError: 'request',
  /** REST: the answer is 403 without a code, as for a resource that the plan does not include. */
  planRefused: 'request',
  /** The trade's answer has a signature, but its transaction never lands. */
  notLanded: 'chain',
  /** The transaction lands and fails, but its fees are paid. */
  reverted: 'chain',
  /** A fork reverts a confirmed transaction. It lands again after `slots` slots, or never if `slots` is absent. */
  fork: 'chain',
  /** RPC: the answer has the HTTP status `status` (default 503). */
  rpcError: 'request',
  /** RPC: sendTransaction answers with the signature but does not forward the transaction. */
  sendDropped: 'request',
  /** RPC: the node lags by `slots` slots (default 20). `target` restricts the fault to methods with this text in their
   *  name. */
  rpcLag: 'request',
  /** RPC: the node knows no block time for the newest `slots` slots (default: all). Without `slots` the clock account
   *  is missing too. */
  noBlockTime: 'request',
  /** RPC: the block times are too old by `ms` milliseconds (default 15,000). */
  oldBlockTime: 'request',
  /** RPC: the reported newest blockhash is `slots` slots old (default 200, so that it has expired). */
  staleBlockhash: 'request',
  /** Builder: the transaction's blockhash is `slots` slots old (default 200, so that it has expired). */
  builtStale: 'request',
  /** Builder: the answer has an impossible `lastValidBlockHeight`. */
  builtHeight: 'request',
  /** Builder: the answer contains no transaction. */
  builtGarbage: 'request',
  /** Builder: the transaction is malicious. `attack` is one of BUILD_ATTACKS (hostile-build.ts). With the attack
   *  `opaque program`, `theft` is one of ATTACKS (hostile-program.ts), which the program executes from the next block
   *  on. */
  builtHostile: 'request',
  /** RPC: the genesis hash is that of mainnet. */
  otherCluster: 'request',
  /** Stream: no message is sent for `ms`, not even pongs. */
  silence: 'now',
  /** Stream: every connection is closed without a last message. */
  disconnect: 'now',
  /** Stream: the event is sent twice. */
  duplicate: 'event',
  /** Stream: the event is sent after its successor. */
  reorder: 'event',
  /** Stream: an invalid frame is sent before the event. */
  garbage: 'event',
  /** Stream: a new connection receives CONNECTION_LIMIT and is closed. */
  connectionLimit: 'event',
  /** The key of `plan` (default standard) is revoked: requests with it receive 401, its connections are closed, and a
   *  new key replaces it. */
  keyRevoked: 'now',
} as const

export type FaultKind = keyof typeof FAULT_KINDS

export interface Fault {
  kind: FaultKind
  /** Number of times that the fault strikes; default 1. */
  count?: number
  /** Probability that the fault strikes at a matching event, 0 to 1; default 1. */
  probability?: number
  /** Restricts the fault to REST paths ("/trade/buy") or RPC methods that contain this text. */
  target?: string
  ms?: number
  status?: number
  executed?: boolean
  slots?: number
  plan?: string
  attack?: string
  theft?: string
}

/** Faults that were requested and have not struck yet. */
export class Faults {
  readonly #draws: Draws
  readonly #listeners: ((fault: Fault) => void)[] = []
  #set: Required<Pick<Fault, 'kind' | 'count' | 'probability'>>[] = []

  constructor(seed: number) {
    this.#draws = draws(seed, 'faults')
  }

  /** Adds a fault. Faults of kind `now` strike immediately, the others at their next matching event. */
  set(fault: Fault): void {
    if (FAULT_KINDS[fault.kind] === 'now') for (const listener of this.#listeners) listener(fault)
    else this.#set.push({ count: 1, probability: 1, ...fault })
  }

  /** Faults that have not struck yet. */
  get active(): readonly Fault[] {
    return this.#set
  }

  clear(): void {
    this.#set = []
  }

  /** Called at each event of a kind. Returns the fault that strikes at this event, and counts the strike; undefined if
   *  no fault strikes. */
  strike(kind: FaultKind, target = ''): Fault | undefined {
    if (this.#set.length === 0) return undefined
    const fault = this.#set.find(
      (candidate: Fault) => candidate.kind === kind && target.includes(candidate.target ?? ''),
    )
    if (!fault || (fault.probability < 1 && !this.#draws.chance(fault.probability))) return undefined
    if (--fault.count <= 0) this.#set = this.#set.filter((other) => other !== fault)
    return fault
  }

  /** Registers a listener for faults of kind `now`. */
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

/** Parses a fault from a request to the control endpoint. Returns a text with the problem if it is invalid. */
export function parseFault(value: unknown): Fault | string {
  if (typeof value !== 'object' || value === null)
    return 'a fault must be an object such as {"kind": "delay", "ms": 2000, "count": 3}'
  const fields = value as Record<string, unknown>
  if (!Object.hasOwn(FAULT_KINDS, String(fields.kind)))
    return `kind must be one of ${Object.keys(FAULT_KINDS).join(', ')}`
  for (const [field, type] of Object.entries(FIELDS)) {
    if (fields[field] !== undefined && typeof fields[field] !== type) return `${field} must be a ${type}`
  }
  return value as Fault
}
