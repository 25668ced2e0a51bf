import { type ComponentChild, h } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { clockOf, localDateOf } from '../../runtime/time-text.ts'
import type { EquityAnswer, MoneyAnswer } from '../api/types.ts'
import { type Colors, colorsOf } from './colors.ts'
import { Empty, useAnswer, Waiting } from './elements.ts'
import { printable, signedSol, timeText } from './format.ts'

const EVERY_MS = 30_000
const POINTS = 600
const HEIGHT = 220
const AXIS_WIDTH = 64
const DAY_S = 86_400

/** Explains what the curves contain. A running process records the result of each bot once a minute. */
function explanation({ recordedFrom }: EquityAnswer, now: number): string {
  const bots = Object.entries(recordedFrom)
  if (bots.every(([, from]) => from === null))
    return 'Profit of the closed positions in SOL. Only the last point also contains the open positions, as if they were sold now; an earlier loss of a position counts when the position closes.'
  const parts = bots.flatMap(([bot, from]) => {
    if (from === 0) return []
    return from === null
      ? [`${printable(bot)} (except the last point)`]
      : [`${printable(bot)} before ${timeText(from, now)}`]
  })
  const all = 'Profit in SOL, with the open positions as if they were sold at each time, recorded once a minute.'
  return parts.length === 0 ? all : `${all} Only closed positions were recorded for: ${parts.join(', ')}.`
}

/** Equity of all bots, or of one. */
export function EquityChart({ bot, mode = '', now }: { bot: string; mode?: string; now: number }): ComponentChild {
  const given = Object.entries({ points: String(POINTS), bot, mode }).filter(([, value]) => value !== '')
  const query = new URLSearchParams(given)
  const asked = useAnswer<EquityAnswer>(`/api/equity?${query}`, EVERY_MS)
  const { answer } = asked
  if (answer === undefined) return h(Waiting, { asked })
  const names = Object.keys(answer.bots)
  if (answer.times.length === 0 || names.length === 0) return h(Empty, {}, 'The journal has no results yet.')
  const last = names.map((name) => `${printable(name)} ${signedSol(answer.bots[name]?.at(-1))} SOL`)
  return h(
    'div',
    {},
    h('p', { class: 'quiet' }, explanation(answer, now)),
    h(
      'ul',
      { class: 'legend' },
      last.map((text, index) =>
        h('li', { key: text }, h('span', { class: `series-${(index % 6) + 1}`, 'aria-hidden': true }, '─'), ` ${text}`),
      ),
    ),
    h(Plot, {
      label: `Equity: ${last.join(', ')}`,
      data: [answer.times.map((time) => time / 1000), ...names.map((name) => [...(answer.bots[name] ?? [])])],
      look: (colors, UPlot) => {
        // A result that did not change is not recorded again, so each value holds until the next one.
        const paths = UPlot.paths.stepped!({ align: 1 })
        return { series: names.map((_name, index) => ({ stroke: colors.series[index % 6]!, width: 1.5, paths })) }
      },
    }),
  )
}

/** Net result of each day: gains above zero, losses below. */
export function DailyChart({ daily }: { daily: MoneyAnswer['daily'] }): ComponentChild {
  if (daily.length === 0) return h(Empty, {}, 'No position has closed.')
  const times = daily.map(({ day }) => Date.parse(`${day}T12:00:00Z`) / 1000)
  const gains = daily.map(({ netSol }) => (netSol > 0 ? netSol : null))
  const losses = daily.map(({ netSol }) => (netSol > 0 ? null : netSol))
  const sum = daily.reduce((all, { netSol }) => all + netSol, 0)
  return h(Plot, {
    label: `Net result of ${daily.length} days, ${signedSol(sum)} SOL in all`,
    data: [times, gains, losses],
    look: (colors, UPlot) => {
      const paths = UPlot.paths.bars!({ size: [0.7, 48] })
      // uPlot would choose a range of years for a chart with a single time, so the range is set here.
      const last = times.at(-1) as number
      const range = (_plot: uPlot, from: number, to: number): uPlot.Range.MinMax => [
        from - DAY_S,
        Math.min(to, last) + DAY_S,
      ]
      return {
        scales: {
          x: { time: true, range },
          y: { range: (_plot, min, max) => [1.1 * Math.min(0, min ?? 0), 1.1 * Math.max(0, max ?? 0)] },
        },
        series: [colors.gain, colors.loss].map((color) => ({
          stroke: color,
          fill: color,
          paths,
          points: { show: false },
        })),
      }
    },
  })
}

interface Look {
  readonly series: uPlot.Series[]
  readonly scales?: uPlot.Scales
}

interface PlotProps {
  readonly label: string
  readonly data: readonly (readonly (number | null)[])[]
  readonly look: (colors: Colors, UPlot: typeof uPlot) => Look
}

/** A chart by the library uPlot, which is loaded when the first chart is shown. */
function Plot({ label, data, look }: PlotProps): ComponentChild {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latest = useRef(data)
  latest.current = data
  const count = data.length
  useEffect(() => {
    let isGone = false
    let watch: ResizeObserver | undefined
    void import('uplot').then(({ default: UPlot }) => {
      const element = place.current
      if (isGone || element === null) return
      const width = (): number => Math.max(200, element.clientWidth)
      const colors = colorsOf(element)
      const options = { ...optionsOf(colors, look(colors, UPlot)), width: width(), height: HEIGHT }
      plot.current = new UPlot(options, latest.current as uPlot.AlignedData, element)
      watch = new ResizeObserver(() => plot.current?.setSize({ width: width(), height: HEIGHT }))
      watch.observe(element)
      element.dataset.drawn = 'yes'
    })
    return () => {
      isGone = true
      watch?.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [count])
  useEffect(() => plot.current?.setData(data as uPlot.AlignedData), [data])
  return h('div', { class: 'chart', ref: place, role: 'img', 'aria-label': label })
}

function optionsOf({ quiet, line }: Colors, { series, scales }: Look): Omit<uPlot.Options, 'width' | 'height'> {
  const axis = {
    stroke: quiet,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
    font: '11px system-ui',
  }
  return {
    ...{ legend: { show: false }, cursor: { drag: { x: true, y: false } } },
    ...(scales === undefined ? {} : { scales }),
    series: [{}, ...series],
    axes: [
      { ...axis, values: (_plot, splits, _axis, _space, step) => splits.map((time) => tickText(time * 1000, step)) },
      { ...axis, size: AXIS_WIDTH, values: (_plot, splits) => splits.map((value) => signedSol(value, 3)) },
    ],
  }
}

/** Text of a time on the time axis: the time of day. At midnight, and if the steps of the axis are days or longer, it
 *  is the date. */
function tickText(time: number, stepSeconds: number): string {
  if (stepSeconds < 60) return clockOf(time).slice(0, 8)
  const clock = clockOf(time).slice(0, 5)
  return stepSeconds >= DAY_S || clock === '00:00' ? localDateOf(time).slice(5) : clock
}
