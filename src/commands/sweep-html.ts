import { paramOf, ranked, type SetResult } from '../backtest/set-result.ts'
import type { Sweep } from '../backtest/sweep.ts'
import type { Range } from '../backtest/sweep-space.ts'
import { formatSol, lamportsToSol } from '../core/units.ts'

const MOST_MAPS = 6
const MOST_VALUES = 12
const BINS = 10
const CELL = { width: 46, height: 26 }
const LEFT = 70

/** A sweep as one file that needs nothing else: heat maps of every two swept params, in the sample and beside it, and all sets. */
export function sweepHtml(sweep: Sweep): string {
  const { bot, strategy, ranges, results, rows, holdOutPercent } = sweep
  const title = escaped(`${bot} (${strategy}): sweep of ${results.length} sets`)
  const heldOut = holdOutPercent > 0 ? `, the last ${holdOutPercent} % held out` : ', nothing held out'
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>${STYLE}</style></head><body>
<h1>${title}</h1>
<p>${rows} market rows${heldOut}. A cell is the median net result, SOL, of the sets in it; the number of sets where there are several.</p>
${pairsOf(ranges)
  .map(([x, y]) => mapsOf(sweep, x, y))
  .join('\n')}
${tableOf(sweep, ranked(results))}
</body></html>
`
}

const STYLE = `
:root { color-scheme: light dark; --gain: #1a7f37; --loss: #c0392b; --line: #8885; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.maps { display: flex; flex-wrap: wrap; gap: 2rem; } figure { margin: 0; } svg text { fill: currentColor; font-size: 10px; }
rect.gain { fill: var(--gain); } rect.loss { fill: var(--loss); } rect.none { fill: none; stroke: var(--line); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } td, th { padding: .15rem .6rem; text-align: right; }
tbody tr:nth-child(odd) { background: #8881; }
@media (prefers-color-scheme: dark) { :root { --gain: #3fb950; --loss: #f85149; } }`

function pairsOf(ranges: readonly Range[]): (readonly [Range, Range | undefined])[] {
  const [first] = ranges
  if (ranges.length === 1 && first !== undefined) return [[first, undefined]]
  return ranges.flatMap((x, index) => ranges.slice(index + 1).map((y) => [x, y] as const)).slice(0, MOST_MAPS)
}

function mapsOf({ results, holdOutPercent }: Sweep, x: Range, y: Range | undefined): string {
  const valid = results.filter(({ threw }) => threw === '')
  const kinds: [string, (one: SetResult) => number][] = [['in the sample', ({ sampleLamports }) => sampleLamports]]
  if (holdOutPercent > 0)
    kinds.push(['in the hold-out', ({ netLamports, sampleLamports }) => netLamports - sampleLamports])
  const maps = kinds.map(([caption, of]) => {
    const cells = cellsOf(valid, axisOf(valid, x), y && axisOf(valid, y), of)
    return `<figure><figcaption>${caption}</figcaption>${heatMap(cells, x, y)}</figure>`
  })
  return `<h2>${escaped(y === undefined ? x.name : `${x.name} and ${y.name}`)}</h2><div class="maps">${maps.join('')}</div>`
}

/** Where on an axis a set lies, and what stands beside it. */
interface Axis {
  readonly name: string
  readonly labels: readonly string[]
  at(result: SetResult): number
}

/** Each value its own place while there are few; else ten equal stretches. */
function axisOf(results: readonly SetResult[], { name, from, to }: Range): Axis {
  const values = [...new Set(results.map((result) => paramOf(result, name)))].sort((a, b) => a - b)
  if (values.length <= MOST_VALUES)
    return { name, labels: values.map(String), at: (result) => values.indexOf(paramOf(result, name)) }
  const width = (to - from) / BINS
  const labels = Array.from({ length: BINS }, (_, bin) => String(Number((from + bin * width).toPrecision(3))))
  return { name, labels, at: (result) => Math.min(BINS - 1, Math.floor((paramOf(result, name) - from) / width)) }
}

interface Cells {
  readonly columns: readonly string[]
  readonly rows: readonly string[]
  /** Median and number of the sets at a place; undefined where there is none. */
  readonly at: (column: number, row: number) => { readonly lamports: number; readonly count: number } | undefined
  /** The largest median either way. */
  readonly most: number
}

function cellsOf(results: readonly SetResult[], x: Axis, y: Axis | undefined, of: (one: SetResult) => number): Cells {
  const found = new Map<string, number[]>()
  for (const result of results) {
    const key = `${x.at(result)} ${y?.at(result) ?? 0}`
    const values = found.get(key)
    if (values === undefined) found.set(key, [of(result)])
    else values.push(of(result))
  }
  const medians = new Map([...found].map(([key, values]) => [key, { lamports: median(values), count: values.length }]))
  return {
    columns: x.labels,
    rows: y?.labels ?? [''],
    at: (column, row) => medians.get(`${column} ${row}`),
    most: Math.max(1, ...[...medians.values()].map(({ lamports }) => Math.abs(lamports))),
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

function heatMap({ columns, rows, at, most }: Cells, x: Range, y: Range | undefined): string {
  const [width, height] = [LEFT + columns.length * CELL.width, (rows.length + 2) * CELL.height]
  const boxes = rows.flatMap((_, row) =>
    columns.map((_label, column) => {
      const cell = at(column, row)
      const [left, top] = [LEFT + column * CELL.width, (rows.length - 1 - row) * CELL.height]
      const place = `x="${left}" y="${top}" width="${CELL.width - 1}" height="${CELL.height - 1}"`
      if (cell === undefined) return `<rect class="none" ${place}/>`
      const strength = (0.15 + 0.75 * (Math.abs(cell.lamports) / most)).toFixed(2)
      const text = `${shortSol(cell.lamports)}${cell.count > 1 ? ` (${cell.count})` : ''}`
      return `<rect class="${cell.lamports >= 0 ? 'gain' : 'loss'}" fill-opacity="${strength}" ${place}><title>${formatSol(cell.lamports)} SOL, ${cell.count} sets</title></rect><text x="${left + CELL.width / 2}" y="${top + 17}" text-anchor="middle">${text}</text>`
    }),
  )
  const below = rows.length * CELL.height
  const labels = [
    ...columns.map(
      (label, column) =>
        `<text x="${LEFT + (column + 0.5) * CELL.width}" y="${below + 14}" text-anchor="middle">${escaped(label)}</text>`,
    ),
    ...rows.map(
      (label, row) =>
        `<text x="${LEFT - 6}" y="${(rows.length - 1 - row) * CELL.height + 17}" text-anchor="end">${escaped(label)}</text>`,
    ),
    `<text x="${LEFT}" y="${below + 32}">${escaped(x.name)} →${y === undefined ? '' : ` ${escaped(y.name)} ↑`}</text>`,
  ]
  return `<svg role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${boxes.join('')}${labels.join('')}</svg>`
}

function shortSol(lamports: number): string {
  return String(Number(lamportsToSol(lamports).toPrecision(2)))
}

function tableOf({ ranges, holdOutPercent }: Sweep, results: readonly SetResult[]): string {
  const heads = ['set', ...ranges.map(({ name }) => name), 'in sample']
  if (holdOutPercent > 0) heads.push('hold-out')
  heads.push('orders', 'fills', 'fees', 'open', '')
  const body = results.map((result) => {
    const { set, threw, netLamports, sampleLamports, orders, buys, sells, feeLamports, open } = result
    const money = [formatSol(sampleLamports), ...(holdOutPercent > 0 ? [formatSol(netLamports - sampleLamports)] : [])]
    const values = ranges.map(({ name }) => String(paramOf(result, name)))
    return [
      String(set),
      ...values,
      ...money,
      String(orders),
      String(buys + sells),
      formatSol(feeLamports),
      String(open),
      threw,
    ]
  })
  const row = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`
  return `<h2>All sets, best in the sample first</h2><table><thead>${row(heads, 'th')}</thead><tbody>${body.map((cells) => row(cells, 'td')).join('')}</tbody></table>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] as string)
}
