import type { Millis, Seq } from '../../base/units.ts'
import type { Block, NewToken, PriceUpdate, Trade } from '../../market/block.ts'
import { EventAge } from '../../market/event-age.ts'
import type { Mints } from '../../market/mints.ts'
import { Engine } from '../engine.ts'
import type { FeedStatus } from '../messages.ts'
import type { Bot, Handlers, Strategy, Token } from '../strategy.ts'
import type { Entry } from './compare-decisions.ts'

/** A bot's view of one token at a certain time. */
export interface BotSnapshot {
  /** Number of rows of the token that the strategy received in the replayed part of the segment, including rows of the
   *  warm-up. */
  readonly shown: number
  /** Subscription keys of the strategy. */
  readonly keys: readonly string[]
  /** The strategy's state for the token; undefined if it has none. */
  readonly state: unknown
  readonly wallet: ReturnType<Bot['wallet']>
  readonly budget: ReturnType<Bot['budget']>
}

/** The engine's view of one token at a certain time. */
export interface Snapshot {
  readonly feed: FeedStatus
  /** The robust price, SOL a token; undefined if there is none. */
  readonly price: number | undefined
  /** Age of the token's last row, ms: its lag (time of arrival minus the service's timestamp) minus the usual lag of
   *  rows. undefined if there was no row. */
  readonly eventAgeMs: number | undefined
  /** Views of the bots, by name of the bot. */
  readonly bots: ReadonlyMap<string, BotSnapshot>
}

/** Replays a segment (the record of one process from its start to its end) up to `time`, and inspects one token.
 *  Decisions are discarded. `strategies` must be the recorded ones; if silent strategies replace them, the state of the
 *  bots is unknown. */
export function snapshotAt(
  entries: Iterable<Entry>,
  mints: Mints,
  strategies: ReadonlyMap<string, Strategy>,
  mint: string,
  time: Millis,
): Snapshot {
  const observations = new Map<string, Observation>()
  const watched = [...strategies].map(
    ([name, strategy]) => [name, watchedStrategy(strategy, mint, observations)] as const,
  )
  const replay = new SegmentReplay(new Engine(mints, new Map(watched)), mints, mint)
  for (const entry of entries) if (!replay.take(entry, time)) break
  const views = [...observations].map(
    ([name, observation]) => [name, observation.bot.token(mint), observation] as const,
  )
  return {
    feed: replay.feed,
    price: views[0]?.[1]?.price,
    eventAgeMs: replay.eventAgeMs,
    bots: new Map(
      views.map(([name, token, { bot, shown, keys }]) => {
        const known = { shown: shown(), keys, state: token?.state }
        return [name, { ...known, wallet: bot.wallet(), budget: bot.budget() }]
      }),
    ),
  }
}

/** Returns a strategy that makes no requests, to replace a strategy that no longer exists. */
export function silentStrategy(name: string): Strategy {
  const params = { parse: (value: unknown) => value } as Strategy['params']
  return { name, about: '', params, keys: [], start: () => ({}) }
}

/** Replays a segment up to a time. */
class SegmentReplay {
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

  /** Feeds an entry to the engine. Returns false if the entry, or a row of it, is later than `time`. */
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

  /** Learns the usual lag of rows (time of arrival minus the service's timestamp) in the same way as the engine. */
  #see(block: Block, row: number): void {
    const lagMs = (block.time[row] as number) - (block.stamp[row] as number)
    if (lagMs < this.#age.usualMs) this.#age.learn(lagMs)
    if (block.token[row] === this.#mints.find(this.#mint)) this.eventAgeMs = this.#age.of(lagMs)
  }
}

interface Observation {
  readonly bot: Bot
  readonly keys: readonly string[]
  /** Returns the number of rows of the token that the strategy has received. */
  readonly shown: () => number
}

/** Wraps a strategy, to record which bot runs it and to count the rows of the token. */
function watchedStrategy(strategy: Strategy, mint: string, observations: Map<string, Observation>): Strategy {
  return {
    ...strategy,
    start: (params, bot) => {
      let shown = 0
      observations.set(bot.name, { bot, keys: strategy.keys, shown: () => shown })
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
    onBar: (bar, token) => handlers.onBar?.(bar, token),
    exitsFor: (position, bar, token) => handlers.exitsFor?.(position, bar, token),
    ...(handlers.confirmBuy && { confirmBuy: (trigger, token) => handlers.confirmBuy?.(trigger, token) ?? true }),
    onFill: (fill, token) => handlers.onFill?.(fill, token),
    onOrder: (order, token) => handlers.onOrder?.(order, token),
    onPositionClosed: (trip, token) => handlers.onPositionClosed?.(trip, token),
    onTimer: (name) => handlers.onTimer?.(name),
    onGap: (gap) => handlers.onGap?.(gap),
    onSignal: (name, data) => handlers.onSignal?.(name, data),
    onStop: () => handlers.onStop?.(),
  }
}
