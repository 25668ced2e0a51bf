import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CHART_SCRIPT, chart } from '../../../src/backtest/report/chart.ts'
import {
  type ChartData,
  type ChartElement,
  type ChartEvent,
  drawChart,
  ticksOf,
  within,
} from '../../../src/backtest/report/chart-script.ts'

const T0 = 1_780_000_000_000
const POINTS = Array.from({ length: 101 }, (_, at) => [T0 + at * 1_000, 1 + at] as const)
const MARKS = [
  { time: T0 + 20_000, value: 21, side: 'buy', text: 'bought </title><b> &' },
  { time: T0 + 80_000, value: 81, side: 'sell', text: 'sold' },
] as const
const VOLUME = Array.from({ length: 100 }, (_, at) => [T0 + at * 1_000, 2, 1] as const)

/** Returns the data of a chart from the page that contains it. */
function dataOf(page: string): ChartData {
  const json = /data-chart="([^"]*)"/.exec(page)?.[1] ?? ''
  return JSON.parse(
    json.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  )
}

const PAGE = chart(POINTS, { title: 'x', unit: 'price', marks: MARKS, volume: VOLUME }).text
const DATA = dataOf(PAGE)
const ALL = { from: 0, to: 100_000, isLog: true, width: 960 }

describe('a chart', () => {
  test("the chart in the page equals the chart that the page's script draws", () => {
    expect(PAGE).toContain(drawChart(DATA, ALL))
  })

  test('the chart has a logarithmic scale at first only if the highest price is more than four times the lowest', () => {
    const first = (values: readonly number[], unit: 'SOL' | 'price') =>
      chart(
        values.map((value, at) => [T0 + at, value] as const),
        { title: 'x', unit },
      ).text.includes('data-log="true"')
    expect(first([1, 5], 'price')).toBe(true)
    expect(first([1, 3], 'price')).toBe(false)
    expect(first([1, 5], 'SOL')).toBe(false)
    expect(first([0, 5], 'price')).toBe(false)
  })

  test('the logarithmic scale draws equal factors with equal heights', () => {
    const heights = [1, 10, 100].map((value) => {
      const points = [1, value, 100].map((one, at) => [T0 + at, one] as const)
      const drawn = drawChart(dataOf(chart(points, { title: 'x', unit: 'price' }).text), { ...ALL, to: 2 })
      return Number(/class="line" d="M[\d.]+ [\d.]+L[\d.]+ ([\d.]+)/.exec(drawn)?.[1])
    }) as [number, number, number]
    expect(heights[0] - heights[1]).toBeCloseTo(heights[1] - heights[2], 0)
    expect(heights[0]).toBeGreaterThan(heights[1])
  })

  test('the chart shows the volume of the visible time, with sales on top of buys and a label at the highest bar', () => {
    const drawn = drawChart(DATA, { ...ALL, width: 86 + 90 }) // room for ten bars of ten steps each
    expect(drawn.match(/class="bought"/g)).toHaveLength(10)
    expect(drawn.match(/class="sold"/g)).toHaveLength(10)
    expect(drawn).toContain('>30 SOL</text>')
    expect(drawChart(DATA, { ...ALL, to: 10_000, width: 86 + 90 })).toContain('>3 SOL</text>')
    expect(drawChart({ ...DATA, volume: [] }, ALL)).not.toContain('SOL</text>')
  })

  test('the chart begins with the first volume and ends with the last one, although the price is known only for a part of this time', () => {
    const points = POINTS.filter(([time]) => time >= T0 + 30_500 && time <= T0 + 70_500)
    const data = dataOf(chart(points, { title: 'x', unit: 'price', volume: VOLUME }).text)
    expect(data.start).toBe(T0)
    const drawn = drawChart(data, { ...ALL, to: data.end, width: 86 + 90 })
    expect(drawn.match(/class="bought"/g)).toHaveLength(10)
  })

  test('a chart that is zoomed in shows only the marks and the values of the visible time', () => {
    const drawn = drawChart(DATA, { ...ALL, from: 70_000, to: 90_000, isLog: false })
    expect(drawn).toContain('<title>sold</title>')
    expect(drawn).not.toContain('bought &lt;')
    const ticks = [...drawn.matchAll(/text-anchor="end">([\d.e+]+)</g)].map(([, text]) => Number(text))
    for (const tick of ticks) expect(tick).toSatisfy((value: number) => value >= 70 && value <= 93)
  })

  test('the chart escapes the texts of its marks', () => {
    expect(drawChart(DATA, ALL)).toContain('<title>bought &lt;/title&gt;&lt;b&gt; &amp;</title>')
  })

  test('the chart has only numbers as coordinates, at any zoom', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(share, share, fc.boolean(), fc.integer({ min: 200, max: 2_000 }), (from, span, isLog, width) => {
        const view = { from: from * 99_000, to: from * 99_000 + 1 + span * 1_000, isLog, width }
        expect(drawChart(DATA, view)).not.toMatch(/NaN|Infinity|undefined/)
      }),
    )
  })
})

