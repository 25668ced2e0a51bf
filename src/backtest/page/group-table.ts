import type { Group } from '../groups.ts'
import { sol } from './amount.ts'
import { percentText, plain, seconds, signedSol } from './format.ts'
import { type Html, html, type Part } from './html.ts'
import { type Column, table } from './table.ts'

/** Rows of a long table that are shown. */
const MOST_ROWS = 200
const FIGURES = ['trades', 'net SOL', 'median', 'average', 'won', 'profit factor', 'held']

/** Trades by what they have in common. */
export function groupTable(
  head: string,
  groups: readonly Group[],
  name: (text: string) => Part = (text) => text,
): Html {
  const columns: Column[] = [{ head }, ...FIGURES.map((one) => ({ head: one, number: true }))]
  const half = MOST_ROWS / 2
  const shown = groups.length > MOST_ROWS ? [...groups.slice(0, half), ...groups.slice(-half)] : groups
  return html`<div class="groups">${table(
    columns,
    shown.map((group) => [
      name(group.name),
      group.trades,
      sol(group.netSol),
      signedSol(group.medianSol),
      percentText(group.averagePercent),
      percentText(group.winPercent, 0),
      plain(group.profitFactor),
      seconds(group.holdingSeconds),
    ]),
  )}</div>
${shown.length < groups.length ? html`<p class="quiet">The best and the worst ${half} of ${groups.length}.</p>` : ''}`
}
