import type { Clock, Http, HttpRequest, HttpResult } from '../../src/base/machine.ts'
import type { Blockhash } from '../../src/sandbox/chain/ledger.ts'
import {
  budgetCalls,
  type Call,
  compileMessage,
  openCall,
  signMessage,
  transferCall,
} from '../../src/sandbox/chain/message.ts'
import { poolInstruction } from '../../src/sandbox/chain/pool-program.ts'
import type { Draws } from '../../src/sandbox/draws.ts'
import { tokenAccountAddress } from '../../src/sandbox/keys.ts'
import type { Market, MarketToken } from '../../src/sandbox/market/market.ts'
import { parseBuy, parseSell } from '../../src/sandbox/service/requests.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decodeTokenAccount } from '../../src/solana/token-account.ts'
import { STRANGER, type TimedLedger, WALLET } from './ledger.ts'
import type { Mutant } from './mutants.ts'
import { ANSWERS, REFUSALS } from './replies.ts'
import type { Rounding, Scenario } from './scenario.ts'
import type { Caller } from './service.ts'

const HARD_LIMIT_MS = 60_000
const PRIORITY_FEE_LAMPORTS = 100_000
const UNIT_LIMIT = 200_000
/** Longest time for which the verifier reads the chain before it refuses a sale as too large. */
const CHECK_MS = 2_000

/** Dishonest transactions that the builder makes. The verifier must refuse each one that does not match the order. */
const LIES = ['drains', 'approves', 'other side', 'more', 'no minimum', 'twice', 'other payer', 'garbage'] as const

export interface BuilderParts {
  readonly clock: Clock
  readonly draws: Draws
  readonly scenario: Scenario
  readonly mutant: Mutant | undefined
  readonly ledger: TimedLedger
  readonly market: Market
  readonly isCalm: () => boolean
  readonly note: (what: string) => void
  readonly answered: () => void
  /** Called when a request has arrived at the builder. */
  readonly arrives: () => void
  /** Called when the service accepts the API key again after it had refused the key. */
  readonly acceptKey: () => void
}

/** The trade for which the builder makes a transaction, with the amounts that the builder has computed. */
interface Draft {
  readonly side: 'buy' | 'sell'
  readonly mint: string
  readonly lamports: bigint
  readonly tokens: bigint
  /** Priority fee that the request names, SOL. */
  readonly fee: number | undefined
}

/**
 * The part of the service that builds transactions (POST /transaction/buy and /transaction/sell), behind a faulty
 * network.
 */
export class SimulatedBuilder {
  /** Number of dishonest transactions that the builder has made. */
  lies = 0
  readonly #parts: BuilderParts
  /** Blockhashes of the built transactions, in the order in which they were built. */
  readonly #blockhashes: Blockhash[] = []
  /** For each attempt, the times at which the builder built its transaction and at which the answer arrived. */
  readonly #times = new Map<string, { built: number; answered: number }>()

  constructor(parts: BuilderParts) {
    this.#parts = parts
  }

  port(caller: Caller): Http {
    return (request) => new Promise((resolve) => this.#take(request, caller, resolve))
  }

  /**
   * Returns the last height at which a transaction with this blockhash may land; undefined if the builder never used
   * the blockhash.
   */
  lastHeightOf(blockhash: string): number | undefined {
    return this.#blockhashes.find((one) => one.blockhash === blockhash)?.lastValidBlockHeight
  }

  /**
   * Returns whether the verifier may have been checking the attempt at the time `ms`: after it was built, and until
   * shortly after its answer arrived.
   */
  wasCheckedAt(attemptId: string, ms: number): boolean {
    const times = this.#times.get(attemptId)
    return times !== undefined && times.built <= ms && ms <= times.answered + CHECK_MS
  }

  #take({ url, body }: HttpRequest, caller: Caller, resolve: (result: HttpResult) => void): void {
    const { clock, draws, scenario, isCalm, note, answered, arrives } = this.#parts
    const id = caller.sending?.id ?? ''
    let isOver = false
    const answer = (result: HttpResult): void => {
      if (isOver || !caller.isAlive()) return
      isOver = true
      note(`builder: ${id} ${result.kind === 'answered' ? result.status : result.kind}`)
      answered()
      const times = this.#times.get(id)
      if (times !== undefined) times.answered = clock.now()
      resolve(result)
    }
    const isLost = !isCalm() && draws.chance(scenario.network.lost)
    const fate = isLost ? draws.pick(['unsent', 'request', 'answer'] as const) : 'whole'
    if (fate === 'unsent') {
      clock.after(1 + draws.integer(50), () => answer({ kind: 'unsent', reason: 'connection refused' }))
      return
    }
    clock.after(HARD_LIMIT_MS, () => answer({ kind: 'lost', reason: 'no answer within 60000 ms' }))
    if (fate !== 'whole') clock.after(draws.integer(10_000), () => answer({ kind: 'lost', reason: 'ECONNRESET' }))
    if (fate === 'request') return
    clock.after(2 + draws.integer(40), () => {
      arrives()
      this.#times.set(id, { built: clock.now(), answered: clock.now() })
      const reply = this.#replyTo(url.endsWith('/buy') ? 'buy' : 'sell', JSON.parse(body ?? ''), id)
      const isSlow = !isCalm() && draws.chance(scenario.network.slow)
      const delayMs = isSlow ? draws.integer(15_000) : 20 + draws.integer(300)
      if (fate === 'whole' && reply !== undefined) clock.after(delayMs, () => answer(reply))
    })
  }

