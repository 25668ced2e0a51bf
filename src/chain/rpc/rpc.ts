import type { Clock, Http, HttpResult } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import { kindOfRpcError, RPC_BEHIND, RPC_OTHER_CLUSTER, RPC_UNREACHABLE } from './rpc-errors.ts'

export interface RpcParts {
  readonly http: Http
  readonly clock: Clock
  /** URLs in order of preference. They are secrets, because providers put API keys into URLs, so no message may contain
   *  one. */
  readonly urls: readonly string[]
  /** Runs a call as soon as the rate limit of its provider allows it. */
  readonly pace: <T>(url: string, call: RpcCall, run: () => Promise<T>) => Promise<T>
  /** Timeout of one attempt, counted from the end of the rate-limit wait; default 10,000 ms. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 10_000
const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 60_000
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

/** Access to one chain over several RPC providers. */
export interface Rpcs {
  /** Asks the first provider that is not paused; after a failure, the next one. */
  readonly any: Rpc
  /** One entry per provider, in order of preference. */
  readonly each: readonly Rpc[]
  /** Numbers of calls to the providers, in the order of the providers in `each`. */
  readonly use: readonly RpcUse[]
  /** Sets the genesis hash of the expected chain. From then on each provider must report this hash before it receives
   *  any other call. */
  pin(genesis: string): void
}

/** Opens JSON-RPC access over several providers. It does not use @solana/web3.js, which retries on its own and reports
 *  landed transactions as expired. Retrying sendTransaction is safe, because the same bytes are the same
 *  transaction. */
export function openRpcs(parts: RpcParts): Rpcs {
  const providers = parts.urls.map((url, index) => new Provider(parts, url, `RPC ${index + 1}`))
  const ids = { next: 1 }
  const each = providers.map((provider) => rpcOf(provider, ids))
  return {
    any: inTurn(each),
    each,
    use: providers.map(({ use }) => use),
    pin: (genesis) => {
      for (const provider of providers) provider.pin(genesis)
    },
  }
}

/** For one provider, the number of calls that were sent to it, and the number of calls without a valid answer. */
export interface RpcUse {
  readonly calls: number
  readonly failures: number
}

export function openRpc(parts: RpcParts): Rpc {
  return openRpcs(parts).any
}

function rpcOf(provider: Provider, ids: { next: number }): Rpc {
  return async (method, params) => {
    const { name } = provider
    if (provider.isResting()) return { ok: false, code: RPC_UNREACHABLE, message: `${name} is paused after a failure` }
    const answer = await provider.ask({ method, params, id: ids.next++ })
    return typeof answer === 'string' ? { ok: false, code: RPC_UNREACHABLE, message: `${name}: ${answer}` } : answer
  }
}

/** Asks one node after the other until a node answers, or reports an error that every node would report. If no node
 *  does, returns one of the errors: preferably the error of a node that has not reached the requested slot, otherwise
 *  the first error that a node itself reported. */
export function inTurn(rpcs: readonly Rpc[]): Rpc {
  return async (method, params) => {
    const refusals: Extract<RpcResult, { ok: false }>[] = []
    for (const rpc of rpcs) {
      const answer = await rpc(method, params)
      if (answer.ok || kindOfRpcError(answer.code) === 'call') return answer
      refusals.push(answer)
    }
    const reported = refusals.find(({ code }) => code === RPC_BEHIND) ?? refusals.find(({ code }) => code < 0)
    const messages = refusals.map(({ message }) => message).join('; ')
    return reported ?? { ok: false, code: RPC_UNREACHABLE, message: messages || 'no RPC is configured' }
  }
}

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
  readonly id: number
}

/** State of one provider. */
class Provider {
  readonly name: string
  readonly use = { calls: 0, failures: 0 }
  readonly #parts: RpcParts
  readonly #url: string
  #restsUntil: Millis = 0
  #failures = 0
  /** Genesis hash of the expected chain; '' before the first call of `pin`. */
  #genesis = ''
  /** Genesis hash that the provider reported; '' if it has not reported one yet. */
  #served = ''

  constructor(parts: RpcParts, url: string, name: string) {
    this.#parts = parts
    this.#url = url
    this.name = name
  }

  isResting(): boolean {
    return this.#parts.clock.now() < this.#restsUntil
  }

  pin(genesis: string): void {
    this.#genesis = genesis
  }

