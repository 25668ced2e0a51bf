import { isPublicKey } from '../../solana/base58.ts'

/** A documented request for a buy. SOL amounts are in SOL, as in the body; omitted fields are undefined. */
export interface BuyRequest {
  publicKey: string
  mint: string
  amountSol: number
  slippagePercent: number
  priorityFeeSol: number | undefined
}

export interface SellRequest {
  publicKey: string
  mint: string
  /** Amount to sell: a percentage of the balance, or a number of whole tokens or base units. The dialect (variant of
   *  the protocol) defines the unit of the number. */
  amount: { number: number } | { percent: number }
  slippagePercent: number
  priorityFeeSol: number | undefined
  sellAll: boolean
}

export type Parsed<T> =
  | { ok: true; value: T }
  | { ok: false; code: 'INVALID_PARAMETERS' | 'INVALID_MINT'; message: string }

const DEFAULT_SLIPPAGE_PERCENT = 10

export function parseBuy(body: unknown, maxBuySol: number): Parsed<BuyRequest> {
  return parse(body, (fields) => ({
    ...addresses(fields),
    amountSol: inRange(fields, 'amount', 0.001, maxBuySol),
    slippagePercent: optional(fields, 'slippage', 0.1, 50) ?? DEFAULT_SLIPPAGE_PERCENT,
    priorityFeeSol: optional(fields, 'priorityFee', 0.00001, 0.01),
  }))
}

/** Parses a request for a sale. The document gives no limits for the slippage and the fee of a sale, so every plausible
 *  value is accepted. */
export function parseSell(body: unknown): Parsed<SellRequest> {
  return parse(body, (fields) => {
    if (fields.sellAll !== undefined && typeof fields.sellAll !== 'boolean')
      throw new Invalid('sellAll must be true or false')
    return {
      ...addresses(fields),
      amount: sellAmount(fields.amount),
      slippagePercent: optional(fields, 'slippage', 0, 100) ?? DEFAULT_SLIPPAGE_PERCENT,
      priorityFeeSol: optional(fields, 'priorityFee', 0, 1),
      sellAll: fields.sellAll === true,
    }
  })
}

type Fields = Record<string, unknown>

class Invalid extends Error {
  readonly code: 'INVALID_PARAMETERS' | 'INVALID_MINT'

  constructor(message: string, code: 'INVALID_PARAMETERS' | 'INVALID_MINT' = 'INVALID_PARAMETERS') {
    super(message)
    this.code = code
  }
}

function parse<T>(body: unknown, read: (fields: Fields) => T): Parsed<T> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { ok: false, code: 'INVALID_PARAMETERS', message: 'the body must be a JSON object' }
  }
  try {
    return { ok: true, value: read(body as Fields) }
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return { ok: false, code: error.code, message: error.message }
  }
}

function addresses({ publicKey, mint }: Fields): { publicKey: string; mint: string } {
  if (!isPublicKey(publicKey)) throw new Invalid('publicKey must be a base58 key of 32 bytes')
  if (typeof mint !== 'string') throw new Invalid('mint must be a string')
  if (!isPublicKey(mint)) throw new Invalid('mint must be a base58 key of 32 bytes', 'INVALID_MINT')
  return { publicKey, mint }
}

function optional(fields: Fields, name: string, min: number, max: number): number | undefined {
  return fields[name] === undefined ? undefined : inRange(fields, name, min, max)
}

function inRange(fields: Fields, name: string, min: number, max: number): number {
  const value = fields[name]
  if (typeof value === 'number' && value >= min && value <= max) return value
  throw new Invalid(`${name} must be a number from ${min} to ${max}`)
}

function sellAmount(value: unknown): SellRequest['amount'] {
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return { number: value }
  const percent = typeof value === 'string' && /^\d{1,3}(\.\d{1,9})?%$/.test(value) ? Number(value.slice(0, -1)) : 0
  if (percent > 0 && percent <= 100) return { percent }
  throw new Invalid('amount must be a positive number or "<number>%" up to 100%')
}
