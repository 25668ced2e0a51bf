import { formatSol, type Lamports, solToLamports } from '../../../base/units.ts'
import type { AskedTrade, SellAmount } from '../../../orders/trade-request.ts'
import { isPublicKey } from '../../../solana/base58.ts'
import type { ReadRequest } from '../../venue.ts'

/** Messages that the client sends on the WebSocket. */
export const messages = {
  /** The only message that contains a secret. It is never logged or recorded. */
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
  /** Priority fee in lamports; null if the service is to choose it. */
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

/** Formats slippage and priority fee. The slippage is always sent, because the service's default differs from ours. */
function terms(request: BuyRequest | SellRequest): [string, string][] {
  const slippage: [string, string] = ['slippage', plainDecimal(request.slippagePercent)]
  const fee = request.priorityFeeLamports
  return fee === null ? [slippage] : [slippage, ['priorityFee', formatSol(fee)]]
}

/** Builds a JSON object from values that are already JSON. An amount can therefore be formatted from integers without a
 *  conversion to a float. */
function object(fields: readonly [string, string][]): string {
  return `{${fields.map(([name, json]) => `"${name}":${json}`).join(',')}}`
}

/** Formats a number without an exponent, with at most 9 decimals. */
export function plainDecimal(value: number): string {
  const text = value.toFixed(9).replace(/\.?0+$/, '')
  return text === '-0' ? '0' : text
}

/** Formats base units as whole tokens without rounding. */
export function tokenDecimal(tokens: bigint, decimals: number): string {
  const digits = tokens.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
}

/** Slippage that the service uses, according to its document, if a request contains none. */
const DEFAULT_SLIPPAGE_PERCENT = 10
const KNOWN = new Set(['side', 'publicKey', 'mint', 'amount', 'slippage', 'priorityFee', 'sellAll'])

/** Parses the body of a trade request with `side` added, for comparison with the transaction that was built for it. */
export function readRequest(text: string): ReadRequest {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { ok: false, problem: 'no JSON' }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { ok: false, problem: 'no JSON object' }
  const fields = body as Record<string, unknown>
  const stranger = Object.keys(fields).find((key) => !KNOWN.has(key))
  if (stranger !== undefined) return { ok: false, problem: `unknown field ${JSON.stringify(stranger.slice(0, 40))}` }
  const { side, publicKey, mint, slippage = DEFAULT_SLIPPAGE_PERCENT, priorityFee } = fields
  if (side !== 'buy' && side !== 'sell') return { ok: false, problem: 'side has to be "buy" or "sell"' }
  if (!isPublicKey(publicKey)) return { ok: false, problem: 'publicKey must be a base58 key of 32 bytes' }
  if (!isPublicKey(mint)) return { ok: false, problem: 'mint must be a base58 key of 32 bytes' }
  if (!isNumber(slippage) || slippage <= 0 || slippage > 100)
    return { ok: false, problem: 'slippage must be a number above 0 and at most 100' }
  const fee = feeOf(priorityFee)
  if (fee === undefined) return { ok: false, problem: 'priorityFee must be a number of SOL' }
  const terms = { wallet: publicKey, mint, slippagePercent: slippage, priorityFeeLamports: fee }
  return side === 'buy' ? readBuy(fields, terms) : readSell(fields, terms)
}

type Terms = Omit<Extract<AskedTrade, { side: 'buy' }>, 'side' | 'lamports'>

function readBuy({ amount, sellAll }: Record<string, unknown>, terms: Terms): ReadRequest {
  if (sellAll !== undefined) return { ok: false, problem: 'sellAll is not allowed in a buy' }
  if (!isNumber(amount) || amount <= 0 || amount > 1e6)
    return { ok: false, problem: 'amount must be a positive number of SOL' }
  return { ok: true, asked: { ...terms, side: 'buy', lamports: solToLamports(amount) } }
}

function readSell({ amount, sellAll }: Record<string, unknown>, terms: Terms): ReadRequest {
  if (sellAll !== undefined && typeof sellAll !== 'boolean')
    return { ok: false, problem: 'sellAll must be true or false' }
  const size = sellAll === true ? ({ kind: 'all' } as const) : sizeOf(amount)
  if (size === undefined)
    return { ok: false, problem: 'amount must be a number of tokens, or a percentage such as "50%"' }
  return { ok: true, asked: { ...terms, side: 'sell', amount: size } }
}

function sizeOf(amount: unknown): SellAmount | undefined {
  if (isNumber(amount))
    return amount > 0 && amount < 1e20 ? { kind: 'number', decimal: plainDecimal(amount) } : undefined
  const percent =
    typeof amount === 'string' ? Number(/^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(amount)?.[1] ?? Number.NaN) : Number.NaN
  if (!(percent > 0 && percent <= 100)) return undefined
  return percent === 100 ? { kind: 'all' } : { kind: 'percent', percent }
}

/** Converts a priority fee in SOL to lamports. null: the service chooses the fee. undefined: the fee is invalid. */
function feeOf(fee: unknown): Lamports | null | undefined {
  if (fee === undefined || fee === null) return null
  return isNumber(fee) && fee >= 0 && fee <= 1e3 ? solToLamports(fee) : undefined
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
