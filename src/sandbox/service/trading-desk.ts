import { solToLamports } from '../../base/units.ts'
import { BASE_FEE, rentExemption, TOKEN_DECIMALS } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { decodeTokenAccount, tokenAccountBytes } from '../../solana/token-account.ts'
import type { Ledger } from '../chain/ledger.ts'
import type { TokenPrograms } from '../chain/program.ts'
import { serviceFee, TRADE_PROGRAM, type TradeData } from '../chain/trade-program.ts'
import type { Dialect } from '../dialect.ts'
import type { Faults } from '../faults.ts'
import { tokenAccountAddress } from '../keys.ts'
import { type Market, type MarketToken, savePool } from '../market/market.ts'
import type { Records } from '../records.ts'
import type { BuyRequest, SellRequest } from './requests.ts'

export type TradeResult = { ok: true; signature: string } | Refused

export interface DeskOptions extends PricingOptions {
  records: Records
  faults: Faults
  /** Wallets whose keys the service holds. */
  wallets: readonly string[]
}

/** Builds, signs and sends trades for the wallets whose keys the service holds. A repeated request is a new trade. */
export class TradingDesk {
  readonly #options: DeskOptions
  readonly #pricing: Pricing

  constructor(options: DeskOptions) {
    this.#options = options
    this.#pricing = new Pricing(options)
  }

  buy(request: BuyRequest): TradeResult {
    return this.#stranger(request) ?? this.#send(this.#pricing.buy(request))
  }

  sell(request: SellRequest): TradeResult {
    return this.#stranger(request) ?? this.#send(this.#pricing.sell(request))
  }

  #stranger({ publicKey }: BuyRequest | SellRequest): Refused | undefined {
    if (this.#options.wallets.includes(publicKey)) return undefined
    return { ok: false, code: 'INVALID_PARAMETERS', message: 'publicKey is not a wallet of this account' }
  }

  #send(priced: Priced | Refused): TradeResult {
    if (!priced.ok) return priced
    const { token, trade } = priced
    const { ledger, records, faults } = this.#options
    savePool(records, token)
    const data: TradeData = { ...trade, fails: faults.strike('reverted', trade.side) !== undefined }
    const transaction = {
      payer: trade.wallet,
      instruction: { program: TRADE_PROGRAM, data },
      priorityFeeLamports: solToLamports(trade.priorityFeeSol),
    }
    const lost = faults.strike('notLanded', trade.side) !== undefined
    return { ok: true, signature: ledger.submit(transaction, lost ? Number.POSITIVE_INFINITY : undefined) }
  }
}

export type TradeCode = 'INSUFFICIENT_BALANCE' | 'INVALID_MINT' | 'SLIPPAGE_EXCEEDED' | 'INVALID_PARAMETERS'

export interface Refused {
  ok: false
  code: TradeCode
  message: string
}

/** A request that the service accepted: the trade at the present price, with the limits that follow from the
 *  request. */
export interface Priced {
  ok: true
  token: MarketToken
  trade: Omit<TradeData, 'fails'>
}

/** Priority fee for a request that names none, SOL. */
const AUTOMATIC_PRIORITY_FEE_SOL = 0.0001

export interface PricingOptions {
  ledger: Ledger
  market: Market
  dialect: Dialect
  tokenPrograms: TokenPrograms
}

/** Computes the amounts and limits of a request, and checks that the wallet can pay. */
export class Pricing {
  readonly #options: PricingOptions

  constructor(options: PricingOptions) {
    this.#options = options
  }

