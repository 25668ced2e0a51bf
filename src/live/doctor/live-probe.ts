import { assert, ExitCode, SluiceError } from '../../base/errors.ts'
import { formatSol, type Lamports, wholeTokens } from '../../base/units.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { loadStrategy } from '../../config/strategies.ts'
import { DEFAULT_FILL_MODEL } from '../../engine/accounting/fill-assumptions.ts'
import { NO_FILTERS } from '../../engine/limits/entry-filters.ts'
import { NO_LIMITS } from '../../engine/limits/limit-rules.ts'
import { DEFAULT_TOKEN_CHECKS } from '../../engine/limits/token-checks.ts'
import type { Fill } from '../../engine/order.ts'
import type { ServiceProof } from '../../orders/service-facts.ts'
import type { SellUnit } from '../../orders/trade-request.ts'
import { venueOf } from '../../venues/registry.ts'
import type { LiveAccount } from '../live-account.ts'
import { type RunningBots, startBots } from '../start-bots.ts'
import { ProbeOrders, type ProbeOrdersParts, Stopped } from './probe-orders.ts'
import {
  agrees,
  isShare,
  type ProbeOrder,
  ProbeWatch,
  proofFrom,
  type Step,
  sellNumberOf,
  tokensOf,
} from './probe-watch.ts'

export interface Probed {
  readonly mint: string
  readonly steps: readonly Step[]
  readonly proof: ServiceProof
  /** Reason why the probe is incomplete; '' if it is complete. */
  readonly problem: string
}

export interface ProbeParts extends ProbeOrdersParts {
  /** Configuration with the wallet of the probe as its only wallet. */
  readonly config: Config
  readonly lamports: Lamports
  /** Mint to trade. '' selects the most traded mint, which is only possible on a sandbox. */
  readonly mint: string
  /** Called with the text of each alarm and of each error in the log. */
  readonly warn: (text: string) => void
}

const PRICE_WITHIN_MS = 90_000
/** Number of prints that a mint needs to be selected. */
const ENOUGH_PRINTS = 5
const PERCENT = 40

/** Buys a small amount, and sells it in parts, with each form of request whose meaning the service's document leaves
 *  open. The orders belong to a bot and take the same path as every live order, so that the next start can resume them
 *  after a crash. */
export async function probeLive(parts: ProbeParts): Promise<Probed> {
  const { config } = parts
  if (config.bots.some(({ name }) => name === PROBE_BOT))
    throw new SluiceError(`the bot name ${PROBE_BOT} is reserved for the probe: rename your bot`, ExitCode.usage)
  const watch = new ProbeWatch(PROBE_BOT, config.service.units, venueOf(config.service).probe)
  const running = await startBots(
    { ...config, bots: [await probeBot(parts.lamports, config.wallets[0]?.name ?? '')] },
    { allow: 'live', logFormat: 'json', probe: watch, writeLog: (line) => reportErrors(line, parts.warn) },
  )
  const probe = new Probe(parts, running, watch)
  try {
    return await probe.run()
  } finally {
    probe.end()
    await running.stop()
  }
}

const ERROR_LEVEL = 50

/** Passes alarms and errors from the log to `warn`. */
function reportErrors(line: string, warn: (text: string) => void): void {
  const { level, msg, ...fields } = JSON.parse(line) as { level: number; msg?: string; reason?: string }
  if (level >= ERROR_LEVEL) warn([msg, fields.reason].filter((text) => text !== undefined).join(': '))
}

class Probe {
  readonly #parts: ProbeParts
  readonly #running: RunningBots
  readonly #watch: ProbeWatch
  readonly #hands: ProbeOrders
  /** Orders of this probe, except sales of tokens that an earlier probe left. */
  readonly #orders: ProbeOrder[] = []
  readonly #sales: ServiceProof['sales'][number][] = []
  #sellNumber: ServiceProof['sellNumber'] = null
  #isContradicted = false
  #tradeAmount: ServiceProof['tradeAmount'] = null
  #mint: string

