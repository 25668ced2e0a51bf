// Draws a chart as SVG, and adds tools such as zoom to the charts of a page. A page contains the source text of these
// functions and of PLOT, so that its script draws a zoomed chart exactly as the report does. The functions therefore
// use no code of other files.
/** Content of a chart. Times are ms after `start`, so that the page stays small. */
export interface ChartData {
  readonly start: number
  /** Time of the end. */
  readonly end: number
  readonly unit: 'SOL' | '%' | 'price'
  readonly height: number
  readonly points: readonly Point[]
  readonly marks: readonly ChartMark[]
  /** For each bar: its start, and the SOL of the buys and of the sales in it; empty if the chart has no volume. */
  readonly volume: readonly (readonly [time: number, buys: number, sales: number])[]
  /** Whether to fill the area between the line and 0. */
  readonly area: boolean
  /** Whether the scale can be logarithmic, because every value is positive. */
  readonly mayBeLog: boolean
}

export type Point = readonly [time: number, value: number]

/** An event that is marked on the line. */
export interface ChartMark {
  readonly time: number
  readonly value: number
  readonly side: 'buy' | 'sell'
  readonly text: string
}

/** The visible part of a chart. */
export interface ChartView {
  readonly from: number
  readonly to: number
  readonly isLog: boolean
  readonly width: number
}

interface Scale {
  readonly x: (time: number) => number
  readonly y: (value: number) => number
  readonly low: number
  readonly high: number
  readonly bottom: number
}

export const PLOT = { left: 74, right: 12, top: 12, bottom: 26, volume: 52, narrow: 600, most: 1000, bar: 9 }

/** Returns the content of the chart's SVG element, whose size is `view.width` and `heightOf(data)`. */
export function drawChart(data: ChartData, view: ChartView): string {
  const { points, marks, area, start } = data
  const { from, to, isLog, width } = view
  const shown = within(points, from, to)
  const seen = marks.filter(({ time }) => time >= from && time <= to)
  const values = [...shown.map(([, value]) => value), ...seen.map(({ value }) => value), ...(area ? [0] : [])]
  const scale = scaleOf(values, data, view)
  const { x, y } = scale
  const line = thinned(shown, PLOT.most).map(([time, value]) => `${x(time)} ${y(value)}`)
  const ends = `L${x(shown.at(-1)?.[0] ?? to)} ${y(0)}L${x(shown[0]?.[0] ?? from)} ${y(0)}Z`
  const right = width - PLOT.right
  const valueTicks = ticksOf(scale, isLog).map(
    (value) =>
      `<line class="grid" x1="${PLOT.left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/><text class="tick" x="${PLOT.left - 8}" y="${y(value) + 4}" text-anchor="end">${valueText(value, data.unit)}</text>`,
  )
  const count = width < PLOT.narrow ? 2 : 4
  const timeTicks = Array.from({ length: count + 1 }, (_, at) => {
    const time = from + ((to - from) * at) / count
    const anchor = at === 0 ? 'start' : at === count ? 'end' : 'middle'
    return `<text class="tick" x="${x(time)}" y="${heightOf(data) - 6}" text-anchor="${anchor}">${timeText(start + time, to - from)}</text>`
  })
  const path = line.length < 2 ? '' : `<path class="${area ? 'line fall' : 'line'}" d="M${line.join('L')}"/>`
  return [
    ...valueTicks,
    ...timeTicks,
    ...(area && path !== '' ? [`<path class="area" d="M${line.join('L')}${ends}"/>`] : []),
    ...volumeBars(data, view, scale),
    path,
    // A buy is a triangle that points up, and a sale one that points down, so that they differ not only in colour.
    ...seen.map(({ time, value, side, text }) => {
      const d = `M${x(time)} ${y(value)}l-7 ${side === 'buy' ? '12h14Z' : '-12h14Z'}`
      return `<path class="${side}" d="${d}"><title>${escaped(text)}</title></path>`
    }),
  ].join('\n')
}

/** Height of a chart with its volume. */
export function heightOf({ height, volume }: ChartData): number {
  return height + (volume.length > 0 ? PLOT.volume : 0)
}

