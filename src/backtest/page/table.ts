import { type Html, html, type Part } from './html.ts'

export interface Column {
  readonly head: string
  /** Figures stand right. */
  readonly number?: boolean
}

/** A table that scrolls by itself where it is too wide. */
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

/** Names and their values. */
export function pairs(rows: readonly (readonly [Part, Part])[]): Html {
  return html`<div class="scroll"><table class="pairs"><tbody>${rows.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td class="number">${value}</td></tr>
`,
  )}</tbody></table></div>`
}