  constructor(parts: ProbeParts, running: RunningBots, watch: ProbeWatch) {
    this.#parts = parts
    this.#running = running
    this.#watch = watch
    this.#mint = parts.mint
    this.#hands = new ProbeOrders(parts, running, watch)
  }

  /** The wallet of the probe. */
  get #wallet(): LiveAccount {
    const [wallet] = this.#running.world.chain?.wallets.values() ?? []
    assert(wallet !== undefined, 'the probe has no wallet')
    return wallet
  }

  end(): void {
    this.#hands.end()
  }

  async run(): Promise<Probed> {
    let problem = ''
    try {
      await this.#trade()
    } catch (error) {
      if (!(error instanceof Stopped)) throw error
      problem = error.message
    }
    if (this.#held() > 0n) {
      const seller = `the next probe will sell them; so will a live run on this journal, at the latest ${HOLD_SECONDS / 60} minutes after the buy`
      problem += `${problem === '' ? '' : '; '}the wallet still holds tokens: ${seller}`
    }
    const steps = this.#hands.steps()
    const proof = proofFrom(this.#watch, this.#fills(), steps, {
      ...{ sellNumber: this.#sellNumber, tradeAmount: this.#tradeAmount, sales: this.#sales },
    })
    const { chain } = this.#running.world
    if (chain !== undefined && this.#orders.length > 0) {
      // If the probe is incomplete, the proof of an earlier probe is kept.
      const before = this.#isContradicted ? null : (chain.proof?.sellNumber ?? null)
      const value = { ...proof, sellNumber: proof.sellNumber ?? before }
      await this.#watch.keep({ about: this.#wallet.account, name: 'proof', time: Date.now(), value })
    }
    return { mint: this.#mint, steps, proof, problem }
  }

  async #trade(): Promise<void> {
    const { lamports: amount, say } = this.#parts
    say('waiting until the wallet is read, the feed is live and the mint has a price')
    await this.#hands.until('a robust price', () => this.#chosen() !== '', PRICE_WITHIN_MS)
    this.#mint = this.#chosen()
    await this.#sellLeftover()
    await this.#refuseHeld()
    const before = this.#watch.priceOf(this.#mint)
    const bought = await this.#order(`buy ${formatSol(amount)} SOL`, 'buy', { sol: amount / 1e9 })
    const [fill] = bought.fills.values()
    if (fill === undefined) throw new Stopped(`the buy did not execute: ${bought.code} ${bought.reason}`)
    const paid = fill.tradeLamports / 1e9 / wholeTokens(fill.tokens, fill.decimals)
    if (agrees(paid, before) || agrees(paid, this.#watch.priceOf(this.#mint))) this.#tradeAmount = 'sol'
    for (const written of ['tokens', 'base'] as const) {
      if (!this.#sales.includes('number') && this.#held() > 0n) await this.#sellNumberAs(written, fill)
    }
    if (this.#held() > 0n) await this.#sellPercent()
    if (this.#held() > 0n) await this.#sellAll()
    await this.#hands.final(this.#orders)
  }

  /** Mint to trade: the given one, or on a sandbox the most traded one. '' until the mint has a price. */
  #chosen(): string {
    if (this.#parts.mint !== '') return this.#watch.priceOf(this.#parts.mint) === undefined ? '' : this.#parts.mint
    const [most] = [...this.#watch.prints].sort(([, a], [, b]) => b - a)
    if (most === undefined || most[1] < ENOUGH_PRINTS || this.#watch.priceOf(most[0]) === undefined) return ''
    return most[0]
  }

  /** Sells the tokens that a crashed probe left. */
  async #sellLeftover(): Promise<void> {
    const positions = [...this.#running.model.positions.values()]
    const left = positions.filter(({ bot, tokens }) => bot === PROBE_BOT && tokens > 0n)
    const orders: ProbeOrder[] = []
    for (const { mint } of left) orders.push(await this.#hands.order('sell leftover', 'sell-all', { mint }))
    if (orders.length > 0) await this.#hands.final(orders)
  }

  /** Ends the probe if the wallet already holds the token: these tokens would also be sold, and the amounts would prove
   *  nothing. */
  async #refuseHeld(): Promise<void> {
    const holding = await this.#wallet.wallet.byHand.holding(this.#mint)
    if (holding !== undefined && holding.tokens > 0n)
      throw new Stopped('the wallet already holds this token; choose another mint')
  }

  /** Sells a third of the tokens. The request gives the amount as a number in the unit `written`. */
  async #sellNumberAs(written: Exclude<SellUnit, 'unproved'>, { decimals }: Fill): Promise<void> {
    const held = this.#held()
    const third = wholeTokens(held, decimals) / 3
    this.#watch.unit = written
    const name = `sell number (${written === 'tokens' ? 'whole tokens' : 'base units'})`
    const order = await this.#order(name, 'sell-number', { tokens: third >= 1 ? Math.floor(third) : third })
    const size = order.attempt?.size
    const sold = tokensOf(order)
    if (size?.kind !== 'tokens' || sold === 0n) return
    const counts = sellNumberOf({ written, asked: size.tokens, decimals, sold, held })
    // If two sales contradict each other, neither of them proves the unit.
    this.#isContradicted = this.#sellNumber !== null && this.#sellNumber !== counts
    this.#sellNumber = this.#isContradicted ? null : counts
    if (this.#sellNumber === (written === 'tokens' ? 'tokens' : 'baseUnits')) this.#sales.push('number')
  }

  async #sellPercent(): Promise<void> {
    const held = this.#held()
    const order = await this.#order(`sell ${PERCENT}%`, 'sell-percent', { percent: PERCENT })
    if (isShare(tokensOf(order), held, PERCENT)) this.#sales.push('percent')
  }

  async #sellAll(): Promise<void> {
    const order = await this.#order('sell all', 'sell-all', {})
    if (order.fills.size > 0 && this.#held() === 0n) this.#sales.push('all')
  }

  #order(name: string, signal: string, data: Readonly<Record<string, number>>): Promise<ProbeOrder> {
    return this.#hands.order(name, signal, { mint: this.#mint, ...data }, (made) => this.#orders.push(made))
  }

  #fills(): Fill[] {
    return this.#orders.flatMap(({ fills }) => [...fills.values()])
  }

  /** Number of base units that the probe holds. */
  #held(): bigint {
    return this.#fills().reduce((sum, { side, tokens }) => sum + (side === 'buy' ? tokens : -tokens), 0n)
  }
}

/** Name of the bot that the probe's orders and fills belong to. */
const PROBE_BOT = 'doctor'
/** Longest time for which the tokens are held. After a crash, the next run on the journal sells them after this
 *  time. */
const HOLD_SECONDS = 600

/** Configuration of a bot that executes the probe's signals and may not spend more than `amount`. */
async function probeBot(amount: Lamports, wallet: string): Promise<BotConfig> {
  return {
    name: PROBE_BOT,
    strategy: await loadStrategy('probe'),
    params: {},
    mode: 'live',
    ...(wallet !== '' && { wallet }),
    executor: 'cloud',
    orders: {
      slippagePercent: 15,
      priorityFeeLamports: null,
      ttlMs: 10000,
      maxEventAgeMs: 60000,
      maxChasePercent: 50,
    },
    tokenChecks: DEFAULT_TOKEN_CHECKS,
    filters: NO_FILTERS,
    exitOrders: { slippageLadder: [15, 50], priorityFeeLadder: [], retryMs: 3000 },
    ...{ exits: { maxHoldSeconds: HOLD_SECONDS }, exitSources: {}, overriddenExits: [] },
    limits: { ...NO_LIMITS, maxLamportsPerOrder: amount, maxLamportsPerMint: amount },
    paper: { ...DEFAULT_FILL_MODEL, lamports: amount, seed: 1 },
    at: { file: '', line: 0, column: 0 },
  }
}