/** Returns the points between two times, with interpolated points at both ends. */
export function within(points: readonly Point[], from: number, to: number): Point[] {
  const edge = (time: number): Point[] => {
    const next = points.findIndex((point) => point[0] >= time)
    const [after, before] = [points[next], points[next - 1]]
    if (after === undefined || before === undefined || after[0] === time) return []
    const share = (time - before[0]) / (after[0] - before[0])
    return [[time, before[1] + (after[1] - before[1]) * share]]
  }
  return [...edge(from), ...points.filter(([time]) => time >= from && time <= to), ...edge(to)]
}

export function scaleOf(values: readonly number[], data: ChartData, { from, to, isLog, width }: ChartView): Scale {
  const on = (value: number): number => (isLog ? Math.log10(value) : value)
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const value of values) {
    low = Math.min(low, on(value))
    high = Math.max(high, on(value))
  }
  if (low > high) [low, high] = [0, 1]
  // If the values differ by less than this, the ticks would be closer together than the precision of numbers allows.
  const isLevel = high - low <= Math.abs(low) * 1e-9
  const margin = (isLevel ? Math.abs(low) * 0.01 : (high - low) * 0.06) || 1
  low -= margin
  high += margin
  const bottom = data.height - PLOT.bottom
  const tenth = (value: number): number => Math.round(value * 10) / 10
  return {
    x: (time) => tenth(PLOT.left + ((time - from) / Math.max(1, to - from)) * (width - PLOT.left - PLOT.right)),
    y: (value) => tenth(PLOT.top + (1 - (on(value) - low) / (high - low)) * (bottom - PLOT.top)),
    low: isLog ? 10 ** low : low,
    high: isLog ? 10 ** high : high,
    bottom,
  }
}

/** Returns about five round values; on a logarithmic scale 1, 2 and 5 times the powers of ten, if enough are shown. */
export function ticksOf({ low, high }: Pick<Scale, 'low' | 'high'>, isLog: boolean): number[] {
  const ticks: number[] = []
  if (isLog) {
    const decades = Math.log10(high / low)
    const digits = decades > 5 ? [1] : decades > 2 ? [1, 3] : [1, 2, 5]
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
      for (const digit of digits) ticks.push(digit * 10 ** power)
    const shown = ticks.filter((tick) => tick >= low && tick <= high)
    if (shown.length > 2) return shown
    ticks.length = 0
  }
  const raw = (high - low) / 5
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10) * power
  for (let at = Math.ceil(low / step); at * step <= high; at++) ticks.push(at * step)
  return ticks
}

/** Draws the volume below the line: the sales of each bar are drawn on top of its buys. */
export function volumeBars({ volume, height }: ChartData, { from, to, width }: ChartView, scale: Scale): string[] {
  if (volume.length === 0) return []
  const room = width - PLOT.left - PLOT.right
  const count = Math.max(1, Math.floor(room / PLOT.bar))
  const bars = Array.from({ length: count }, () => ({ buys: 0, sales: 0 }))
  for (const [time, buys, sales] of volume) {
    const bar = bars[Math.floor(((time - from) / Math.max(1, to - from)) * count)]
    if (bar === undefined) continue
    bar.buys += buys
    bar.sales += sales
  }
  const most = Math.max(...bars.map(({ buys, sales }) => buys + sales)) || 1
  const bottom = height + PLOT.volume - PLOT.bottom
  const size = (sol: number): number => Math.round((sol / most) * (bottom - scale.bottom - 8) * 10) / 10
  const bar = (kind: string, at: number, y: number, sol: number): string =>
    sol === 0
      ? ''
      : `<rect class="${kind}" x="${Math.round((PLOT.left + (at * room) / count) * 10) / 10}" y="${Math.round((y - size(sol)) * 10) / 10}" width="${Math.round((room / count) * 0.8 * 10) / 10}" height="${size(sol)}"/>`
  return [
    ...bars.flatMap(({ buys, sales }, at) => [
      bar('bought', at, bottom, buys),
      bar('sold', at, bottom - size(buys), sales),
    ]),
    `<text class="tick" x="${PLOT.left - 8}" y="${scale.bottom + 18}" text-anchor="end">${Number(most.toPrecision(3))} SOL</text>`,
  ]
}