  /** Sends a call to this provider. Returns the answer, or the reason to ask another provider. */
  async ask(call: RpcCall): Promise<RpcResult | string> {
    if (this.#genesis !== '' && this.#served === '') {
      const answer = await this.#ask({ method: 'getGenesisHash', params: [], id: call.id })
      if (typeof answer === 'string') return answer
      if (this.#served === '') return 'invalid answer to getGenesisHash'
    }
    if (this.#genesis === '' || this.#served === this.#genesis) return this.#ask(call)
    return { ok: false, code: RPC_OTHER_CLUSTER, message: `${this.name} serves another chain` }
  }

  async #ask(call: RpcCall): Promise<RpcResult | string> {
    const { method, params, id } = call
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    this.use.calls++
    const result = await this.#parts.pace(this.#url, call, () => this.#post(body))
    if (result.kind !== 'answered') return this.#fail(result.reason === '' ? result.kind : 'no answer')
    if (result.status === 429) return this.#fail('429, too many requests', retryAfterMs(result.headers))
    const answer = readAnswer(result.body, id)
    if (answer === undefined) return this.#fail(`the answer is not JSON-RPC, status ${result.status}`)
    if (!answer.ok && kindOfRpcError(answer.code) === 'ill') return this.#fail(`node error ${answer.code}`)
    this.#failures = 0
    if (method === 'getGenesisHash' && answer.ok && typeof answer.value === 'string') this.#served = answer.value
    return answer
  }

  /** Pauses the provider for `restMs`. By default, this time doubles with each consecutive failure. Returns `reason`.
   *  */
  #fail(reason: string, restMs = FIRST_REST_MS * 2 ** Math.min(this.#failures, 6)): string {
    this.#failures++
    this.use.failures++
    this.#restsUntil = this.#parts.clock.now() + Math.min(restMs, LONGEST_REST_MS)
    return reason
  }

  #post(body: string): Promise<HttpResult> {
    const { http, clock, timeoutMs = TIMEOUT_MS } = this.#parts
    return new Promise((resolve) => {
      const cancel = clock.after(timeoutMs, () => resolve({ kind: 'lost', reason: 'timeout' }))
      void http({ method: 'POST', url: this.#url, headers: HEADERS, body }).then((result) => {
        cancel()
        resolve(result)
      })
    })
  }
}

/** Reads the answer to a call; undefined if the body is not an answer to this call. */
function readAnswer(body: string, id: number): RpcResult | undefined {
  try {
    const answer = JSON.parse(body) as { id?: unknown; result?: unknown; error?: { code?: unknown; message?: unknown } }
    if (answer.error != null) {
      const { code, message } = answer.error
      return { ok: false, code: typeof code === 'number' ? code : 0, message: String(message ?? '').slice(0, 500) }
    }
    return answer.id === id && 'result' in answer ? { ok: true, value: answer.result } : undefined
  } catch {
    return undefined
  }
}

function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const seconds = headers['retry-after']
  return seconds !== undefined && /^\d{1,4}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
}

/** Deadline in ms for all checks of one transaction together. It applies if there are several nodes, and at least one
 *  of them has not missed this deadline recently. */
const PROMPT_MS = 5000
/** Deadline if there is only one node, or if every node has missed the deadline PROMPT_MS. A longer deadline would be
 *  useless, because the blockhash of the transaction has expired by then. */
const LONGEST_MS = 60000
/** A node that was slow becomes the first choice again after this time. */
const FORGIVEN_MS = 60000

/** RPC access for the checks of one transaction. */
export interface CheckRpc {
  /** Calls fail from the deadline on, including those in flight. A check that has not finished by then does not
   *  pass. */
  readonly rpc: Rpc
  /** Ends the checks and cancels the deadline. */
  readonly end: () => void
}

/** Chooses the order in which the checks of a transaction ask the nodes. A slow node may answer each call just in time
 *  and still delay all checks together by a minute. The checks of a transaction therefore share one deadline. After a
 *  missed deadline, the next checks start with the next node. */
export class CheckRpcs {
  readonly #nodes: readonly Rpc[]
  readonly #clock: Clock
  /** `#slow` is the number of missed deadlines, and `#slowAt` the time of the last one. */
  #slow = 0
  #slowAt: Millis = Number.NEGATIVE_INFINITY

  /** `nodes`: RPC nodes in order of preference. */
  constructor(nodes: readonly Rpc[], clock: Clock) {
    this.#nodes = nodes
    this.#clock = clock
  }

  begin(): CheckRpc {
    const { length } = this.#nodes
    if (this.#clock.now() - this.#slowAt > FORGIVEN_MS) this.#slow = 0
    const turn = this.#slow
    const limitMs = length > 1 && turn < length ? PROMPT_MS : LONGEST_MS
    const late: RpcResult = {
      ...{ ok: false, code: RPC_UNREACHABLE },
      message: `the checks took longer than ${limitMs / 1000} s`,
    }
    let isOver = false
    let end = (): void => {}
    const deadline = new Promise<RpcResult>((resolve) => {
      end = this.#clock.after(limitMs, () => {
        isOver = true
        this.#found(turn)
        resolve(late)
      })
    })
    const rotated = this.#nodes.map((_, index) => this.#nodes[(turn + index) % length] as Rpc)
    const ask = inTurn(
      rotated.map(
        (node): Rpc =>
          (...call) =>
            isOver ? Promise.resolve(late) : node(...call),
      ),
    )
    return { rpc: (...call) => Promise.race([ask(...call), deadline]), end }
  }

  /** Moves on to the next node after checks have missed their deadline. `turn`: the node with which these checks
   *  started. Several checks that started with the same node count only once. */
  #found(turn: number): void {
    if (turn !== this.#slow) return
    this.#slow++
    this.#slowAt = this.#clock.now()
  }
}

/** One JSON-RPC call to the chain; never throws. */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<RpcResult>
export type RpcResult = { ok: true; value: unknown } | { ok: false; code: number; message: string }
