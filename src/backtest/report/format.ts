import { dateTimeOf } from '../../runtime/time-text.ts'
import type { Metric } from '../metrics/metric.ts'
import { type Html, html, type Part } from './html.ts'

/** Text for a value that is not available. */
const NONE = 'n/a'

/** Formats SOL with its sign, to four decimal places. */
export function signedSol(sol: number | null | undefined): string {
  if (sol === null || sol === undefined) return NONE
  const text = sol.toFixed(4)
  return Number(text) === 0 ? '0' : sol > 0 ? `+${text}` : `−${text.slice(1)}`
}

export function plain(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined) return NONE
  return value
    .toFixed(digits)
    .replace(/^-(?=[\d.]*[1-9])/, '−')
    .replace(/^-/, '')
}

export function percentText(value: number | null | undefined, digits = 1): string {
  return value === null || value === undefined ? NONE : `${plain(value, digits)} %`
}

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE
  if (value < 120) return `${plain(value, value < 10 ? 1 : 0)} s`
  if (value < 7_200) return `${plain(value / 60, 0)} min`
  return value < 172_800 ? `${plain(value / 3_600, 1)} h` : `${plain(value / 86_400, 1)} d`
}

/** Shortens a key to its first and last characters. */
export function shortMint(mint: string): string {
  return mint.length > 12 ? `${mint.slice(0, 5)}…${mint.slice(-4)}` : mint
}

export function metricText({ unit, value }: Metric): string {
  if (value === null) return NONE
  if (typeof value === 'string') return shortMint(value)
  switch (unit) {
    case 'SOL':
      return value === 0 ? '0' : plain(value, 4)
    case '%':
      return percentText(value)
    case 's':
      return seconds(value)
    case 'time':
      return dateTimeOf(value)
    case 'count':
      return Number.isInteger(value) ? String(value) : plain(value, 1)
    default:
      return plain(value)
  }
}

/** Formats SOL and colours it by its sign. */
export function sol(value: number | null | undefined): Html {
  const kind = value === null || value === undefined || value === 0 ? '' : value > 0 ? 'gain' : 'loss'
  return html`<span class="${kind}">${signedSol(value)}</span>`
}

export interface Column {
  readonly head: string
  /** Whether the column holds numbers, which are aligned to the right. */
  readonly number?: boolean
}

/** Returns a table that scrolls if it is too wide. */
export function table(columns: readonly Column[], rows: readonly (readonly Part[])[]): Html {
  const kind = (at: number): string => (columns[at]?.number === true ? 'number' : 'text')
  return html`<div class="scroll"><table>
<thead><tr>${columns.map(({ head }, at) => html`<th scope="col" class="${kind(at)}">${head}</th>`)}</tr></thead>
<tbody>${rows.map(
    (cells) => html`<tr>${cells.map((cell, at) => html`<td class="${kind(at)}">${cell}</td>`)}</tr>
`,
  )}</tbody>
</table></div>`
}

/** Returns a table of names and values. */
export function pairs(rows: readonly (readonly [Part, Part])[]): Html {
  return html`<div class="scroll"><table class="pairs"><tbody>${rows.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td class="number">${value}</td></tr>
`,
  )}</tbody></table></div>`
}
