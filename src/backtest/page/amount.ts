import { signedSol } from './format.ts'
import { type Html, html } from './html.ts'

/** SOL, coloured by its sign. */
export function sol(value: number | null | undefined): Html {
  const kind = value === null || value === undefined || value === 0 ? '' : value > 0 ? 'gain' : 'loss'
  return html`<span class="${kind}">${signedSol(value)}</span>`
}
