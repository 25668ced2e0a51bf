import { csvCell } from '../core/csv-cell.ts'
import type { Disposal } from '../core/lots.ts'
import { formatSol, type Millis, type TokenAmount } from '../core/units.ts'

const COLUMNS = [
  ...['Date Acquired', 'Date Sold', 'Asset', 'Amount', 'Proceeds', 'Cost Basis', 'Fees', 'Gain', 'Currency'],
  ...['Wallet', 'Bot', 'Buy Transaction', 'Sell Transaction'],
]

/** What was sold, a line for each lot that a sale took from, oldest sale first. Amounts are exact; times are UTC. */
export function taxCsv(disposals: readonly Disposal[]): string {
  const sorted = disposals.toSorted((a, b) => a.soldAt - b.soldAt)
  return `${[COLUMNS.join(','), ...sorted.map(lineOf)].join('\n')}\n`
}

function lineOf(one: Disposal): string {
  const money = [one.proceedsLamports, one.costLamports, one.feeLamports, one.gainLamports].map(formatSol)
  const [acquired, sold] = [one.acquiredAt, one.soldAt].map(timeOf)
  const about = [csvCell(one.mint), amountOf(one.tokens, one.decimals), ...money, 'SOL']
  const wallet = one.account.slice(one.account.lastIndexOf('|') + 1)
  return [acquired, sold, ...about, ...[wallet, one.bot].map(csvCell), one.boughtBy, one.soldBy].join(',')
}

/** Empty where nobody knows: what was held before its first record. */
function timeOf(time: Millis | null | undefined): string {
  return time === null || time === undefined ? '' : `${new Date(time).toISOString().slice(0, 19)}Z`
}

/** Base units as whole tokens, to the last digit. */
function amountOf(tokens: TokenAmount, decimals: number): string {
  const digits = String(tokens).padStart(decimals + 1, '0')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const whole = digits.slice(0, digits.length - decimals)
  return decimals === 0 || fraction === '' ? whole : `${whole}.${fraction}`
}
