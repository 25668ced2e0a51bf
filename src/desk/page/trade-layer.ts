import type {
  IChartApi,
  ISeriesApi,
  ISeriesPrimitive,
  Logical,
  PrimitiveHoveredItem,
  SeriesAttachedParameter,
  SeriesType,
  Time,
} from 'lightweight-charts'
import type { TokenAnswer } from '../api/types.ts'
import { cellOf, type Grid, type Mark, rangeOf } from './chart-data.ts'
import type { Colors } from './colors.ts'

const PRINT_RADIUS = 1.2
const MARK_SIZE = 6
/** Distance from a mark within which a touch selects the mark, CSS pixels. */
const REACH = 14

/** The part of lightweight-charts' canvas target that is used here. The library does not export its type. */
interface Target {
  useMediaCoordinateSpace(
    draw: (scope: { context: CanvasRenderingContext2D; mediaSize: { width: number; height: number } }) => void,
  ): void
}

/**
 * Draws what a series of the library cannot show: every print, the robust price at its exact times, interruptions of
 * the feed, and the fills, refusals and notes of our bots.
 */
export class TradeLayer implements ISeriesPrimitive<Time> {
  #chart: IChartApi | undefined
  #series: ISeriesApi<SeriesType> | undefined
  #update = (): void => {}
  readonly #colors: Colors
  #token: TokenAnswer
  #grid: Grid
  #marks: readonly Mark[]

  constructor(token: TokenAnswer, grid: Grid, marks: readonly Mark[], colors: Colors) {
    this.#token = token
    this.#grid = grid
    this.#marks = marks
    this.#colors = colors
  }

  show(token: TokenAnswer, grid: Grid, marks: readonly Mark[]): void {
    this.#token = token
    this.#grid = grid
    this.#marks = marks
    this.#update()
  }

  attached({ chart, series, requestUpdate }: SeriesAttachedParameter<Time>): void {
    this.#chart = chart as IChartApi
    this.#series = series
    this.#update = requestUpdate
  }

  detached(): void {
    this.#chart = undefined
    this.#series = undefined
  }

