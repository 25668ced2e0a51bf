import { CLOCK_SYSVAR } from '../../solana/programs.ts'
import type { Ledger } from '../chain/ledger.ts'
import type { Faults } from '../faults.ts'
import { type Answer, json } from '../service/answers.ts'
import type { Handle } from '../service/http.ts'
import { rpcMethods } from './methods.ts'
import { RpcError } from './params.ts'
import { sendMethods } from './send.ts'

const MAX_IN_BATCH = 100
const USUAL_LAG_SLOTS = 20
const USUAL_AGE_MS = 15_000
const BLOCK_NOT_AVAILABLE = -32004
/** Age, in slots, at which a blockhash is certainly not among the last 151 and has expired. */
const EXPIRED_AFTER_SLOTS = 200
const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

interface Call {
  id: unknown
  method: string
  params: unknown[]
}

/** Handles JSON-RPC 2.0 over POST, in single and batched calls, with the methods and error numbers of a Solana node. */
export function rpcEndpoint(ledger: Ledger, faults: Faults): Handle {
  const methods = { ...rpcMethods(ledger), ...sendMethods(ledger, faults) }

  const call = (value: unknown): object => {
    const parsed = parseCall(value)
    if (!parsed) return { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: null }
    const { id, method, params } = parsed
    try {
      const run = Object.hasOwn(methods, method) ? methods[method] : undefined
      if (!run) throw new RpcError(-32601, 'Method not found')
      if (method === 'getGenesisHash' && faults.strike('otherCluster'))
        return { jsonrpc: '2.0', result: MAINNET_GENESIS, id }
      const result = ledger.lagging(lagSlots(method, faults), () => run(params))
      return { jsonrpc: '2.0', result: timed(ledger, faults, { id, method, params }, result), id }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      const { code, message, data } = error
      return { jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id }
    }
  }

  return ({ method, body }) => {
    if (method !== 'POST') return { status: 405, body: 'Used HTTP Method is not allowed. POST is required' }
    const failure = faults.strike('rpcError', body)
    if (failure) return failed(failure.status ?? 503)
    return answer(body, call)
  }
}

function failed(status: number): Answer {
  if (status === 429) {
    const error = { code: 429, message: 'Too many requests for a specific RPC call' }
    return { ...json(status, { jsonrpc: '2.0', error, id: null }), headers: { 'retry-after': '1' } }
  }
  return { status, body: 'Service unavailable', headers: { 'content-type': 'text/plain' } }
}

/** Returns the result after applying the faults that hide or falsify block times. */
function timed(ledger: Ledger, faults: Faults, { method, params }: Call, result: unknown): unknown {
  const isClock = method === 'getMultipleAccounts' && (params[0] as unknown[])[0] === CLOCK_SYSVAR
  if (method !== 'getBlockTime' && !isClock) return result
  const fault = faults.strike('noBlockTime', method)
  if (fault !== undefined && isClock && fault.slots === undefined) {
    const { value, ...rest } = result as { value: unknown[] }
    return { ...rest, value: value.map((account, index) => (index === 0 ? null : account)) }
  }
  const slot = params[0] as number
  if (fault !== undefined && !isClock && slot > ledger.head('processed').slot - (fault.slots ?? slot + 1))
    throw new RpcError(BLOCK_NOT_AVAILABLE, `Block not available for slot ${slot}`)
  const old = isClock ? undefined : faults.strike('oldBlockTime', method)
  return old === undefined ? result : (result as number) - Math.round((old.ms ?? USUAL_AGE_MS) / 1_000)
}

/** Number of slots by which the answer to this call lags. */
function lagSlots(method: string, faults: Faults): number {
  const lag = faults.strike('rpcLag', method)
  if (lag) return lag.slots ?? USUAL_LAG_SLOTS
  const stale = method === 'getLatestBlockhash' ? faults.strike('staleBlockhash') : undefined
  return stale ? (stale.slots ?? EXPIRED_AFTER_SLOTS) : 0
}

function answer(body: string, call: (value: unknown) => object): Answer {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return json(200, { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' }, id: null })
  }
  if (!Array.isArray(value)) return json(200, call(value))
  if (value.length === 0 || value.length > MAX_IN_BATCH) return json(200, call(undefined))
  return json(200, value.map(call))
}

function parseCall(value: unknown): Call | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { jsonrpc, id = null, method, params = [] } = value as Record<string, unknown>
  return jsonrpc === '2.0' && typeof method === 'string' && Array.isArray(params) ? { id, method, params } : undefined
}