test('the part of a curve between two times begins and ends with interpolated values', () => {
  const points = [[0, 0] as const, [10, 10] as const, [20, 0] as const]
  expect(within(points, 5, 15)).toEqual([
    [5, 5],
    [10, 10],
    [15, 5],
  ])
  expect(within(points, 0, 20)).toEqual(points)
})

test.each([
  [1, 100, true, [1, 2, 5, 10, 20, 50, 100]],
  [0.9, 1100, true, [1, 3, 10, 30, 100, 300, 1000]],
  [1.1, 1.9, true, [1.2, 1.4, 1.6, 1.8]],
  [0, 10, false, [0, 2, 4, 6, 8, 10]],
])('the axis of a chart from %d to %d (logarithmic: %s) has the expected ticks', (low, high, isLog, ticks) => {
  expect(ticksOf({ low, high }, isLog).map((tick) => Number(tick.toPrecision(6)))).toEqual(ticks)
})

/** Imitates the parts of a page that the script uses. */
class FakeElement implements ChartElement {
  readonly dataset: Record<string, string | undefined> = {}
  readonly children: ChartElement[] = []
  readonly attributes = new Map<string, string>()
  readonly #listeners = new Map<string, (event: ChartEvent) => void>()
  className = ''
  innerHTML = ''
  textContent: string | null = null
  width = 960

  querySelector(): ChartElement | null {
    return this.children.at(-1) ?? null
  }
  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value)
  }
  append(...children: ChartElement[]): void {
    this.children.push(...children)
  }
  prepend(...children: ChartElement[]): void {
    this.children.unshift(...children)
  }
  addEventListener(name: string, listener: (event: ChartEvent) => void): void {
    this.#listeners.set(name, listener)
  }
  getBoundingClientRect() {
    return { left: 0, width: this.width }
  }
  setPointerCapture(): void {}
  fire(name: string, clientX = 0): void {
    this.#listeners.get(name)?.({ clientX, pointerId: 1, button: 0 })
  }
}

describe('the script of the page', () => {
  /** Runs the script on a page with one chart, and returns the elements of the page. */
  function started() {
    const [figure, svg] = [new FakeElement(), new FakeElement()]
    figure.dataset.chart = JSON.stringify(DATA)
    figure.dataset.log = 'false'
    figure.append(svg)
    let resized = (): void => {}
    const document = { querySelectorAll: () => [figure], createElement: () => new FakeElement() }
    class ResizeObserver {
      constructor(changed: () => void) {
        resized = changed
      }
      observe(): void {}
    }
    runInNewContext(CHART_SCRIPT, { document, ResizeObserver })
    const tools = (figure.children[0] as FakeElement).children as FakeElement[]
    const press = (text: string) => tools.find(({ textContent }) => textContent === text)?.fire('click')
    return { svg, tools, press, resize: () => resized() }
  }
  const whole = drawChart(DATA, { ...ALL, isLog: false })

  test('the script draws the chart for the width of the window, and again when the width changes', () => {
    const { svg, resize } = started()
    expect(svg.innerHTML).toBe(whole)
    svg.width = 340
    resize()
    expect(svg.attributes.get('viewBox')).toBe('0 0 340 272')
    expect(svg.innerHTML).toBe(drawChart(DATA, { ...ALL, isLog: false, width: 340 }))
  })

  test('the script zooms to a time range dragged in either direction, and a double click resets the zoom', () => {
    for (const [from, to] of [
      [511, 947],
      [947, 511],
    ] as const) {
      const { svg } = started()
      svg.fire('pointerdown', from)
      svg.fire('pointermove', to)
      expect(svg.innerHTML).toContain('class="zoomed"')
      svg.fire('pointerup', to)
      const [start, end] = [511, 947].map((x) => ((x - 74) / 874) * 100_000) as [number, number]
      expect(svg.innerHTML).toBe(drawChart(DATA, { ...ALL, isLog: false, from: start, to: end }))
      svg.fire('dblclick')
      expect(svg.innerHTML).toBe(whole)
    }
  })

  test('the script does not zoom at a click', () => {
    const { svg } = started()
    svg.fire('pointerdown', 500)
    svg.fire('pointerup', 503)
    expect(svg.innerHTML).toBe(whole)
  })

  test('the script zooms and moves by buttons, and never leaves the recorded time', () => {
    const { svg, press } = started()
    press('+')
    expect(svg.innerHTML).toBe(drawChart(DATA, { ...ALL, isLog: false, from: 25_000, to: 75_000 }))
    for (let times = 0; times < 5; times++) press('▶')
    expect(svg.innerHTML).toBe(drawChart(DATA, { ...ALL, isLog: false, from: 50_000, to: 100_000 }))
    for (let times = 0; times < 3; times++) press('−')
    expect(svg.innerHTML).toBe(whole)
  })

  test('the script changes the scale, and shows the value at the pointer', () => {
    const { svg, tools, press } = started()
    press('log')
    expect(svg.innerHTML).toBe(drawChart(DATA, ALL))
    expect(tools.find(({ textContent }) => textContent === 'log')?.attributes.get('aria-pressed')).toBe('true')
    svg.fire('pointermove', 74 + 874 / 2)
    expect(tools.at(-1)?.textContent).toMatch(/^\d\d:\d\d:\d\d UTC, 5\.10e\+1 SOL$/)
  })
})
