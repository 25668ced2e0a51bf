import { PROGRAMS } from '../core/programs.ts'
import { solToLamports } from '../core/units.ts'
import { tokenAccountAddress } from './addresses.ts'
import { TOKEN_DECIMALS } from './curve.ts'
import type { Dialect } from './dialect.ts'
import type { Faults } from './faults.ts'
import { BASE_FEE_LAMPORTS, type Ledger, rentExemption } from './ledger.ts'
import type { Market, MarketToken } from './market.ts'
import { savePool } from './pools.ts'
import type { Records } from './records.ts'
import type { BuyRequest, SellRequest } from './requests.ts'
import { decodeTokenAccount, tokenAccountBytes } from './token-layout.ts'
import type { TokenPrograms } from './token-programs.ts'
import { serviceFee, TRADE_PROGRAM, type TradeData } from './trade-program.ts'

export type TradeCode = 'INSUFFICIENT_BALANCE' | 'INVALID_MINT' | 'SLIPPAGE_EXCEEDED' | 'INVALID_PARAMETERS'
export type TradeResult = { ok: true; signature: string } | { ok: false; code: TradeCode; message: string }

/** What the service adds when the client leaves the priority fee to it. */
const AUTOMATIC_PRIORITY_FEE_SOL = 0.0001

export interface DeskOptions {
  ledger: Ledger
  market: Market
  records: Records
  faults: Faults
  dialect: Dialect
  tokenPrograms: TokenPrograms
  /** Wallets whose keys the service holds. */
  wallets: readonly string[]
}

/**
 * The service behind its endpoints: builds, signs and sends trades of the wallets that it holds. Nothing is idempotent.
 */
export class Desk {
  readonly #options: DeskOptions

  constructor(options: DeskOptions) {
    this.#options = options
  }

  buy({
    publicKey,
    mint,
    amountSol,
    slippagePercent,
    priorityFeeSol = AUTOMATIC_PRIORITY_FEE_SOL,
  }: BuyRequest): TradeResult {
    const { dialect } = this.#options
    const token = this.#token(publicKey, mint)
    if ('ok' in token) return token
    const spend = BigInt(solToLamports(amountSol))
    const opens = this.#holding(publicKey, mint) === undefined
    const quote = token.curve.quoteBuy(spend)
    const most = dialect.buyExact === 'in' ? spend : worsened(spend, slippagePercent)
    const fees = BASE_FEE_LAMPORTS + solToLamports(priorityFeeSol) + (opens ? this.#rent(mint) : 0)
    const need = Number(most + serviceFee(most, dialect.serviceFeeBps)) + fees
    if (this.#lamports(publicKey) < need)
      return refused('INSUFFICIENT_BALANCE', `the trade needs ${need} lamports with fees`)
    const unmoved = (Number(quote.sol) / token.curve.price / 1e9) * 10 ** TOKEN_DECIMALS
    if (this.#isBeyond(Number(quote.tokens) / unmoved, slippagePercent)) return slipped(slippagePercent)
    return this.#send(token, priorityFeeSol, {
      side: 'buy',
      wallet: publicKey,
      mint,
      exact: dialect.buyExact,
      lamports: Number(most),
      tokens: dialect.buyExact === 'in' ? lessened(quote.tokens, slippagePercent) : quote.tokens,
      slippagePercent,
      opens,
      closes: false,
    })
  }

  sell(request: SellRequest): TradeResult {
    const { publicKey, mint, slippagePercent, priorityFeeSol = AUTOMATIC_PRIORITY_FEE_SOL } = request
    const token = this.#token(publicKey, mint)
    if ('ok' in token) return token
    const held = this.#holding(publicKey, mint) ?? 0n
    const tokens = this.#sellTokens(request, held)
    if (held === 0n || tokens > held)
      return refused('INSUFFICIENT_BALANCE', `the wallet holds ${held} base units of the token`)
    if (tokens === 0n) return refused('INVALID_PARAMETERS', 'amount is less than the smallest unit of the token')
    const fee = BASE_FEE_LAMPORTS + solToLamports(priorityFeeSol)
    if (this.#lamports(publicKey) < fee)
      return refused('INSUFFICIENT_BALANCE', `the trade needs ${fee} lamports for fees`)
    const quote = token.curve.quoteSell(tokens)
    const unmoved = (Number(tokens) / 10 ** TOKEN_DECIMALS) * token.curve.price * 1e9
    if (this.#isBeyond(Number(quote.sol) / unmoved, slippagePercent)) return slipped(slippagePercent)
    return this.#send(token, priorityFeeSol, {
      side: 'sell',
      wallet: publicKey,
      mint,
      exact: 'out',
      lamports: Number(lessened(quote.sol - quote.fee, slippagePercent)),
      tokens,
      slippagePercent,
      opens: false,
      closes: this.#options.dialect.closesAccount === 'yes' && tokens === held,
    })
  }

  /** Base units; undefined where the wallet has no account for the mint. */
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

  #token(wallet: string, mint: string): MarketToken | Extract<TradeResult, { ok: false }> {
    if (!this.#options.wallets.includes(wallet))
      return refused('INVALID_PARAMETERS', 'publicKey is no wallet of this account')
    return this.#options.market.token(mint) ?? refused('INVALID_MINT', 'no such token')
  }

  #sellTokens({ amount, sellAll }: SellRequest, held: bigint): bigint {
    if (sellAll) return held
    if ('percent' in amount) return (held * BigInt(Math.round(amount.percent * 1e9))) / 100_000_000_000n
    const scale = this.#options.dialect.sellNumber === 'tokens' ? 10 ** TOKEN_DECIMALS : 1
    return BigInt(Math.floor(amount.number * scale))
  }

  /** `got` is what the trade brings as a share of what it would at the price before it. */
  #isBeyond(got: number, slippagePercent: number): boolean {
    return this.#options.dialect.slippage === 'build' && got < 1 - slippagePercent / 100
  }

  #send(
    token: MarketToken,
    priorityFeeSol: number,
    trade: Omit<TradeData, 'serviceFeeBps' | 'priorityFeeSol' | 'fails'>,
  ): TradeResult {
    const { ledger, records, faults, dialect } = this.#options
    savePool(records, token)
    const fails = faults.strike('reverted', trade.side) !== undefined
    const data: TradeData = { ...trade, serviceFeeBps: dialect.serviceFeeBps, priorityFeeSol, fails }
    const transaction = {
      payer: trade.wallet,
      instruction: { program: TRADE_PROGRAM, data },
      priorityFeeLamports: solToLamports(priorityFeeSol),
    }
    const lost = faults.strike('notLanded', trade.side) !== undefined
    return { ok: true, signature: ledger.submit(transaction, lost ? Number.POSITIVE_INFINITY : undefined) }
  }
}

function refused(code: TradeCode, message: string): Extract<TradeResult, { ok: false }> {
  return { ok: false, code, message }
}

function slipped(percent: number): TradeResult {
  return refused('SLIPPAGE_EXCEEDED', `the price would move beyond ${percent} %`)
}

function lessened(amount: bigint, percent: number): bigint {
  return (amount * BigInt(Math.round((100 - percent) * 1_000))) / 100_000n
}

function worsened(amount: bigint, percent: number): bigint {
  return (amount * BigInt(Math.round((100 + percent) * 1_000))) / 100_000n
}