/** Reduces the points to about `most`. Keeps the lowest and the highest point of each group of neighbours, in order, so
 *  that no peak is lost. */
export function thinned(points: readonly Point[], most: number): readonly Point[] {
  const group = Math.ceil((2 * points.length) / most)
  if (group < 3) return points
  const kept: Point[] = []
  for (let from = 0; from < points.length; from += group) {
    const neighbours = points.slice(from, from + group)
    const low = neighbours.reduce((least, point) => (point[1] < least[1] ? point : least))
    const high = neighbours.reduce((greatest, point) => (point[1] > greatest[1] ? point : greatest))
    kept.push(...(low === high ? [low] : low[0] < high[0] ? [low, high] : [high, low]))
  }
  return kept
}

export function valueText(value: number, unit: ChartData['unit']): string {
  if (unit === 'price') return value === 0 ? '0' : value.toExponential(2)
  return value.toFixed(unit === 'SOL' ? 3 : 2).replace('-', '−')
}

/** Formats a time as UTC. The text contains only the parts (date, time of day, seconds) that a chart of `span` ms
 *  needs. */
export function timeText(time: number, span: number): string {
  const text = new Date(time).toISOString().replace('T', ' ')
  if (span > 2 * 86_400_000) return text.slice(5, 10)
  return span > 600_000 ? text.slice(5, 16) : text.slice(11, 19)
}

/** Escapes text for an element. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** The parts of an element that the script uses. */
export interface ChartElement {
  readonly dataset: Record<string, string | undefined>
  className: string
  innerHTML: string
  textContent: string | null
  querySelector(selector: string): ChartElement | null
  setAttribute(name: string, value: string): void
  append(...children: ChartElement[]): void
  prepend(...children: ChartElement[]): void
  addEventListener(name: string, listener: (event: ChartEvent) => void): void
  getBoundingClientRect(): { readonly left: number; readonly width: number }
  setPointerCapture(pointer: number): void
}

export interface ChartEvent {
  readonly clientX: number
  readonly pointerId: number
  readonly button: number
}

export interface ChartPage {
  querySelectorAll(selector: string): Iterable<ChartElement>
  createElement(name: string): ChartElement
}

/** Calls a function now, and whenever the width of the element changes. */
export type WatchWidth = (element: ChartElement, changed: () => void) => void

/** Adds tools to every chart of the page. */
export function startCharts(page: ChartPage, watch: WatchWidth): void {
  for (const figure of page.querySelectorAll('[data-chart]')) {
    const svg = figure.querySelector('svg')
    if (svg !== null) new ChartTools(page, figure, svg, watch)
  }
}

/** The tools of one chart: buttons above it, zoom by dragging over it, and the value at the pointer. */
export class ChartTools {
  readonly #data: ChartData
  readonly #svg: ChartElement
  readonly #note: ChartElement
  readonly #end: number
  readonly #view: { from: number; to: number; isLog: boolean; width: number }
  /** Time at which the drag began, ms; undefined while nothing is dragged. */
  #dragged: number | undefined

