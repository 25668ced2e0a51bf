import type { SellAmount } from '../../core/asked-trade.ts'
import { formatSol, type Lamports } from '../../core/units.ts'

/** What the client says on the socket. */
export const messages = {
  /** The only one that holds a secret: never logged, never recorded. */
  authenticate: (apiKey: string): string => JSON.stringify({ method: 'authenticate', apiKey }),
  subscribe: (keys: readonly string[]): string => JSON.stringify({ method: 'subscribe', keys }),
  unsubscribe: (keys: readonly string[]): string => JSON.stringify({ method: 'unsubscribe', keys }),
  ping: (): string => '{"method":"ping"}',
}

/** Body of POST /trade/buy. */
export interface BuyRequest {
  readonly publicKey: string
  readonly mint: string
  readonly lamports: Lamports
  readonly slippagePercent: number
  /** null: the service chooses. */
  readonly priorityFeeLamports: Lamports | null
}

/** Body of POST /trade/sell. */
export interface SellRequest {
  readonly publicKey: string
  readonly mint: string
  readonly amount: SellAmount
  readonly slippagePercent: number
  readonly priorityFeeLamports: Lamports | null
}

export function buyBody(request: BuyRequest): string {
  return object([
    ['publicKey', JSON.stringify(request.publicKey)],
    ['mint', JSON.stringify(request.mint)],
    ['amount', formatSol(request.lamports)],
    ...terms(request),
  ])
}

export function sellBody(request: SellRequest): string {
  const { amount } = request
  return object([
    ['publicKey', JSON.stringify(request.publicKey)],
    ['mint', JSON.stringify(request.mint)],
    ['amount', sellAmount(amount)],
    ...terms(request),
    ['sellAll', String(amount.kind === 'all')],
  ])
}

function sellAmount(amount: SellAmount): string {
  if (amount.kind === 'number') return amount.decimal
  return JSON.stringify(amount.kind === 'all' ? '100%' : `${plainDecimal(amount.percent)}%`)
}

/** Slippage always stands there: the service's own default is not ours. */
function terms(request: BuyRequest | SellRequest): [string, string][] {
  const slippage: [string, string] = ['slippage', plainDecimal(request.slippagePercent)]
  const fee = request.priorityFeeLamports
  return fee === null ? [slippage] : [slippage, ['priorityFee', formatSol(fee)]]
}

/** Values are JSON already: an amount goes from integers to text without ever being a float. */
function object(fields: readonly [string, string][]): string {
  return `{${fields.map(([name, json]) => `"${name}":${json}`).join(',')}}`
}

/** Without exponent, at most 9 places. */
export function plainDecimal(value: number): string {
  const text = value.toFixed(9).replace(/\.?0+$/, '')
  return text === '-0' ? '0' : text
}

/** Base units as whole tokens, every digit of them. */
export function tokenDecimal(tokens: bigint, decimals: number): string {
  const digits = tokens.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
}
