import { Pauses } from '../../backtest/tape-pauses.ts'
import type { Millis } from '../../base/units.ts'
import { FIREHOSES } from '../../engine/bots/subscription-router.ts'
import { openReader } from '../../journal/reader/reader.ts'
import type { MarketItem } from '../../journal/tape/market-tape.ts'
import { appendEvent, runSteps } from '../../sandbox/market/event-rows.ts'
import type { MarketEvent } from '../../sandbox/market/market.ts'
import { SeededMarket } from '../../sandbox/market/seeded-market.ts'
import type { GrowingTape } from './growing-tape.ts'

type Rows = Extract<MarketItem, { kind: 'rows' }>

/** The source of the rows of a dev session. */
export interface DevSource {
  readonly title: string
  readonly startsAt: Millis
  /** Whether the source has no more rows. */
  readonly isOver: boolean
  /**
   * Writes rows to the tape until the time `until` is reached or the tape has `mostRows` rows. Returns the time that
   * was reached.
   */
  advance(tape: GrowingTape, until: Millis, mostRows: number): Millis
  close(): void
}

/** The market of the sandbox, which runs in this process without service and chain. */
export class SandboxSource implements DevSource {
  readonly title: string
  readonly startsAt: Millis
  readonly isOver = false
  readonly #market: SeededMarket
  #emit: (event: MarketEvent) => void = () => {}
  #isLive = false

  constructor(seed: number, startsAt: Millis) {
    this.title = `sandbox, seed ${seed}`
    this.startsAt = startsAt
    this.#market = new SeededMarket({ seed, emit: (event) => this.#emit(event) })
  }

  advance(tape: GrowingTape, until: Millis): Millis {
    if (!this.#isLive) tape.input(this.startsAt, { kind: 'feed', status: 'live', confirmed: FIREHOSES })
    this.#isLive = true
    let at = 0
    this.#emit = (event) => tape.add((block) => appendEvent(block, tape.mints, this.startsAt + at, event))
    runSteps(this.#market, until - this.startsAt, (step) => {
      at = Math.ceil(step)
    })
    tape.flush()
    return until
  }

  close(): void {}
}

/** The tape of a journal, from its beginning. */
export class JournalSource implements DevSource {
  readonly title: string
  readonly startsAt: Millis
  isOver = false
  readonly #close: () => void
  readonly #itemsOf: (tape: GrowingTape) => Iterator<MarketItem>
  #items: Iterator<MarketItem> | undefined
  /** Rows that were read from the journal, and that are later than the tape's present end. */
  #rest: Rows | undefined
  readonly #pauses = new Pauses()
  #head: Millis

  constructor(path: string) {
    const reader = openReader(path)
    const market = reader.market()
    this.#close = () => reader.close()
    this.#itemsOf = (tape) => market.items(tape.mints)[Symbol.iterator]()
    this.title = `tape ${path}, ${market.rows} rows`
    this.startsAt = market.stretches[0]?.from ?? 0
    this.#head = this.startsAt
  }

  advance(tape: GrowingTape, until: Millis, mostRows: number): Millis {
    this.#items ??= this.#itemsOf(tape)
    while (!this.isOver && tape.rows < mostRows) {
      if (this.#rest !== undefined && !this.#write(tape, this.#rest, until)) break
      const { value: item, done } = this.#items.next()
      if (done === true) this.isOver = true
      else if (item.kind === 'rows') this.#rest = item
      else this.#tell(tape, item)
    }
    tape.flush()
    this.#head = Number.isFinite(until) && !this.isOver ? Math.max(this.#head, until) : this.#head
    return this.#head
  }

  close(): void {
    this.#items?.return?.()
    this.#close()
  }

  /** Appends the rows that are not later than `until` to the tape. Returns whether these were all rows. */
  #write(tape: GrowingTape, { kind, block, from, to }: Rows, until: Millis): boolean {
    let end = from
    while (end < to && (block.time[end] as number) <= until) end++
    tape.copy(block, from, end)
    tape.flush()
    if (end > from) this.#head = Math.max(this.#head, block.time[end - 1] as number)
    this.#rest = end < to ? { kind, block, from: end, to } : undefined
    return end === to
  }

  #tell(tape: GrowingTape, item: Exclude<MarketItem, Rows>): void {
    if (item.kind === 'news') tape.input(item.time, item.news)
    const pause = this.#pauses.take(item)
    if (pause !== undefined) tape.input(pause.time, pause.news)
  }
}
