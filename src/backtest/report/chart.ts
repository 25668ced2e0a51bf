import { createHash } from 'node:crypto'
import { printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import * as script from './chart-script.ts'
import { type ChartData, type ChartMark, drawChart, heightOf, PLOT, type Point, thinned } from './chart-script.ts'
import { Html, html } from './html.ts'

export type Points = readonly (readonly [Millis, number])[]

/** Volume of a token in a chart: for each bar, its start, the SOL of the buys, and the SOL of the sales. */
export type Volume = readonly (readonly [Millis, number, number])[]

export interface ChartOptions {
  /** Text alternative of the chart. */
  readonly title: string
  readonly unit: ChartData['unit']
  /** Whether to fill the area between the line and 0. */
  readonly area?: boolean
  readonly marks?: readonly ChartMark[]
  readonly volume?: Volume
  readonly height?: number
}

/** Width of a chart in a page whose script does not run. */
const WIDTH = 960
/** Largest number of points that a page contains for a chart. Without zoom, the chart shows fewer points. */
const MOST_POINTS = 3_000
/** A price whose highest value is this many times its lowest one is drawn on a logarithmic scale at first. */
const LOG_FROM = 4
/** Significant digits of the values in the page. */
const DIGITS = 7

/** Draws a line over time as SVG. The script of the page adds tools to the chart; without the script, the chart is a
 *  static picture. */
export function chart(
  points: Points,
  { title, marks = [], volume = [], area = false, ...options }: ChartOptions,
): Html {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || points.length < 2)
    return html`<p class="quiet">Too few points for a chart.</p>`
  const times = [first[0], last[0], ...marks.map(({ time }) => time), ...volume.map(([time]) => time)]
  const [start, end] = [Math.min(...times), Math.max(...times)]
  const values = [...points.map(([, value]) => value), ...marks.map(({ value }) => value)]
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))]
  const data: ChartData = {
    ...{ start, end: end - start, unit: options.unit, height: options.height ?? 220, area, mayBeLog: !area && low > 0 },
    points: thinned(points, MOST_POINTS).map(([time, value]): Point => [time - start, rounded(value)]),
    marks: marks.map(({ time, value, side, text }) => ({ time: time - start, value, side, text: printable(text) })),
    volume: volume.map(([time, buys, sales]) => [time - start, rounded(buys), rounded(sales)]),
  }
  const isLog = data.mayBeLog && options.unit === 'price' && high > low * LOG_FROM
  const still = new Html(drawChart(data, { from: 0, to: data.end, isLog, width: WIDTH }))
  return html`<div class="chart" data-log="${String(isLog)}" data-chart="${JSON.stringify(data)}"><svg viewBox="0 0 ${WIDTH} ${heightOf(data)}" role="img" aria-label="${title}">
${still}
</svg></div>`
}

function rounded(value: number): number {
  return Number(value.toPrecision(DIGITS))
}

const WATCH = `(element, changed) => { changed(); new ResizeObserver(changed).observe(element) }`
/** Script of a page with charts, and the source expression for the page's content security policy, which allows no
 *  other script. */
export const CHART_SCRIPT = [
  `const PLOT = ${JSON.stringify(PLOT)}`,
  ...Object.values(script)
    .filter((one) => typeof one === 'function')
    .map(String),
  `startCharts(document, ${WATCH})`,
].join('\n')

export const CHART_SCRIPT_SOURCE = `'sha256-${createHash('sha256').update(CHART_SCRIPT).digest('base64')}'`
