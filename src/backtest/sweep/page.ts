import { formatSol, lamportsToSol } from '../../base/units.ts'
import { quantile } from '../metrics/statistics.ts'
import { type Column, plain, sol, table } from '../report/format.ts'
import { document, type Html, html, type Part } from '../report/html.ts'
import type { Range } from './space.ts'
import type { Sweep } from './sweep.ts'
import { paramOf, ranked, type SetResult } from './sweep.ts'
import { sweepVerdict } from './verdict.ts'

const MOST_MAPS = 6

/** Returns the page of a sweep as one HTML file. It has heat maps of each pair of swept params, for the sample and for
 *  the hold-out, and a table of all param sets. */
export function sweepPage(sweep: Sweep): string {
  const { bot, strategy, ranges, rows, holdOutPercent, lacks } = sweep
  const results = ranked(sweep.results)
  const valid = results.filter(({ threw }) => threw === '')
  const heldOut = holdOutPercent > 0 ? `, the last ${holdOutPercent} % of them held out` : ', nothing held out'
  return document(
    `${bot} (${strategy}): sweep of ${results.length} param sets`,
    html`<p class="quiet">${rows} market rows${heldOut}.</p>
${lacks.length === 0 ? '' : html`<div class="warn"><p><b>Incomplete data:</b> the tape lacks data that the bot needs.</p><ul>${lacks.map((lack) => html`<li>${lack}</li>`)}</ul></div>`}
${sweepVerdict(sweep, valid).map((sentence) => html`<p>${sentence}</p>`)}
${pairsOf(ranges).map(([x, y]) => mapsOf(sweep, valid, x, y))}
<p class="quiet">Each cell shows the median net result of its param sets, in SOL, and the number of the sets if there are several.</p>
<h2>All param sets, the best in the sample first</h2>
${tableOf(sweep, results)}`,
  )
}

function pairsOf(ranges: readonly Range[]): (readonly [Range, Range | undefined])[] {
  const [first] = ranges
  if (ranges.length === 1 && first !== undefined) return [[first, undefined]]
  return ranges.flatMap((x, index) => ranges.slice(index + 1).map((y) => [x, y] as const)).slice(0, MOST_MAPS)
}

function mapsOf({ holdOutPercent }: Sweep, valid: readonly SetResult[], x: Range, y: Range | undefined): Html {
  const map = (caption: string, of: (one: SetResult) => number): Html =>
    html`<div><h3>${caption}</h3>${heatMap(valid, x, y, of)}</div>`
  return html`<h2>${y === undefined ? x.name : `${x.name} and ${y.name}`}</h2>
<div class="columns">${map('In the sample', ({ sampleLamports }) => sampleLamports)}
${holdOutPercent > 0 ? map('In the hold-out', heldOutOf) : ''}</div>`
}

function heldOutOf({ netLamports, sampleLamports }: SetResult): number {
  return netLamports - sampleLamports
}

function tableOf({ ranges, holdOutPercent }: Sweep, results: readonly SetResult[]): Html {
  const figures = (...heads: string[]): Column[] => heads.map((head) => ({ head, number: true }))
  const columns = [
    ...figures('set', ...ranges.map(({ name }) => name), 'in sample', ...(holdOutPercent > 0 ? ['hold-out'] : [])),
    ...figures('orders', 'fills', 'fees', 'open'),
    { head: 'threw' },
  ]
  const isThrown = results.some(({ threw }) => threw !== '')
  const rows = results.map((result): Part[] => {
    const { set, threw, sampleLamports, orders, buys, sells, feeLamports, open } = result
    const money = [sol(sampleLamports / 1e9), ...(holdOutPercent > 0 ? [sol(heldOutOf(result) / 1e9)] : [])]
    const values = ranges.map(({ name }) => String(paramOf(result, name)))
    return [set, ...values, ...(threw === '' ? money : money.map(() => 'n/a')), orders, buys + sells]
      .concat([plain(feeLamports / 1e9, 4), open])
      .concat(isThrown ? [threw] : [])
  })
  return table(isThrown ? columns : columns.slice(0, -1), rows)
}

const MOST_VALUES = 12
const BINS = 10
const CELL = { width: 60, height: 30 }
const LEFT = 84

/** Draws a heat map over one or two swept params. Each cell shows the median of the value that `of` returns, lamports,
 *  and the number of param sets in the cell. */
