import { paramOf, ranked, type SetResult } from '../set-result.ts'
import type { Sweep } from '../sweep.ts'
import type { Range } from '../sweep-space.ts'
import { sweepVerdict } from '../sweep-verdict.ts'
import { sol } from './amount.ts'
import { document } from './document.ts'
import { plain } from './format.ts'
import { heatMap } from './heat-map.ts'
import { type Html, html, type Part } from './html.ts'
import { type Column, table } from './table.ts'

const MOST_MAPS = 6

/** A sweep as one file: heat maps of every two swept params, in the sample and beside it, and all sets. */
export function sweepPage(sweep: Sweep): string {
  const { bot, strategy, ranges, rows, holdOutPercent, lacks } = sweep
  const results = ranked(sweep.results)
  const valid = results.filter(({ threw }) => threw === '')
  const heldOut = holdOutPercent > 0 ? `, the last ${holdOutPercent} % held out` : ', nothing held out'
  return document(
    `${bot} (${strategy}): sweep of ${results.length} sets`,
    html`<p class="quiet">${rows} market rows${heldOut}.</p>
${lacks.length === 0 ? '' : html`<div class="warn"><p><b>A part of the truth:</b> the tape does not cover what the bot needs.</p><ul>${lacks.map((lack) => html`<li>${lack}</li>`)}</ul></div>`}
${sweepVerdict(sweep, valid).map((sentence) => html`<p>${sentence}</p>`)}
${pairsOf(ranges).map(([x, y]) => mapsOf(sweep, valid, x, y))}
<p class="quiet">A cell is the median net result, SOL, of the sets in it; the number of sets where there are several.</p>
<h2>All sets, best in the sample first</h2>
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
