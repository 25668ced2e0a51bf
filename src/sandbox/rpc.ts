import { type Answer, json } from './answers.ts'
import type { Faults } from './faults.ts'
import type { Handle } from './http.ts'
import type { Ledger } from './ledger.ts'
import { rpcMethods } from './rpc-methods.ts'
import { RpcError } from './rpc-params.ts'

const MOST_IN_BATCH = 100

interface Call {
  id: unknown
  method: string
  params: unknown[]
}

/** JSON-RPC 2.0 over POST, single and batched, with the methods and error numbers of a Solana node. */
export function rpcEndpoint(ledger: Ledger, faults: Faults): Handle {
  const methods = rpcMethods(ledger)

  const call = (value: unknown): object => {
    const parsed = parseCall(value)
    if (!parsed) return { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: null }
    const { id, method, params } = parsed
    try {
      const run = Object.hasOwn(methods, method) ? methods[method] : undefined
      if (!run) throw new RpcError(-32601, 'Method not found')
      return { jsonrpc: '2.0', result: run(params), id }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      const { code, message, data } = error
      return { jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id }
    }
  }

  return ({ method, body }) => {
    if (method !== 'POST') return { status: 405, body: 'Used HTTP Method is not allowed. POST is required' }
    const failure = faults.strike('rpcError', body)
    if (failure)
      return { status: failure.status ?? 503, body: 'Service unavailable', headers: { 'content-type': 'text/plain' } }
    return answer(body, call)
  }
}

function answer(body: string, call: (value: unknown) => object): Answer {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return json(200, { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' }, id: null })
  }
  if (!Array.isArray(value)) return json(200, call(value))
  if (value.length === 0 || value.length > MOST_IN_BATCH) return json(200, call(undefined))
  return json(200, value.map(call))
}

function parseCall(value: unknown): Call | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { jsonrpc, id = null, method, params = [] } = value as Record<string, unknown>
  return jsonrpc === '2.0' && typeof method === 'string' && Array.isArray(params) ? { id, method, params } : undefined
}
