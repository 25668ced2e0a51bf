import { TOKEN_DECIMALS, TOKEN_SUPPLY } from '../../solana/constants.ts'
import type { Dialect } from '../dialect.ts'
import type { MarketToken } from '../market/market.ts'
import type { Admission } from './customers.ts'

/** HTTP answer. `body` is JSON text, a transaction, or garbage that a fault has requested. */
export interface Answer {
  status: number
  body: string | Uint8Array
  headers?: Record<string, string>
}

export type ApiCode =
  | 'INSUFFICIENT_BALANCE'
  | 'INVALID_MINT'
  | 'SLIPPAGE_EXCEEDED'
  | 'RATE_LIMIT'
  | 'INVALID_PARAMETERS'
  | 'UNAUTHORIZED'
  | 'NOT_FOUND'
  | 'NOT_IMPLEMENTED'

/** HTTP statuses by error code: [in most dialects (variants of the protocol), in dialects with specific statuses]. The
 *  service's document defines 401, 429, and 400 for invalid parameters. */
const STATUS: Record<ApiCode, readonly [number, number]> = {
  INSUFFICIENT_BALANCE: [400, 402],
  INVALID_MINT: [400, 404],
  SLIPPAGE_EXCEEDED: [400, 409],
  RATE_LIMIT: [429, 429],
  INVALID_PARAMETERS: [400, 400],
  UNAUTHORIZED: [401, 401],
  NOT_FOUND: [404, 404],
  NOT_IMPLEMENTED: [501, 501],
}
const TRADE_CODES: readonly ApiCode[] = ['INSUFFICIENT_BALANCE', 'INVALID_MINT', 'SLIPPAGE_EXCEEDED']
/** Error codes that are documented for REST. The dialect (variant of the protocol) defines whether answers with other
 *  errors contain a code. */
const LISTED: readonly ApiCode[] = [...TRADE_CODES, 'RATE_LIMIT']

export interface Holding {
  mint: string
  amount: bigint
}

/** Formats the answers of the REST interface in a dialect (variant of the protocol). */
export class Answers {
  readonly #dialect: Dialect

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  trade(signature: string): Answer {
    const { signatureField, signatureNesting } = this.#dialect
    const path = signatureNesting === 'top' ? [] : signatureNesting.split('.')
    const nested = path.reduceRight<object>((inner, name) => ({ [name]: inner }), { [signatureField]: signature })
    return json(200, { success: true, ...nested })
  }

  refusal(code: ApiCode, message: string): Answer {
    const [common, specific] = STATUS[code]
    const { errorStatus, unlistedCode } = this.#dialect
    const inBody = errorStatus === 'ok' && TRADE_CODES.includes(code)
    const status = inBody ? 200 : errorStatus === 'specific' ? specific : common
    const named = LISTED.includes(code) || unlistedCode === 'named'
    return json(status, this.#errorBody(named ? code : undefined, message, status))
  }

  rateLimited({ limit, remaining, resetMs }: Admission): Answer {
    const answer = this.refusal('RATE_LIMIT', 'Too many requests')
    const seconds = String(Math.ceil(resetMs / 1_000))
    if (this.#dialect.limitHeaders === 'retryAfter') answer.headers = { 'retry-after': seconds }
    if (this.#dialect.limitHeaders === 'rateLimit') {
      answer.headers = {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': seconds,
      }
    }
    return answer
  }

  token({ mint, name, symbol, creator, metadata, curve }: MarketToken): Answer {
    const record = {
      mint,
      name,
      symbol,
      creator,
      decimals: TOKEN_DECIMALS,
      supply: whole(TOKEN_SUPPLY),
      price: curve.price,
      marketCap: curve.marketCapSol,
      metadata,
    }
    if (this.#dialect.records === 'plain') return json(200, record)
    const { mint: address, price: priceSol, marketCap: marketCapSol, ...rest } = record
    return json(200, { success: true, data: { address, ...rest, priceSol, marketCapSol } })
  }

  portfolio(publicKey: string, lamports: number, holdings: Holding[]): Answer {
    const solBalance = lamports / 1e9
    if (this.#dialect.records === 'plain') {
      const tokens = holdings.map(({ mint, amount }) => ({ mint, amount: whole(amount), decimals: TOKEN_DECIMALS }))
      return json(200, { publicKey, solBalance, tokens })
    }
    const balances = holdings.map(({ mint, amount }) => ({
      address: mint,
      rawAmount: amount.toString(),
      uiAmount: whole(amount),
    }))
    return json(200, { success: true, data: { wallet: publicKey, sol: solBalance, balances } })
  }

  #errorBody(code: string | undefined, message: string, status: number): object {
    const coded = code === undefined ? { message } : { code, message }
    switch (this.#dialect.errorBody) {
      case 'nested':
        return { error: coded }
      case 'flat':
        return coded
      case 'named':
        return { success: false, error: code ?? message, message }
      case 'list':
        return { errors: [coded] }
      case 'problem':
        return { type: 'about:blank', title: message, status, ...coded }
    }
  }
}

export function json(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) }
}

/** Converts base units to whole tokens. */
function whole(baseUnits: bigint): number {
  return Number(baseUnits) / 10 ** TOKEN_DECIMALS
}
