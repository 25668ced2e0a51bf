// Computes the data of the charts. It uses nothing of a browser, so that tests can run it in Node.
import { parseWidth } from '../../market/bar-width.ts'
import type { BotStatus } from '../../runtime/view/view.ts'
import type { TokenAnswer } from '../api/types.ts'
import { priceText, printable, solText, timeText, wordsOf } from './format.ts'

const MOST_CELLS = 4_000
/**
 * Maximum number of cells (see `Grid`) for bars without a fixed length: bars that end after a number of trades or a
 * traded amount.
 */
const MOST_UNEVEN_CELLS = 400
const USUAL_WIDTHS = ['15s', '1m', '5m']
const SECOND_MS = 1_000
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400]

/** The time axis of a chart, divided into cells of equal length. `from` is the time at which the first cell begins. */
export interface Grid {
  readonly from: number
  readonly stepMs: number
  readonly cells: number
}

/** `cellMs`: minimum length of a cell. */
export function gridOf(from: number, to: number, cellMs = 0): Grid {
  const span = Math.max(SECOND_MS, to - from)
  const fitting =
    STEPS_S.find((step) => span / (step * SECOND_MS) <= MOST_CELLS) ?? Math.ceil(span / MOST_CELLS / SECOND_MS)
  const stepMs = Math.max(fitting * SECOND_MS, cellMs)
  const start = Math.floor(from / stepMs) * stepMs
  return { from: start, stepMs, cells: Math.min(MOST_CELLS * 2, Math.floor((to - start) / stepMs) + 1) }
}

/**
 * Returns the grid for the chart of a token. The grid begins with the first price, so that the prices of a young token
 * fill the chart.
 */
export function gridOfToken({ from, to, price: [times] }: TokenAnswer, cellMs: number): Grid {
  return gridOf(Math.max(from, times[0] ?? from), to, cellMs)
}

/** Position of a time on the axis, in cells. */
export function cellOf({ from, stepMs }: Grid, time: number): number {
  return (time - from) / stepMs
}

export interface Point {
  /** Time in seconds since 1970, the unit of the chart library. */
  readonly time: number
  readonly value?: number
}

/** The last price of each cell. A cell without a print has the price of the cell before it, because a price is valid
 *  until the next one. */
export function priceCells({ price: [times, prices] }: Pick<TokenAnswer, 'price'>, grid: Grid): Point[] {
  const points: Point[] = []
  let next = 0
  for (let cell = 0; cell < grid.cells; cell++) {
    const end = grid.from + (cell + 1) * grid.stepMs
    while (next < times.length && times[next]! < end) next++
    const time = (grid.from + cell * grid.stepMs) / SECOND_MS
    points.push(next === 0 ? { time } : { time, value: prices[next - 1]! })
  }
  return points
}

export interface Candle {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** Returns one candle for each cell of the time axis in which a bar ends. Several bars that end in one cell become one
 *  candle, which can happen if a bar has a number of trades and no fixed time. */
export function candles(bars: NonNullable<TokenAnswer['bars']>, grid: Grid): Candle[] {
  const byCell = new Map<number, Candle>()
  for (const { t, o, h, l, c } of bars) {
    const cell = Math.ceil(cellOf(grid, t)) - 1
    if (cell < 0 || cell >= grid.cells) continue
    const before = byCell.get(cell)
    const time = (grid.from + cell * grid.stepMs) / SECOND_MS
    byCell.set(cell, {
      ...{ time, open: before?.open ?? o, close: c },
      ...{ high: Math.max(before?.high ?? h, h), low: Math.min(before?.low ?? l, l) },
    })
  }
  return [...byCell.values()].sort((one, other) => one.time - other.time)
}

/** Robust price at a time; undefined before the first one. */
export function priceAt([times, prices]: TokenAnswer['price'], time: number): number | undefined {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! <= time) low = middle + 1
    else high = middle
  }
  return low === 0 ? prices[0] : prices[low - 1]
}

/** A fill, refusal or note of a bot on the chart. A click on it opens the explanation. */
export interface Mark {
  readonly id: string
  readonly kind: 'buy' | 'sell' | 'refusal' | 'note'
  readonly time: number
  readonly price: number
  readonly bot: string
  /** The order or the decision that is explained if the user clicks the mark. */
  readonly subject: string
  readonly text: string
}

