import { type Lamports, solToLamports } from '../../base/units.ts'
import type { Worth } from '../../engine/accounting/money.ts'
import type { View } from './view.ts'

/** Returns the values of the positions that a view shows. Their sum equals the total that the view shows. While a
 *  process runs, a position without a price counts with its cost, because a price will follow. In a recorded journal,
 *  such a position has no value. */
export function worthsIn({ source, positions }: Pick<View, 'source' | 'positions'>): Worth {
  const worths = new Map<string, Lamports>()
  for (const { id, valueSol, costSol } of positions) {
    const sol = valueSol ?? (source === 'running' ? costSol : undefined)
    if (sol !== undefined) worths.set(id, solToLamports(sol))
  }
  return ({ account, mint }) => worths.get(`${account}/${mint}`)
}