function heatMap(results: readonly SetResult[], x: Range, y: Range | undefined, of: Figure): Html {
  const cells = cellsOf(results, axisOf(results, x), y && axisOf(results, y), of)
  const { columns, rows } = cells
  const [width, height] = [LEFT + columns.length * CELL.width, (rows.length + 2) * CELL.height]
  const below = rows.length * CELL.height
  const top = (row: number): number => (rows.length - 1 - row) * CELL.height
  return html`<svg class="heat" role="img" aria-label="${x.name}${y === undefined ? '' : ` and ${y.name}`}" style="max-width: ${width}px" viewBox="0 0 ${width} ${height}">
${rows.map((_, row) => columns.map((_label, column) => boxOf(cells, column, row, top(row))))}
${columns.map((label, column) => html`<text class="tick" x="${LEFT + (column + 0.5) * CELL.width}" y="${below + 16}" text-anchor="middle">${label}</text>`)}
${rows.map((label, row) => html`<text class="tick" x="${LEFT - 8}" y="${top(row) + 19}" text-anchor="end">${label}</text>`)}
<text class="tick" x="${LEFT}" y="${below + 40}">${x.name} →${y === undefined ? '' : `   ${y.name} ↑`}</text>
</svg>`
}

type Figure = (result: SetResult) => number

/** An axis of a heat map. `labels`: labels of its positions. `at`: returns the position of a param set. */
interface Axis {
  readonly labels: readonly string[]
  at(result: SetResult): number
}

/** Creates an axis with one position per value, or with ten equal ranges if there are many values. */
function axisOf(results: readonly SetResult[], { name, from, to }: Range): Axis {
  const values = [...new Set(results.map((result) => paramOf(result, name)))].sort((a, b) => a - b)
  if (values.length <= MOST_VALUES)
    return { labels: values.map(String), at: (result) => values.indexOf(paramOf(result, name)) }
  const width = (to - from) / BINS
  const labels = Array.from({ length: BINS }, (_, bin) => String(Number((from + bin * width).toPrecision(3))))
  return { labels, at: (result) => Math.min(BINS - 1, Math.floor((paramOf(result, name) - from) / width)) }
}

interface Cells {
  readonly columns: readonly string[]
  readonly rows: readonly string[]
  /** Median result and number of the param sets in a cell of the heat map; undefined if the cell has no param set. */
  readonly at: (column: number, row: number) => { readonly lamports: number; readonly count: number } | undefined
  /** Largest absolute median. */
  readonly most: number
}

function cellsOf(results: readonly SetResult[], x: Axis, y: Axis | undefined, of: Figure): Cells {
  const found = new Map<string, number[]>()
  for (const result of results) {
    const key = `${x.at(result)} ${y?.at(result) ?? 0}`
    const values = found.get(key)
    if (values === undefined) found.set(key, [of(result)])
    else values.push(of(result))
  }
  const medians = new Map(
    [...found].map(([key, values]) => [key, { lamports: quantile(values, 0.5) as number, count: values.length }]),
  )
  return {
    columns: x.labels,
    rows: y?.labels ?? [''],
    at: (column, row) => medians.get(`${column} ${row}`),
    most: Math.max(1, ...[...medians.values()].map(({ lamports }) => Math.abs(lamports))),
  }
}

/** Draws a cell of a heat map. The value is printed in the cell, so that colour is not needed to read it. */
function boxOf({ at, most }: Cells, column: number, row: number, top: number): Html {
  const cell = at(column, row)
  const left = LEFT + column * CELL.width
  if (cell === undefined)
    return html`<rect class="none" x="${left}" y="${top}" width="${CELL.width - 1}" height="${CELL.height - 1}"/>`
  const { lamports, count } = cell
  const strength = (0.08 + 0.5 * (Math.abs(lamports) / most)).toFixed(2)
  const text = `${shortSol(lamports)}${count > 1 ? ` (${count})` : ''}`
  return html`<rect class="${lamports >= 0 ? 'gain' : 'loss'}" fill-opacity="${strength}" x="${left}" y="${top}" width="${CELL.width - 1}" height="${CELL.height - 1}"><title>${formatSol(lamports)} SOL, ${count} sets</title></rect><text class="cell" x="${left + CELL.width / 2}" y="${top + 19}" text-anchor="middle">${text}</text>`
}

/** Formats SOL with two significant digits, and at most four decimal places. */
function shortSol(lamports: number): string {
  const sol = lamportsToSol(lamports)
  const text = String(Number(Number(sol.toPrecision(2)).toFixed(4)))
  return text.startsWith('-') && text !== '-0' ? `−${text.slice(1)}` : text === '-0' ? '0' : text
}