export function marksOf({ fills, refusals, notes, price }: TokenAnswer): Mark[] {
  const at = (time: number): number => priceAt(price, time) ?? 0
  const words = (kind: 'refusal' | 'note', list: TokenAnswer['refusals']): Mark[] =>
    list.map(({ t, id, bot, code, text, count }) => ({
      ...{ id, kind, time: t, price: at(t), bot, subject: id },
      text: `${wordsOf(code)}${count > 1 ? ` (${count} times)` : ''}: ${printable(text)}`,
    }))
  const trades = fills.map(({ t, p, sol, side, orderId, bot }): Mark => {
    const text = `${side === 'buy' ? 'bought for' : 'sold for'} ${solText(sol)} SOL at ${priceText(p)}`
    return { id: `fill${orderId}-${t}`, kind: side, time: t, price: p ?? at(t), bot, subject: orderId, text }
  })
  return [...trades, ...words('refusal', refusals), ...words('note', notes)].sort((one, other) => one.time - other.time)
}

/** A mark as one line of text, for the list below the chart and for screen readers. */
export function markText({ time, bot, text }: Mark, now: number): string {
  return `${timeText(time, now)} ${printable(bot)} ${text}`
}

/** Lowest and highest value; undefined without values. */
export function rangeOf(values: readonly number[]): { min: number; max: number } | undefined {
  if (values.length === 0) return undefined
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, max }
}

export interface Step {
  readonly label: string
  readonly sol: number
  /** Left edge and width of the bar, percent of the whole width. */
  readonly left: number
  readonly width: number
  readonly isTotal: boolean
}

/** Bars of a waterfall. The bars of the first and the last row begin at zero; every other bar
 *  begins where the previous one ended. */
export function waterfallSteps(rows: readonly { readonly label: string; readonly sol: number }[]): Step[] {
  const edges = rows.map((_row, index) => {
    const isTotal = index === 0 || index === rows.length - 1
    const start = isTotal ? 0 : rows.slice(0, index).reduce((sum, { sol }) => sum + sol, 0)
    return { isTotal, start, end: start + rows[index]!.sol }
  })
  const { min, max } = rangeOf([0, ...edges.flatMap(({ start, end }) => [start, end])])!
  const whole = max - min || 1
  return rows.map(({ label, sol }, index) => {
    const { isTotal, start, end } = edges[index]!
    const left = ((Math.min(start, end) - min) / whole) * 100
    return { label, sol, left, width: (Math.abs(end - start) / whole) * 100, isTotal }
  })
}

/**
 * Minimum length, in ms, of the cells into which the time axis of a chart is divided; 0 if the chart shows no bars. For
 * bars of a fixed time, it is this time. Bars of a number of trades or of a traded amount differ in length. For them,
 * the cells are so short that nine of ten bars have a cell of their own, unless such cells would be too narrow to see.
 */
export function cellMsOf(width: string, bars: TokenAnswer['bars']): number {
  const everyMs = parseWidth(width)?.everyMs ?? 0
  if (Number.isFinite(everyMs)) return everyMs
  const times = bars?.map(({ t }) => t) ?? []
  const gaps = times.slice(1).map((time, index) => time - times[index]!)
  const short = gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 10)] ?? 0
  const seen = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / MOST_UNEVEN_CELLS
  return Math.ceil(Math.max(short, seen) / SECOND_MS) * SECOND_MS
}

/** A width of bars that the user can choose, and the bots that declare it. */
export interface OfferedWidth {
  readonly width: string
  readonly bots: readonly string[]
}

/**
 * The widths that the bots declare, and some usual ones. In a journal of an earlier version the bots declare no widths,
 * so the widths are searched for in their parameters.
 */
export function offeredWidths(bots: readonly Pick<BotStatus, 'name' | 'bars' | 'params'>[]): OfferedWidth[] {
  const offered = new Map<string, string[]>()
  for (const { name, bars, params } of bots)
    for (const width of bars ?? widthsIn(params)) offered.set(width, [...(offered.get(width) ?? []), name])
  for (const width of USUAL_WIDTHS) if (!offered.has(width)) offered.set(width, [])
  return [...offered].map(([width, bots]) => ({ width, bots }))
}

function widthsIn(params: unknown): string[] {
  const found = new Set<string>()
  const walk = (value: unknown, depth: number): void => {
    if (typeof value === 'string' && parseWidth(value) !== undefined) found.add(value)
    else if (typeof value === 'object' && value !== null && depth < 6)
      for (const [key, part] of Object.entries(value)) {
        walk(key, depth + 1)
        walk(part, depth + 1)
      }
  }
  walk(params, 0)
  return [...found]
}