  /**
   * The vertical scale covers the robust price, our fills and the exits near the price. It does not cover every print,
   * because a single print may be wrong by a factor of a hundred.
   */
  autoscaleInfo(): { priceRange: { minValue: number; maxValue: number } } | null {
    const fills = this.#marks.filter(({ kind }) => kind === 'buy' || kind === 'sell').map(({ price }) => price)
    const prices = [...this.#token.price[1], ...fills]
    const range = rangeOf(prices)
    if (range === undefined) return null
    const isNear = (price: number | null): price is number =>
      price !== null && price > range.min / 2 && price < range.max * 2
    const { min, max } = rangeOf([range.min, range.max, ...this.#token.exits.map(({ price }) => price).filter(isNear)])!
    return { priceRange: { minValue: min, maxValue: max } }
  }

  paneViews() {
    return [
      { zOrder: () => 'top' as const, renderer: () => ({ draw: (target: unknown) => this.#draw(target as Target) }) },
    ]
  }

  /** Lets the library show a pointer over a mark, because a click opens the explanation of the mark. */
  hitTest(x: number, y: number): PrimitiveHoveredItem | null {
    const mark = this.markAt(x, y)
    return mark === undefined ? null : { externalId: mark.id, cursorStyle: 'pointer', zOrder: 'top' }
  }

  /** The mark at a point of the chart. If several are near the point, the nearest one. */
  markAt(x: number, y: number): Mark | undefined {
    const place = this.#places()
    if (place === undefined) return undefined
    let [best, least]: [Mark | undefined, number] = [undefined, REACH]
    for (const mark of this.#marks) {
      const distance = Math.hypot(place.x(mark.time) - x, place.y(mark.price) - y)
      if (distance < least) [best, least] = [mark, distance]
    }
    return best
  }

  #places(): Places | undefined {
    const scale = this.#chart?.timeScale()
    const first = scale?.logicalToCoordinate(0 as Logical)
    const second = scale?.logicalToCoordinate(1 as Logical)
    if (first === null || first === undefined || second === null || second === undefined) return undefined
    const width = second - first
    // The chart draws the value of a cell at the middle of the cell, but the time of the value is the beginning of the
    // cell. Therefore, half a cell is subtracted.
    const x = (time: number): number => first + (cellOf(this.#grid, time) - 0.5) * width
    return { x, y: (price) => this.#series?.priceToCoordinate(price) ?? Number.NaN }
  }

  #draw(target: Target): void {
    const place = this.#places()
    if (place === undefined) return
    target.useMediaCoordinateSpace(({ context, mediaSize: { width, height } }) => {
      context.save()
      for (const { from, to } of this.#token.gaps) {
        context.fillStyle = this.#colors.gap
        context.fillRect(place.x(from), 0, Math.max(1, place.x(to) - place.x(from)), height)
      }
      this.#drawPrints(context, width, place)
      this.#drawPrice(context, width, place)
      for (const mark of this.#marks) this.#drawMark(context, mark, place.x(mark.time), place.y(mark.price))
      context.restore()
    })
  }

  #drawPrints(context: CanvasRenderingContext2D, width: number, { x, y }: Places): void {
    const { t, p } = this.#token.prints
    context.fillStyle = this.#colors.print
    context.beginPath()
    for (let index = 0; index < t.length; index++) {
      const left = x(t[index]!)
      if (left < -PRINT_RADIUS || left > width) continue
      const top = y(p[index]!)
      context.rect(left - PRINT_RADIUS, top - PRINT_RADIUS, 2 * PRINT_RADIUS, 2 * PRINT_RADIUS)
    }
    context.fill()
  }

  #drawPrice(context: CanvasRenderingContext2D, width: number, { x, y }: Places): void {
    const [times, prices] = this.#token.price
    context.strokeStyle = this.#colors.price
    context.lineWidth = 1.5
    context.lineJoin = 'round'
    context.beginPath()
    let before = Number.NaN
    for (let index = 0; index < times.length; index++) {
      const left = x(times[index]!)
      const top = y(prices[index]!)
      if (index === 0) context.moveTo(left, top)
      else if (left >= 0 || index + 1 === times.length || x(times[index + 1]!) >= 0) {
        context.lineTo(left, before)
        context.lineTo(left, top)
      } else context.moveTo(left, top)
      before = top
      if (left > width) break
    }
    context.stroke()
  }

  /**
   * A fill is a triangle (up for a buy, down for a sale), a refusal is a cross, and a note is a ring, so that the marks
   * can be distinguished without colour.
   */
  #drawMark(context: CanvasRenderingContext2D, { kind }: Mark, x: number, y: number): void {
    const { gain, loss, warn, quiet } = this.#colors
    context.lineWidth = 1.5
    context.beginPath()
    if (kind === 'refusal') {
      context.strokeStyle = warn
      for (const slope of [-1, 1]) {
        context.moveTo(x - 4, y - 4 * slope)
        context.lineTo(x + 4, y + 4 * slope)
      }
      context.stroke()
      return
    }
    if (kind === 'note') {
      context.strokeStyle = quiet
      context.arc(x, y, 3, 0, 2 * Math.PI)
      context.stroke()
      return
    }
    const up = kind === 'buy' ? 1 : -1
    context.moveTo(x, y)
    context.lineTo(x - MARK_SIZE, y + up * 1.7 * MARK_SIZE)
    context.lineTo(x + MARK_SIZE, y + up * 1.7 * MARK_SIZE)
    context.closePath()
    context.fillStyle = kind === 'buy' ? gain : loss
    context.fill()
  }
}

interface Places {
  readonly x: (time: number) => number
  readonly y: (price: number) => number
}
