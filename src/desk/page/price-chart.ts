import {
  CandlestickSeries,
  createChart,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  type SeriesType,
  TickMarkType,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { clockOf, localDateOf } from '../../runtime/time-text.ts'
import type { TokenAnswer } from '../api/types.ts'
import { candles, cellMsOf, type Grid, gridOfToken, type Mark, marksOf, priceCells } from './chart-data.ts'
import { type Colors, wantsLittleMotion } from './colors.ts'
import { exitName, priceText, printable } from './format.ts'
import { TradeLayer } from './trade-layer.ts'

/**
 * The chart of a token. It shows the robust price or bars, all prints, interruptions of the feed, marks for the fills,
 * refusals and notes of our bots, and the prices of the exits.
 */
export class PriceChart {
  readonly #chart: IChartApi
  readonly #series: ISeriesApi<SeriesType>
  readonly #layer: TradeLayer
  readonly #colors: Colors
  readonly #bars: string
  #lines: IPriceLine[] = []

  /** `bars`: width of the bars; '' shows the robust price. `open` is called with a mark that was clicked. */
  constructor(element: HTMLElement, token: TokenAnswer, bars: string, colors: Colors, open: (mark: Mark) => void) {
    this.#colors = colors
    this.#bars = bars
    this.#chart = createChart(element, optionsOf(colors))
    this.#series = this.#chart.addSeries(...seriesOf(bars, colors)) as ISeriesApi<SeriesType>
    this.#layer = new TradeLayer(token, this.#gridOf(token), [], colors)
    this.#series.attachPrimitive(this.#layer)
    this.#chart.subscribeClick(({ point }) => {
      const mark = point === undefined ? undefined : this.#layer.markAt(point.x, point.y)
      if (mark !== undefined) open(mark)
    })
    this.show(token)
    this.#chart.timeScale().fitContent()
  }

  show(token: TokenAnswer): void {
    const grid = this.#gridOf(token)
    const points = token.bars === null ? priceCells(token, grid) : withEmptyCells(candles(token.bars, grid), grid)
    this.#series.setData(points.map((point) => ({ ...point, time: point.time as UTCTimestamp })))
    this.#layer.show(token, grid, marksOf(token))
    for (const line of this.#lines) this.#series.removePriceLine(line)
    this.#lines = token.exits.flatMap(({ kind, price, bot }) => {
      if (price === null) return []
      const title = `${exitName(kind)} ${printable(bot)}`.slice(0, 28)
      const look = {
        color: this.#colors.quiet,
        lineWidth: 1,
        lineStyle: LineStyle.Dashed,
        axisLabelVisible: true,
      } as const
      return [this.#series.createPriceLine({ ...look, price, title })]
    })
  }

  remove(): void {
    this.#chart.remove()
  }

  #gridOf(token: TokenAnswer): Grid {
    return gridOfToken(token, cellMsOf(this.#bars, token.bars))
  }
}

function withEmptyCells(bars: ReturnType<typeof candles>, { from, stepMs, cells }: Grid) {
  const byTime = new Map(bars.map((bar) => [bar.time, bar]))
  return Array.from({ length: cells }, (_none, cell) => {
    const time = (from + cell * stepMs) / 1000
    return byTime.get(time) ?? { time }
  })
}

function seriesOf(bars: string, { gain, loss, price }: Colors): Parameters<IChartApi['addSeries']> {
  const priceFormat = { type: 'custom', minMove: 1e-15, formatter: priceText } as const
  if (bars === '') return [LineSeries, { priceFormat, color: price, lineVisible: false, priceLineVisible: false }]
  const look = { upColor: gain, downColor: loss, borderVisible: false, wickUpColor: gain, wickDownColor: loss }
  return [CandlestickSeries, { priceFormat, ...look, priceLineVisible: false }]
}

function optionsOf({ text, line, quiet }: Colors) {
  return {
    autoSize: true,
    // The library's logo adds a style element, which the content security policy of the page refuses. The page shows
    // the required notice and link in another place.
    layout: { attributionLogo: false, background: { color: 'transparent' }, textColor: text, fontSize: 11 },
    grid: { vertLines: { visible: false }, horzLines: { color: line } },
    rightPriceScale: { borderColor: line },
    kineticScroll: { touch: !wantsLittleMotion(), mouse: false },
    crosshair: { mode: 0, vertLine: { color: quiet }, horzLine: { color: quiet } },
    localization: { timeFormatter: (time: Time) => fullTime(time) },
    timeScale: {
      ...{ borderColor: line, timeVisible: true, secondsVisible: true, minBarSpacing: 0.001, rightOffsetPixels: 24 },
      tickMarkFormatter: (time: Time, kind: TickMarkType) => tickText(time, kind),
    },
  }
}

function fullTime(time: Time): string {
  return `${localDateOf(Number(time) * 1000)} ${clockOf(Number(time) * 1000).slice(0, 8)}`
}

function tickText(time: Time, kind: TickMarkType): string {
  const full = fullTime(time)
  if (kind === TickMarkType.TimeWithSeconds) return full.slice(11)
  return kind === TickMarkType.Time ? full.slice(11, 16) : full.slice(5, 10)
}
