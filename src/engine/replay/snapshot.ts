import type { Millis, Seq } from '../../base/units.ts'
import type { Block, NewToken, PriceUpdate, Trade } from '../../market/block.ts'
import { EventAge } from '../../market/event-age.ts'
import type { Mints } from '../../market/mints.ts'
import { Engine } from '../engine.ts'
import type { FeedStatus } from '../messages.ts'
import type { Bot, Handlers, Strategy, Token } from '../strategy.ts'
import type { Entry } from './verify.ts'

/** What a bot knew of a token at a moment. */
export interface BotGlimpse {
  /** Rows of the token that its strategy was shown in this segment, the warm-up's among them. */
  readonly shown: number
  /** What its strategy is shown: `trades`, `newTokens`, `priceUpdates`, mints. */
  readonly keys: readonly string[]
  /** What the strategy kept for the token; undefined where it keeps nothing. */
  readonly state: unknown
  readonly wallet: ReturnType<Bot['wallet']>
  readonly budget: ReturnType<Bot['budget']>
}

/** What the engine knew of a token at a moment. */
export interface Snapshot {
  readonly feed: FeedStatus
  /** The robust price. */
  readonly price: number | undefined
  /** Of the token's last row: how much older than usual it was, ms. */
  readonly eventAgeMs: number | undefined
  /** By their names. */
  readonly bots: ReadonlyMap<string, BotGlimpse>
}

/** Repeats a recorded segment up to a time and looks at one token: what is decided on the way was decided then already,
 *  and is dropped. `strategies` have to be those that it was recorded with; or silent ones, and then what bots kept is
 *  not known. */
export function glimpseAt(
  entries: Iterable<Entry>,
  mints: Mints,
  strategies: ReadonlyMap<string, Strategy>,
  mint: string,
  time: Millis,
): Snapshot {
  const witnesses = new Map<string, Witness>()
  const watched = [...strategies].map(([name, strategy]) => [name, watchedStrategy(strategy, mint, witnesses)] as const)
  const repeated = new Repeated(new Engine(mints, new Map(watched)), mints, mint)
  for (const entry of entries) if (!repeated.take(entry, time)) break
  const views = [...witnesses].map(([name, witness]) => [name, witness.bot.token(mint), witness] as const)
  return {
    feed: repeated.feed,
    price: views[0]?.[1]?.price,
    eventAgeMs: repeated.eventAgeMs,
    bots: new Map(
      views.map(([name, token, { bot, shown, keys }]) => {
        const known = { shown: shown(), keys, state: token?.state }
        return [name, { ...known, wallet: bot.wallet(), budget: bot.budget() }]
      }),
    ),
  }
}

/** A strategy that asks for nothing, in the place of one that is not there any more. */
export function silentStrategy(name: string): Strategy {
  const params = { parse: (value: unknown) => value } as Strategy['params']
  return { name, about: '', params, keys: [], start: () => ({}) }
}

/** The engine of a segment, up to a time. */
class Repeated {
  feed: FeedStatus = 'down'
  eventAgeMs: number | undefined
  readonly #engine: Engine
  readonly #mints: Mints
  readonly #mint: string
  readonly #age = new EventAge()

  constructor(engine: Engine, mints: Mints, mint: string) {
    this.#engine = engine
    this.#mints = mints
    this.#mint = mint
  }

  /** False where the time is reached. */
  take(entry: Entry, time: Millis): boolean {
    switch (entry.kind) {
      case 'warm':
        for (let row = entry.from; row < entry.to; row++) {
          this.#see(entry.block, row)
          this.#engine.warm(entry.block, row)
        }
        return true
      case 'rows':
        return this.#rows(entry.block, entry.from, entry.to, entry.firstSeq, time)
      case 'input':
        if (entry.time > time) return false
        if (entry.input.kind === 'feed') this.feed = entry.input.status
        this.#engine.input(entry.seq, entry.time, entry.input)
        this.#engine.outputs.length = 0
        return true
      case 'output':
        return true
    }
  }

  #rows(block: Block, from: number, to: number, firstSeq: Seq, time: Millis): boolean {
    let end = to
    while (end > from && (block.time[end - 1] as number) > time) end--
    for (let row = from; row < end; row++) this.#see(block, row)
    for (let row = from; row < end; ) {
      row = this.#engine.rows(firstSeq + row - from, block, row, end)
      this.#engine.outputs.length = 0
    }
    return end === to
  }

  /** As the engine learns how old rows usually are. */
  #see(block: Block, row: number): void {
    const lagMs = (block.time[row] as number) - (block.stamp[row] as number)
    if (lagMs < this.#age.usualMs) this.#age.learn(lagMs)
    if (block.token[row] === this.#mints.find(this.#mint)) this.eventAgeMs = this.#age.of(lagMs)
  }
}

interface Witness {
  readonly bot: Bot
  readonly keys: readonly string[]
  /** Rows of the token so far. */
  readonly shown: () => number
}

/** The same strategy, and who it runs for. */
function watchedStrategy(strategy: Strategy, mint: string, witnesses: Map<string, Witness>): Strategy {
  return {
    ...strategy,
    start: (params, bot) => {
      let shown = 0
      witnesses.set(bot.name, { bot, keys: strategy.keys, shown: () => shown })
      const handlers: unknown = strategy.start(params, bot)
      if (typeof handlers !== 'object' || handlers === null || 'then' in handlers) return handlers as Handlers<unknown>
      return watchedHandlers(handlers, (token) => {
        if (token.mint === mint) shown++
      })
    },
  }
}

function watchedHandlers(handlers: Handlers<unknown>, show: (token: Token) => void): Handlers<unknown> {
  return {
    onTrade: (trade: Trade, token: Token) => {
      show(token)
      handlers.onTrade?.(trade, token)
    },
    onNewToken: (event: NewToken, token: Token) => {
      show(token)
      handlers.onNewToken?.(event, token)
    },
    onPriceUpdate: (update: PriceUpdate, token: Token) => {
      show(token)
      handlers.onPriceUpdate?.(update, token)
    },
    onFill: (fill, token) => handlers.onFill?.(fill, token),
    onOrder: (order, token) => handlers.onOrder?.(order, token),
    onTimer: (name) => handlers.onTimer?.(name),
    onGap: (gap) => handlers.onGap?.(gap),
    onSignal: (name, data) => handlers.onSignal?.(name, data),
    onStop: () => handlers.onStop?.(),
  }
}