  #replyTo(side: Draft['side'], body: Record<string, unknown>, id: string): HttpResult | undefined {
    const { draws, scenario, isCalm, note, acceptKey, clock } = this.#parts
    const { odd, refuses, lies } = scenario.service
    const draft = this.#draft(side, body)
    if (draft === undefined) return REFUSALS[3]
    if (isCalm()) return this.#built(draft)
    if (draws.chance(lies)) {
      const what = draws.pick(LIES)
      this.lies++
      note(`builder: lies about ${id}: ${what}`)
      return this.#falsified(draft, what)
    }
    if (draws.chance(refuses)) {
      const answer = draws.pick(REFUSALS)
      if (answer.status === 401 || answer.status === 403) clock.after(1_000 + draws.integer(15_000), acceptKey)
      return answer
    }
    if (!draws.chance(odd)) return this.#built(draft)
    const what = draws.pick(['silent', 'says nothing', 'old', 'far height', 'near height', 'no height'] as const)
    note(`builder: ${what} to ${id}`)
    if (what === 'silent') return undefined
    if (what === 'says nothing') return draws.pick(ANSWERS)
    const offset = { old: 0, 'far height': 1_000_000, 'near height': -140, 'no height': Number.NaN }[what]
    const first = this.#blockhashes[0]
    return this.#built(draft, { ...(what === 'old' && first !== undefined && { blockhash: first }), offset })
  }

  /** Returns the terms of the requested trade at the present price; undefined if the wallet has no tokens to sell. */
  #draft(side: Draft['side'], body: Record<string, unknown>): Draft | undefined {
    const { market, scenario } = this.#parts
    const fee = typeof body.priorityFee === 'number' ? body.priorityFee : undefined
    if (side === 'buy') {
      const parsed = parseBuy(body, 100)
      if (!parsed.ok) return undefined
      const { mint, amountSol, slippagePercent } = parsed.value
      const lamports = BigInt(Math[scenario.local.rounding?.amounts ?? 'round'](amountSol * 1e9))
      const { tokens } = (market.token(mint) as MarketToken).curve.quoteBuy(lamports)
      return { side, mint, lamports, fee, tokens: lessened(tokens, slippagePercent) }
    }
    const parsed = parseSell(body)
    if (!parsed.ok) return undefined
    const { mint, amount, sellAll, slippagePercent } = parsed.value
    const held = this.#held(mint) ?? 0n
    const part =
      'percent' in amount
        ? (held * BigInt(Math.round(amount.percent * 1e6))) / 100_000_000n
        : BigInt(Math.floor(amount.number * 1e6))
    const tokens = sellAll ? held : part
    if (tokens === 0n || tokens > held) return undefined
    const { sol, fee: venueFee } = (market.token(mint) as MarketToken).curve.quoteSell(tokens)
    return { side, mint, tokens, fee, lamports: lessened(sol - venueFee, slippagePercent) }
  }

  #held(mint: string): bigint | undefined {
    const account = this.#parts.ledger.account(tokenAccountAddress(WALLET, mint), 'processed')
    return account && decodeTokenAccount(account.data)?.amount
  }

  #falsified(draft: Draft, what: (typeof LIES)[number]): HttpResult {
    switch (what) {
      case 'drains':
        return this.#built(draft, { more: [transferCall(WALLET, STRANGER, 1_000_000_000n)] })
      case 'approves':
        return this.#built(draft, { more: [approveCall(draft.mint)] })
      case 'other side':
        return this.#built({ ...draft, side: draft.side === 'buy' ? 'sell' : 'buy' })
      case 'more':
        return this.#built({ ...draft, lamports: draft.lamports * 3n, tokens: draft.tokens * 3n })
      case 'no minimum':
        return this.#built(draft.side === 'buy' ? { ...draft, tokens: 0n } : { ...draft, lamports: 0n })
      case 'twice':
        return this.#built(draft, { more: [tradeCall(draft)] })
      case 'other payer':
        return this.#built(draft, { payer: STRANGER })
      case 'garbage': {
        const bytes = Buffer.from(this.#bytes(draft, {}).bytes)
        for (let count = 0; count < 3; count++) bytes[this.#parts.draws.integer(bytes.length)]! ^= 1 << count
        return answered({ transaction: bytes.toString('base64') })
      }
    }
  }

  #built(draft: Draft, how: How = {}): HttpResult {
    const { bytes, lastValidBlockHeight } = this.#bytes(draft, how)
    const height = lastValidBlockHeight + (how.offset ?? 0)
    return answered({ transaction: Buffer.from(bytes).toString('base64'), lastValidBlockHeight: height })
  }

  #bytes(
    draft: Draft,
    { more = [], payer = WALLET, blockhash = this.#parts.ledger.latestBlockhash('confirmed') }: How,
  ): { bytes: Uint8Array; lastValidBlockHeight: number } {
    const { mint, side, fee } = draft
    const { scenario, mutant } = this.#parts
    const opens = side === 'buy' && this.#held(mint) === undefined
    // The number of compute units differs for each transaction, so that no two transactions are equal.
    const units = UNIT_LIMIT + this.#blockhashes.length
    const budget =
      fee === undefined || scenario.local.rounding === undefined
        ? budgetCalls(units, PRIORITY_FEE_LAMPORTS)
        : pricedCalls(units, priceOf({ side, fee, units }, scenario.local.rounding, mutant))
    const open = opens ? [openCall(WALLET, WALLET, mint, PROGRAMS.token)] : []
    const calls = [...budget, ...open, tradeCall(draft), ...more]
    this.#blockhashes.push(blockhash)
    const bytes = signMessage(compileMessage({ payer, blockhash: blockhash.blockhash, calls }), new Map())
    return { bytes, lastValidBlockHeight: blockhash.lastValidBlockHeight }
  }
}

