import type { Bars } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import type { ConditionPlan } from '../conditions/condition-plan.ts'
import { ConditionTests } from '../conditions/condition-tests.ts'
import type { SeriesNumbers } from './series-numbers.ts'
import type { SharedIndicators } from './shared-indicators.ts'

/** A bot that uses bars. */
export interface BarReader {
  /** Whether the oldest bars of this width may be dropped before the bot's own indicators have counted them. If so,
   *  `dropping` must be called first. */
  mayLack(bars: Bars): boolean
  /** Called before the oldest bars of a token are dropped, if `mayLack` is true. */
  dropping(bars: Bars, token: TokenId): void
  /** Called when the bars of a token are freed. The token's number may then be given to another token. */
  forget(token: TokenId): void
}

/** Receives the closed bars of one width for one bot. */
export interface BarListener {
  /** Whether `closed` must be called for each bar, even if no condition is true. */
  readonly hearsAll: boolean
  /** Whether the strategy has ended. Its conditions are still tested, but `closed` is not called any more. */
  readonly hasEnded: boolean
  /** Called when the newest bar of a token has closed, with the names of the conditions that are true. */
  closed(token: TokenId, conditions: readonly string[]): void
}

const NONE: readonly string[] = Object.freeze([])

/** Calls a listener, unless its strategy has ended, for example in the call of another listener. */
function call(listener: BarListener, token: TokenId, conditions: readonly string[]): void {
  if (!listener.hasEnded) listener.closed(token, conditions)
}

/** True conditions of a token, in the order in which they were added. */
interface Held {
  readonly owners: readonly BarListener[]
  readonly names: readonly string[]
}

/** The bots that use the bars of one width, with the indicators and conditions that they share. */
export class BarAudience {
  readonly bars: Bars
  #readers: readonly BarReader[] = []
  /** The listeners, in the order of the bots. */
  readonly #listeners: BarListener[] = []
  /** The listeners whose `hearsAll` is true; undefined after a change of the readers, until the next bar closes. */
  #hearers: readonly BarListener[] | undefined
  /** The readers whose `mayLack` is true. `#mayLack`: whether there is one, or shared indicators may lack bars;
   *  undefined after a change of the readers, until the next bar closes. */
  #lacking: readonly BarReader[] = []
  #mayLack: boolean | undefined
  /** The indicators that count silent bars, and those that do not. */
  readonly #indicators: SharedIndicators[] = []
  readonly #conditions = new ConditionTests<BarListener>()
  /** Indicators of other widths that the conditions read. They must count their bars before the conditions are
   *  tested. */
  readonly #counted = new Set<SharedIndicators>()
  /** Results of `testAll`, by token; undefined if `testAll` was not called for the bars that are shown now. */
  #tested: Map<TokenId, Held> | undefined

  constructor(bars: Bars) {
    this.bars = bars
  }

  get readers(): readonly BarReader[] {
    return this.#readers
  }

  add(reader: BarReader, keep: number): void {
    this.bars.keep = Math.max(this.bars.keep, keep)
    this.#readers = [...this.#readers, reader]
    this.#changed()
  }

  /** Removes a reader. Replaces the list of readers instead of changing it, because a caller may be iterating over
   *  it. */
  remove(reader: BarReader): void {
    this.#readers = this.#readers.filter((one) => one !== reader)
    for (const indicators of this.#indicators) indicators.release(reader)
    this.#changed()
  }

  #changed(): void {
    this.#hearers = undefined
    this.#mayLack = undefined
  }

  /** Returns the shared indicators over these bars. */
  indicators(isFilled: boolean, create: () => SharedIndicators): SharedIndicators {
    const known = this.#indicators.find(({ source }) => source.isFilled === isFilled)
    if (known !== undefined) return known
    const created = create()
    this.#indicators.push(created)
    return created
  }

  /** Adds the listener of a bot, and the conditions of the bot that are tested when these bars close. */
  addListener(owner: BarListener, plans: readonly ConditionPlan[], numbers: SeriesNumbers): void {
    this.#listeners.push(owner)
    for (const plan of plans) this.#conditions.add(owner, plan, numbers)
    for (const shared of numbers.counted) if (shared.source.bars !== this.bars) this.#counted.add(shared)
  }

  /** Whether `dropping` must be called before the oldest bars of a token are dropped. */
  get mayLack(): boolean {
    return this.#mayLack ?? this.#findLacking()
  }

