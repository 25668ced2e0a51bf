import type { Millis } from '../../base/units.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import { type Html, html } from './html.ts'

export type Points = readonly (readonly [Millis, number])[]

/** An event that is marked on the line. */
export interface Mark {
  readonly time: Millis
  readonly value: number
  readonly side: 'buy' | 'sell'
  readonly text: string
}

export interface ChartOptions {
  /** Text alternative of the chart. */
  readonly title: string
  /** Whether to fill the area between the line and 0. */
  readonly area?: boolean
  readonly marks?: readonly Mark[]
  readonly height?: number
  readonly label: (value: number) => string
}

const WIDTH = 960
const LEFT = 84
const RIGHT = 12
const TOP = 12
const BOTTOM = 26
/** Largest number of points that can be distinguished. */
const MOST_POINTS = 1_000

/** Draws a line over time as SVG. */
export function chart(points: Points, options: ChartOptions): Html {
  const { title, area = false, marks = [], height = 220, label } = options
  if (points.length < 2) return html`<p class="quiet">Too few points for a chart.</p>`
  const values = [...points.map(([, value]) => value), ...marks.map(({ value }) => value), ...(area ? [0] : [])]
  const times = [...points.map(([time]) => time), ...marks.map(({ time }) => time)]
  const scale = new Scale(extent(times), extent(values), height)
  const line = thinned(points).map(([time, value]) => `${scale.x(time)} ${scale.y(value)}`)
  const ends = `L${line.at(-1)?.split(' ')[0]} ${scale.y(0)}L${line[0]?.split(' ')[0]} ${scale.y(0)}Z`
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">
${scale.valueTicks().map((value) => html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${scale.y(value)}" y2="${scale.y(value)}"/><text class="tick" x="${LEFT - 8}" y="${scale.y(value) + 4}" text-anchor="end">${label(value)}</text>`)}
${scale.timeTicks().map(([time, text, anchor]) => html`<text class="tick" x="${scale.x(time)}" y="${height - 6}" text-anchor="${anchor}">${text}</text>`)}
${area ? html`<path class="area" d="M${line.join('L')}${ends}"/>` : ''}<path class="${area ? 'line fall' : 'line'}" d="M${line.join('L')}"/>
${marks.map((mark) => markOf(mark, scale))}
</svg>`
}

/** Draws a buy as a triangle from below and a sale as one from above, so that they differ not only in colour. */
function markOf({ time, value, side, text }: Mark, scale: Scale): Html {
  const x = scale.x(time)
  const y = scale.y(value)
  const d = side === 'buy' ? `M${x} ${y}l-7 12h14Z` : `M${x} ${y}l-7 -12h14Z`
  return html`<path class="${side}" d="${d}"><title>${text}</title></path>`
}

class Scale {
  readonly #time: readonly [number, number]
  readonly #value: readonly [number, number]
  readonly #height: number

  constructor(time: readonly [number, number], value: readonly [number, number], height: number) {
    const [low, high] = value
    const spread = high - low
    // With such a small spread, the ticks would differ by less than the precision of numbers.
    const isLevel = spread <= Math.abs(low) * 1e-9
    const margin = (isLevel ? Math.abs(low) * 0.01 : spread * 0.06) || 1
    this.#time = time
    this.#value = [low - margin, high + margin]
    this.#height = height
  }

  x(time: number): number {
    const [from, to] = this.#time
    return rounded(LEFT + ((time - from) / Math.max(1, to - from)) * (WIDTH - LEFT - RIGHT))
  }

  y(value: number): number {
    const [low, high] = this.#value
    return rounded(TOP + (1 - (value - low) / (high - low)) * (this.#height - TOP - BOTTOM))
  }

  /** Returns about five round values. */
  valueTicks(): number[] {
    const [low, high] = this.#value
    const raw = (high - low) / 5
    const power = 10 ** Math.floor(Math.log10(raw))
    const step = ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10) * power
    const ticks: number[] = []
    for (let at = Math.ceil(low / step); at * step <= high; at++) ticks.push(at * step)
    return ticks
  }

  timeTicks(): [Millis, string, 'start' | 'middle' | 'end'][] {
    const [from, to] = this.#time
    const cut = to - from > 2 * 86_400_000 ? [5, 10] : to - from > 600_000 ? [5, 16] : [11, 19]
    return [0, 1, 2, 3, 4].map((at) => {
      const time = from + ((to - from) * at) / 4
      return [time, dateTimeOf(time).slice(...cut), at === 0 ? 'start' : at === 4 ? 'end' : 'middle']
    })
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}

function extent(values: readonly number[]): [number, number] {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return [low, high]
}

/** Reduces the points. Keeps the lowest and the highest point of each group of neighbours, in order, so that no peak is
 *  lost. */
function thinned(points: Points): Points {
  const group = Math.ceil((2 * points.length) / MOST_POINTS)
  if (group < 3) return points
  const kept: (readonly [Millis, number])[] = []
  for (let from = 0; from < points.length; from += group) {
    let low = from
    let high = from
    for (let at = from; at < Math.min(points.length, from + group); at++) {
      if ((points[at]?.[1] as number) < (points[low]?.[1] as number)) low = at
      if ((points[at]?.[1] as number) > (points[high]?.[1] as number)) high = at
    }
    for (const at of low === high ? [low] : low < high ? [low, high] : [high, low])
      kept.push(points[at] as readonly [Millis, number])
  }
  return kept
}