interface How {
  readonly more?: readonly Call[]
  readonly payer?: string
  readonly blockhash?: Blockhash
  /** Number of blocks that the builder adds to the expiry height in its answer. */
  readonly offset?: number
}

/** Returns the price of a compute unit in micro-lamports, computed in the same way as by a JavaScript client. */
function priceOf(
  { side, fee, units }: { side: Draft['side']; fee: number; units: number },
  { fees, overcharges }: Rounding,
  mutant: Mutant | undefined,
): number {
  const price = Math[fees]((fee * 1e15) / units)
  if (overcharges && side === 'sell') return price + 50
  // The mutant (a deliberate error) is a verifier that refuses a fee that was rounded up. To simulate it, the builder
  // then uses a price that every verifier refuses.
  const isAbove = Math.ceil((price * units) / 1e6) > Math.round(fee * 1e9)
  return isAbove && mutant === 'feeHeldExactly' ? price + 50 : price
}

function pricedCalls(units: number, microLamports: number): Call[] {
  const limit = Buffer.from([2, 0, 0, 0, 0])
  limit.writeUInt32LE(units, 1)
  const price = Buffer.alloc(9, 3)
  price.writeBigUInt64LE(BigInt(microLamports), 1)
  return [limit, price].map((data) => ({ program: PROGRAMS.computeBudget, accounts: [], data }))
}

function tradeCall({ side, mint, lamports, tokens }: Draft): Call {
  return poolInstruction(WALLET, mint, { side, exact: side === 'buy' ? 'in' : 'out', lamports, tokens })
}

/** Returns a call that gives a stranger the right to take the wallet's tokens at any time. */
function approveCall(mint: string): Call {
  const data = Buffer.alloc(9)
  data[0] = 4
  data.writeBigUInt64LE(2n ** 63n, 1)
  const accounts = [
    { address: tokenAccountAddress(WALLET, mint), writable: true },
    { address: STRANGER },
    { address: WALLET, signer: true },
  ]
  return { program: PROGRAMS.token, accounts, data }
}

function answered(body: object): HttpResult {
  return { kind: 'answered', status: 200, headers: {}, body: JSON.stringify(body) }
}

function lessened(amount: bigint, percent: number): bigint {
  return (amount * BigInt(Math.round((100 - percent) * 1_000))) / 100_000n
}
