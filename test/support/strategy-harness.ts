import { eventOf } from '../../src/core/block.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import type { Json } from '../../src/core/json.ts'
import { Mints } from '../../src/core/mints.ts'
import type { PositionState } from '../../src/core/position.ts'
import { seededRandom } from '../../src/core/random.ts'
import type {
  Bot,
  BuyOptions,
  Handlers,
  Placed,
  PositionView,
  SellOptions,
  Strategy,
  Token,
} from '../../src/core/strategy.ts'
import { blockOf, type MarketRow } from './market-rows.ts'

/** A row in, and what is known of its token when it arrives. */
export type Shown = MarketRow & {
  /** The robust price; that of the row where it is left out, null for none. */
  robust?: number | null
  /** What the bot holds of it from this row on; null for nothing. */
  holds?: PositionState | null
}

/** A break in the feed, between two rows. */
export const GAP = 'gap'

interface StandInToken<S> extends Token<S> {
  price: number | undefined
  position: PositionView | undefined
}

/** Runs a strategy's handlers over rows and gives back what it asked for, a line each: `buy MINT 0.05: why`, `sell MINT all: why`,
 *  `watch MINT`, `unwatch MINT`, `note MINT: why`. A buy that is accepted opens a position. */
export function requestsOf<P, S>(
  strategy: Strategy<P, S>,
  params: object,
  rows: readonly (Shown | typeof GAP)[],
  refuse?: ErrorCode,
): string[] {
  const bot = new StandInBot<S>(strategy, refuse)
  const handlers = strategy.start(strategy.params.parse(params), bot)
  for (const row of rows) {
    if (row === GAP) handlers.onGap?.({ from: bot.time, to: bot.time, keys: [...strategy.keys] })
    else show(bot, handlers, row)
  }
  return bot.requests
}

function show<S>(bot: StandInBot<S>, handlers: Handlers<S>, row: Shown): void {
  const token = bot.token(row.mint)
  bot.time = row.time
  if (row.holds !== undefined) token.position = row.holds === null ? undefined : positionOf(row.mint, row.holds)
  if (row.kind !== 'newToken') token.price = row.robust === undefined ? row.price : (row.robust ?? undefined)
  const event = eventOf(blockOf([row], new Mints()), 0)
  if (event.type === 'trade') handlers.onTrade?.(event, token)
  else if (event.type === 'newToken') handlers.onNewToken?.(event, token)
}

class StandInBot<S> implements Bot<S> {
  readonly name = 'bot'
  readonly requests: string[] = []
  state: Json = null
  time = 0
  readonly #strategy: Pick<Strategy<never, S>, 'token'>
  readonly #refuse: ErrorCode | undefined
  readonly #tokens = new Map<string, StandInToken<S>>()
  readonly #random = seededRandom(1)

  constructor(strategy: Pick<Strategy<never, S>, 'token'>, refuse: ErrorCode | undefined) {
    this.#strategy = strategy
    this.#refuse = refuse
  }

  now(): number {
    return this.time
  }
  random(): number {
    return this.#random.next()
  }
  token(mint: string): StandInToken<S> {
    const known = this.#tokens.get(mint)
    if (known !== undefined) return known
    const token: StandInToken<S> = { mint, price: undefined, position: undefined, state: this.#strategy.token?.() as S }
    this.#tokens.set(mint, token)
    return token
  }
  position(mint: string): PositionView | undefined {
    return this.token(mint).position
  }
  positions(): PositionView[] {
    return [...this.#tokens.values()].flatMap(({ position }) => position ?? [])
  }
  buy(target: Token<S> | string, { sol, reason }: BuyOptions): Placed {
    const mint = mintOf(target)
    const placed = this.#place(`buy ${mint} ${sol}: ${reason}`)
    if (placed.ok) this.token(mint).position = positionOf(mint, 'opening')
    return placed
  }
  sell(target: Token<S> | string, options: SellOptions): Placed {
    const amount = 'all' in options ? 'all' : 'percent' in options ? `${options.percent} %` : options.tokens
    const placed = this.#place(`sell ${mintOf(target)} ${amount}: ${options.reason}`)
    if (placed.ok) this.token(mintOf(target)).position = positionOf(mintOf(target), 'closing')
    return placed
  }
  watch(mint: string): boolean {
    this.requests.push(`watch ${mint}`)
    return true
  }
  unwatch(mint: string): void {
    this.requests.push(`unwatch ${mint}`)
  }
  note(mint: string, why: string): void {
    this.requests.push(`note ${mint}: ${why}`)
  }
  orders = () => []
  fills = () => []
  wallet = () => ({ sol: 10, reservedSol: 0 })
  budget = () => ({ solThisHour: 0, profitTodaySol: 0, halted: false })
  limitBuy = () => this.#place('limitBuy')
  limitSell = () => this.#place('limitSell')
  stopSell = () => this.#place('stopSell')
  bracket = () => this.#place('bracket')
  dca = () => this.#place('dca')
  cancel = () => false
  setExits = () => ({ ok: true }) as const
  quoteBuy = () => undefined
  quoteSell = () => undefined
  every(): void {}
  after(): void {}
  clear(): void {}

  #place(request: string): Placed {
    this.requests.push(request)
    if (this.#refuse !== undefined) return { ok: false, code: this.#refuse, reason: 'refused by the test' }
    return { ok: true, id: `o${this.requests.length}` }
  }
}

function mintOf(target: { readonly mint: string } | string): string {
  return typeof target === 'string' ? target : target.mint
}

function positionOf(mint: string, state: PositionState): PositionView {
  return {
    mint,
    state,
    tokens: state === 'opening' ? 0 : 1_000,
    costSol: 0.05,
    averagePrice: 1e-6,
    openedAt: 0,
    highPrice: 1e-6,
    valueSol: undefined,
    realizedSol: 0,
    exits: {},
  }
}