  constructor(page: ChartPage, figure: ChartElement, svg: ChartElement, watch: WatchWidth) {
    this.#data = JSON.parse(figure.dataset.chart ?? '')
    this.#svg = svg
    this.#end = this.#data.end
    this.#view = { from: 0, to: this.#end, isLog: figure.dataset.log === 'true', width: 0 }
    this.#note = page.createElement('span')
    const tools = page.createElement('div')
    tools.className = 'tools'
    tools.append(...this.#buttons(page), this.#note)
    figure.prepend(tools)
    svg.addEventListener('pointerdown', (event) => this.#press(event))
    svg.addEventListener('pointermove', (event) => this.#point(event))
    svg.addEventListener('pointerup', (event) => this.#release(event))
    svg.addEventListener('pointercancel', () => this.#cancel())
    svg.addEventListener('dblclick', () => this.#show(0, this.#end))
    watch(svg, () => this.#fit())
  }

  #buttons(page: ChartPage): ChartElement[] {
    const button = (text: string, title: string, act: () => void): ChartElement => {
      const made = page.createElement('button')
      made.textContent = text
      made.setAttribute('title', title)
      made.setAttribute('aria-label', title)
      made.addEventListener('click', act)
      return made
    }
    const buttons = [
      button('+', 'zoom in', () => this.#move(0.25, -0.25)),
      button('−', 'zoom out', () => this.#move(-0.5, 0.5)),
      button('◀', 'earlier', () => this.#move(-0.5, -0.5)),
      button('▶', 'later', () => this.#move(0.5, 0.5)),
      button('all', 'show the whole time', () => this.#show(0, this.#end)),
    ]
    if (!this.#data.mayBeLog) return buttons
    const log = button('log', 'logarithmic scale', () => {
      this.#view.isLog = !this.#view.isLog
      log.setAttribute('aria-pressed', String(this.#view.isLog))
      this.#draw()
    })
    log.setAttribute('aria-pressed', String(this.#view.isLog))
    return [...buttons, log]
  }

  #fit(): void {
    const width = Math.round(this.#svg.getBoundingClientRect().width)
    if (width === this.#view.width || width === 0) return
    this.#view.width = width
    this.#svg.setAttribute('viewBox', `0 0 ${width} ${heightOf(this.#data)}`)
    this.#show(this.#view.from, this.#view.to)
  }

  /** Moves the ends of the visible range. `from` and `to`: shifts of the two ends, as shares of the length of the
   *  range. */
  #move(from: number, to: number): void {
    const span = this.#view.to - this.#view.from
    this.#show(this.#view.from + from * span, this.#view.to + to * span)
  }

  #show(from: number, to: number): void {
    const span = Math.min(this.#end, Math.max(this.#end / PLOT.most, to - from))
    this.#view.from = Math.min(Math.max(0, from), this.#end - span)
    this.#view.to = this.#view.from + span
    this.#note.textContent = span < this.#end ? '' : 'drag over the chart to zoom'
    this.#draw()
  }

  /** `over`: SVG that is drawn over the chart. */
  #draw(over = ''): void {
    if (this.#view.width > 0) this.#svg.innerHTML = drawChart(this.#data, this.#view) + over
  }

  #timeAt({ clientX }: ChartEvent): number {
    const { from, to, width } = this.#view
    const share = (clientX - this.#svg.getBoundingClientRect().left - PLOT.left) / (width - PLOT.left - PLOT.right)
    return from + Math.min(1, Math.max(0, share)) * (to - from)
  }

  #press(event: ChartEvent): void {
    if (event.button !== 0) return
    this.#dragged = this.#timeAt(event)
    this.#svg.setPointerCapture(event.pointerId)
  }

  #point(event: ChartEvent): void {
    const time = this.#timeAt(event)
    const { start, unit, points } = this.#data
    const [, value] = points.findLast((point) => point[0] <= time) ?? []
    const ofUnit = unit === '%' ? ' %' : ' SOL'
    if (value !== undefined)
      this.#note.textContent = `${timeText(start + time, 0)} UTC, ${valueText(value, unit)}${ofUnit}`
    if (this.#dragged === undefined) return
    const { from, to, width } = this.#view
    const x = (at: number): number => PLOT.left + ((at - from) / (to - from)) * (width - PLOT.left - PLOT.right)
    const [left, right] = [x(Math.min(this.#dragged, time)), x(Math.max(this.#dragged, time))]
    this.#draw(`<rect class="zoomed" x="${left}" y="0" width="${right - left}" height="${heightOf(this.#data)}"/>`)
  }

  #release(event: ChartEvent): void {
    const from = this.#dragged
    const to = this.#timeAt(event)
    this.#dragged = undefined
    const least = (this.#view.to - this.#view.from) / 50
    if (from !== undefined && Math.abs(to - from) > least) this.#show(Math.min(from, to), Math.max(from, to))
    else this.#draw()
  }

  #cancel(): void {
    this.#dragged = undefined
    this.#draw()
  }
}
