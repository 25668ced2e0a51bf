import { isPublicKey } from '../../solana/base58.ts'

/** HTTPS endpoints of the service. Each endpoint has its own version, because the service changes the endpoints
 *  independently. */
export const ENDPOINTS = {
  buy: { method: 'POST', path: '/trade/buy', version: 1 },
  sell: { method: 'POST', path: '/trade/sell', version: 1 },
  tokenInfo: { method: 'GET', path: '/token/info', version: 1 },
  portfolio: { method: 'GET', path: '/portfolio', version: 1 },
  buildBuy: { method: 'POST', path: '/transaction/buy', version: 1 },
  buildSell: { method: 'POST', path: '/transaction/sell', version: 1 },
} as const satisfies Record<string, EndpointRow>

/** Path of the WebSocket feed. */
export const STREAM_PATH = '/api/data'

interface EndpointRow {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Version of the endpoint. 1 has no prefix in the path; 2 has the prefix /v2. */
  readonly version: number
}

export type Endpoint = keyof typeof ENDPOINTS

/** Returns the URL of an endpoint. The path is appended to `baseUrl`, which ends in /api, because resolving an absolute
 *  path would drop that ending. `key` is the mint or wallet at the end of the path. Throws RangeError if it is not a
 *  key of 32 bytes. */
export function urlOf(baseUrl: string, endpoint: Endpoint, key?: string): string {
  return join(baseUrl, ENDPOINTS[endpoint], key)
}

/** Returns the URL of an endpoint with this path and version. `key`: public key that is appended to the path. */
export function join(baseUrl: string, { path, version }: EndpointRow, key?: string): string {
  if (key !== undefined && !isPublicKey(key)) throw new RangeError(`not a public key: ${key}`)
  const prefix = version === 1 ? '' : `/v${version}`
  return `${baseUrl.replace(/\/+$/, '')}${prefix}${path}${key === undefined ? '' : `/${key}`}`
}

/** Returns the headers of every HTTPS request. */
export function headersOf(apiKey: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' }
}