  buy(request: BuyRequest): Priced | Refused {
    const { publicKey, mint, amountSol, slippagePercent, priorityFeeSol = AUTOMATIC_PRIORITY_FEE_SOL } = request
    const { dialect, market } = this.#options
    const token = market.token(mint)
    if (!token) return refused('INVALID_MINT', 'unknown token')
    const spend = BigInt(solToLamports(amountSol))
    const opens = this.#holding(publicKey, mint) === undefined
    const quote = token.curve.quoteBuy(spend)
    const most = dialect.buyExact === 'in' ? spend : worsened(spend, slippagePercent)
    const fees = BASE_FEE + solToLamports(priorityFeeSol) + (opens ? this.#rent(mint) : 0)
    const need = Number(most + serviceFee(most, dialect.serviceFeeBps)) + fees
    if (this.#lamports(publicKey) < need)
      return refused('INSUFFICIENT_BALANCE', `the trade needs ${need} lamports with fees`)
    const unmoved = (Number(quote.sol) / token.curve.price / 1e9) * 10 ** TOKEN_DECIMALS
    if (this.#isBeyond(Number(quote.tokens) / unmoved, slippagePercent)) return slipped(slippagePercent)
    return this.#priced(token, {
      side: 'buy',
      wallet: publicKey,
      mint,
      exact: dialect.buyExact,
      lamports: Number(most),
      tokens: dialect.buyExact === 'in' ? lessened(quote.tokens, slippagePercent) : quote.tokens,
      slippagePercent,
      priorityFeeSol,
      opens,
      closes: false,
    })
  }

  sell(request: SellRequest): Priced | Refused {
    const { publicKey, mint, slippagePercent, priorityFeeSol = AUTOMATIC_PRIORITY_FEE_SOL } = request
    const { dialect, market } = this.#options
    const token = market.token(mint)
    if (!token) return refused('INVALID_MINT', 'unknown token')
    const held = this.#holding(publicKey, mint) ?? 0n
    const tokens = this.#sellTokens(request, held)
    if (held === 0n || tokens > held)
      return refused('INSUFFICIENT_BALANCE', `the wallet holds ${held} base units of the token`)
    if (tokens === 0n) return refused('INVALID_PARAMETERS', 'amount is less than the smallest unit of the token')
    const fee = BASE_FEE + solToLamports(priorityFeeSol)
    if (this.#lamports(publicKey) < fee)
      return refused('INSUFFICIENT_BALANCE', `the trade needs ${fee} lamports for fees`)
    const quote = token.curve.quoteSell(tokens)
    const unmoved = (Number(tokens) / 10 ** TOKEN_DECIMALS) * token.curve.price * 1e9
    if (this.#isBeyond(Number(quote.sol) / unmoved, slippagePercent)) return slipped(slippagePercent)
    return this.#priced(token, {
      side: 'sell',
      wallet: publicKey,
      mint,
      exact: 'out',
      lamports: Number(lessened(quote.sol - quote.fee, slippagePercent)),
      tokens,
      slippagePercent,
      priorityFeeSol,
      opens: false,
      closes: dialect.closesAccount === 'yes' && tokens === held,
    })
  }

  #priced(token: MarketToken, trade: Omit<Priced['trade'], 'serviceFeeBps'>): Priced {
    return { ok: true, token, trade: { ...trade, serviceFeeBps: this.#options.dialect.serviceFeeBps } }
  }

  /** Balance of a wallet in base units; undefined if it has no account for the mint. */
  #holding(wallet: string, mint: string): bigint | undefined {
    const { ledger, tokenPrograms } = this.#options
    const address = tokenAccountAddress(wallet, mint, PROGRAMS[tokenPrograms(mint)])
    const account = ledger.account(address, 'processed')
    return account && decodeTokenAccount(account.data)?.amount
  }

  #rent(mint: string): number {
    return rentExemption(tokenAccountBytes(PROGRAMS[this.#options.tokenPrograms(mint)]))
  }

  #lamports(wallet: string): number {
    return this.#options.ledger.account(wallet, 'processed')?.lamports ?? 0
  }

  #sellTokens({ amount, sellAll }: SellRequest, held: bigint): bigint {
    if (sellAll) return held
    if ('percent' in amount) return (held * BigInt(Math.round(amount.percent * 1e9))) / 100000000000n
    const scale = this.#options.dialect.sellNumber === 'tokens' ? 10 ** TOKEN_DECIMALS : 1
    return BigInt(Math.floor(amount.number * scale))
  }

  /** Whether the service refuses to build a trade, because the trade would exceed its slippage limit. `got`: amount
   *  that the trade yields, divided by the amount without price impact. */
  #isBeyond(got: number, slippagePercent: number): boolean {
    return this.#options.dialect.slippage === 'build' && got < 1 - slippagePercent / 100
  }
}

function refused(code: TradeCode, message: string): Refused {
  return { ok: false, code, message }
}

function slipped(percent: number): Refused {
  return refused('SLIPPAGE_EXCEEDED', `the price would move by more than ${percent} %`)
}

function lessened(amount: bigint, percent: number): bigint {
  return (amount * BigInt(Math.round((100 - percent) * 1000))) / 100000n
}

function worsened(amount: bigint, percent: number): bigint {
  return (amount * BigInt(Math.round((100 + percent) * 1000))) / 100000n
}
