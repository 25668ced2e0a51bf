import type { Bar } from '../../market/bar.ts'
import type { Bars } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import type { SeriesPlan } from './bar-plan.ts'
import { type ValuesClass, valuesClass } from './indicator-values.ts'
import type { BarReader, TokenBars } from './token-bars.ts'
import { NO_BARS, type SeriesOptions, TokenSeries } from './token-series.ts'

/** The part of a bot that its bars use. */
export interface BarHost {
  /** Called with each bar that closes. */
  closed(bar: Bar, token: TokenId): void
  /** Runs code of the strategy. */
  guard(run: () => unknown): void
}

/** The bars and indicators of one bot. */
export class BotBars implements BarReader {
  readonly #all: TokenBars
  readonly #host: BarHost
  readonly #series: readonly SeriesOptions[]
  readonly #tokens: ByToken<TokenEntry> = []
  readonly #Values: ValuesClass
  /** Values for a token without bars. */
  readonly #none: object

  constructor({ bars, indicators }: SeriesPlan, all: TokenBars, host: BarHost) {
    this.#all = all
    this.#host = host
    this.#series = bars.map(({ width, keep, isFilled }) => ({
      ...{ bars: all.declare(width, keep, this), gaps: all.gaps, keep },
      isFilled: isFilled && width.everyMs < Number.POSITIVE_INFINITY,
      indicators: [...indicators.values()].filter((indicator) => indicator.width === width.name),
    }))
    this.#Values = valuesClass(
      [...indicators].map(([name, indicator]) => {
        const series = this.#series.findIndex(({ bars }) => bars.width.name === indicator.width)
        return { name, series, place: this.#series[series]?.indicators.indexOf(indicator) ?? 0 }
      }),
    )
    this.#none = new this.#Values(undefined)
  }

  /** Closed bars of a token, oldest first. Throws TypeError for a width that the strategy does not declare. */
  list(token: TokenId, width: unknown): readonly Bar[] {
    for (let index = 0; index < this.#series.length; index++)
      if (this.#series[index]?.bars.width.name === width) return this.#entryOf(token)?.series[index]?.list ?? NO_BARS
    const declared = this.#series.map(({ bars }) => `'${bars.width.name}'`).join(', ')
    throw new TypeError(`the strategy declares no '${String(width).slice(0, 60)}' bars; it declares ${declared}`)
  }

  /** Object with the current values of the indicators of a token. */
  values(token: TokenId): object {
    const entry = this.#entryOf(token)
    if (entry === undefined) return this.#none
    entry.values ??= new this.#Values(entry)
    return entry.values
  }

  dropping(bars: Bars, token: TokenId): void {
    const index = this.#series.findIndex((series) => series.bars === bars)
    if (this.#series[index]?.indicators.length === 0) return
    this.#host.guard(() => this.#entryOf(token)?.series[index]?.countBeforeDrop())
  }

  closed(bar: Bar, token: TokenId): void {
    this.#host.closed(bar, token)
  }

  /** Ends the use of bars, because the strategy has ended. */
  release(): void {
    this.#all.release(this)
    this.#tokens.length = 0
  }

  forget(token: TokenId): void {
    const entry = this.#tokens[token]
    if (entry === undefined) return
    entry.series = []
    this.#tokens[token] = undefined
  }

  /** Entry of a token; undefined if the token has no bars, because its number may then be given to another token. */
  #entryOf(token: TokenId): TokenEntry | undefined {
    const known = this.#tokens[token]
    if (known !== undefined || token < 0 || !this.#all.holds(token)) return known
    const entry = { series: this.#series.map((options) => new TokenSeries(options, token)), values: undefined }
    setByToken(this.#tokens, token, entry)
    return entry
  }
}

/** A bot's series of one token, in the order of its widths. Empty after the token was forgotten. */
interface TokenEntry {
  series: readonly TokenSeries[]
  values: object | undefined
}