  /** Called before the oldest bars of a token are dropped. */
  dropping(token: TokenId): void {
    for (const indicators of this.#indicators) if (indicators.mayLack) indicators.dropping(token)
    for (const reader of this.#lacking) reader.dropping(this.bars, token)
  }

  /** Closes the bar of a token. Returns false if the bar has no price; it is then dropped. */
  close(token: TokenId): boolean {
    if (this.mayLack && this.bars.drops(token)) this.dropping(token)
    return this.bars.close(token)
  }

  /** Tests the conditions of all these tokens, whose bars have closed together, in the order in which the tokens are
   *  stored in memory, because reading them in this order is faster. */
  testAll(tokens: Uint32Array): void {
    const tested = new Map<TokenId, Held>()
    this.#tested = tested
    if (this.#conditions.isEmpty) return
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index] as TokenId
      const count = this.#test(token)
      if (count > 0) tested.set(token, this.#heldNow(count))
    }
  }

  /** Shows the bars of all these tokens, which have closed together, to the bots. `testAll` must have been called. */
  showAll(tokens: Uint32Array): void {
    if (this.#allHearers.length > 0 || (this.#tested?.size ?? 0) > 0)
      for (let index = 0; index < tokens.length; index++) this.show(tokens[index] as TokenId)
    this.#tested = undefined
  }

  /** Shows the newest bar of a token to the bots whose conditions are true, and to those that hear of each bar; in the
   *  order of the bots. */
  show(token: TokenId): void {
    const tested = this.#tested
    if (tested === undefined) {
      const count = this.#conditions.isEmpty ? 0 : this.#test(token)
      if (count === 0) this.#callHearers(token)
      else if (this.#allHearers.length > 0) this.#call(token, this.#heldNow(count))
      else this.#callOwners(token, count)
    } else {
      const held = tested.get(token)
      if (held !== undefined) this.#call(token, held)
      else this.#callHearers(token)
    }
  }

  get #allHearers(): readonly BarListener[] {
    return this.#hearers ?? this.#findHearers()
  }

  #callHearers(token: TokenId): void {
    const hearers = this.#allHearers
    for (let index = 0; index < hearers.length; index++) call(hearers[index] as BarListener, token, NONE)
  }

  /** Calls the listeners whose conditions are true. Creates a list only for a listener with several such conditions.
   *  `count`: number of conditions that the last test found to be true. */
  #callOwners(token: TokenId, count: number): void {
    const conditions = this.#conditions
    for (let index = 0, end = 1; index < count; index = end++) {
      const owner = conditions.ownerOf(index)
      while (end < count && conditions.ownerOf(end) === owner) end++
      call(owner, token, end === index + 1 ? conditions.nameOf(index) : this.#namesOf(index, end))
    }
  }

  /** Calls the listeners whose conditions are true and those that hear of each bar, in the order of the bots. The
   *  conditions are in this order too. */
  #call(token: TokenId, { owners, names }: Held): void {
    const hearers = this.#allHearers
    const called = hearers.length === 0 ? owners : this.#listeners
    let end = 0
    for (let index = 0; index < called.length; index++) {
      const listener = called[index] as BarListener
      const first = end
      while (owners[end] === listener) end++
      if (end > first) call(listener, token, names.slice(first, end))
      else if (hearers.includes(listener)) call(listener, token, NONE)
    }
  }

  #test(token: TokenId): number {
    for (const shared of this.#counted) shared.count(token)
    return this.#conditions.test(token)
  }

  #heldNow(count: number): Held {
    const owners: BarListener[] = []
    for (let index = 0; index < count; index++) owners.push(this.#conditions.ownerOf(index))
    return { owners, names: this.#namesOf(0, count) }
  }

  /** Returns the names of the true conditions from index `from` to before `end`. */
  #namesOf(from: number, end: number): string[] {
    const names: string[] = []
    for (let index = from; index < end; index++) names.push(this.#conditions.nameOf(index)[0])
    return names
  }

  forget(token: TokenId): void {
    this.bars.forget(token)
    this.#conditions.forget(token)
    for (const indicators of this.#indicators) indicators.forget(token)
  }

  // V8 allocates memory at every call of a method that contains a closure, even if the call does not use the closure.
  // Therefore closures are in separate methods, which are called rarely.

  #findHearers(): readonly BarListener[] {
    this.#hearers = this.#listeners.filter(({ hearsAll, hasEnded }) => hearsAll && !hasEnded)
    return this.#hearers
  }

  #findLacking(): boolean {
    this.#lacking = this.#readers.filter((reader) => reader.mayLack(this.bars))
    this.#mayLack = this.#lacking.length > 0 || this.#indicators.some(({ mayLack }) => mayLack)
    return this.#mayLack
  }
}
