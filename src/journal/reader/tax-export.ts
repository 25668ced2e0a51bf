import { existsSync, writeFileSync } from 'node:fs'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { csvCell } from '../../base/text.ts'
import { formatSol, type Millis, type TokenAmount } from '../../base/units.ts'
import { isReal } from '../../engine/account.ts'
import { foldMovements } from '../../engine/accounting/money.ts'
import { holderOf, type TokenMovement } from '../../engine/accounting/movement.ts'
import type { Disposal } from '../../engine/accounting/tax-lots.ts'
import type { Fill } from '../../engine/order.ts'
import { openReader } from './reader.ts'

/** Result of `export --tax`. */
export interface TaxExport {
  readonly file: string
  /** Number of lines written to the file: one for each lot that a sale used. */
  readonly disposals: number
  /** Number of fills that a fork may still reverse. They are not exported. */
  readonly notFinal: number
  /** Number of movements of play money on a sandbox. They are not exported. */
  readonly sandbox: number
  /** Number of lines without date and cost, because the origin of the tokens is unknown. */
  readonly unknownCost: number
}

/** Writes the sales of real money accounts in these journals to one new file. Throws SluiceError (exit 2) if the file
 *  exists. */
export function exportTax(journals: readonly string[], file: string): TaxExport {
  if (existsSync(file)) throw new SluiceError(`${file} already exists; choose a new file`, ExitCode.usage)
  const live = once(journals.flatMap(movementsIn)).filter((one) => accountOf(one).startsWith('live|'))
  const real = live.filter((one) => isReal(accountOf(one)))
  const final = real.filter((one) => !isOpen(one))
  const disposals = foldMovements(final).bots.flatMap((money) => money.disposals)
  try {
    writeFileSync(file, taxCsv(disposals), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw new SluiceError(`${file} cannot be written: ${(error as Error).message}`)
  }
  return {
    file,
    disposals: disposals.length,
    notFinal: real.length - final.length,
    sandbox: live.length - real.length,
    unknownCost: disposals.filter(({ acquiredAt }) => acquiredAt === null).length,
  }
}

function movementsIn(journal: string): TokenMovement[] {
  const reader = openReader(journal)
  try {
    return reader.movements()
  } finally {
    reader.close()
  }
}

function accountOf(one: TokenMovement): string {
  return holderOf(one).account
}

/** Removes movements that occur more than once. Copies of a journal contain the same fill, perhaps in its state before
 *  it was final; the final one is kept. */
function once(movements: readonly TokenMovement[]): TokenMovement[] {
  const seen = new Set<string>()
  const [open, rest] = [movements.filter(isOpen), movements.filter((one) => !isOpen(one))]
  return [...rest, ...open].filter((one) => {
    const key = one.kind === 'fill' ? keyOf(one.fill) : `${one.kind} ${one.account} ${one.mint} ${one.time}`
    return !seen.has(key) && seen.add(key)
  })
}

/** Whether a fork may still reverse the movement. */
function isOpen(one: TokenMovement): boolean {
  return one.kind === 'fill' && !one.fill.final
}

function keyOf({ account, signature }: Fill): string {
  return `${account} ${signature}`
}

const COLUMNS = [
  ...['Date Acquired', 'Date Sold', 'Asset', 'Amount', 'Proceeds', 'Cost Basis', 'Fees', 'Gain', 'Currency'],
  ...['Wallet', 'Bot', 'Buy Transaction', 'Sell Transaction'],
]

/** Formats the lines of the file: one for each lot that a sale used, oldest sale first. Amounts are exact; times are
 *  UTC. */
function taxCsv(disposals: readonly Disposal[]): string {
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

/** Formats a time; '' if the time is not known, because the tokens were in the wallet before the first record. */
function timeOf(time: Millis | null | undefined): string {
  return time === null || time === undefined ? '' : `${new Date(time).toISOString().slice(0, 19)}Z`
}

/** Formats base units as whole tokens, with all digits. */
function amountOf(tokens: TokenAmount, decimals: number): string {
  const digits = String(tokens).padStart(decimals + 1, '0')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const whole = digits.slice(0, digits.length - decimals)
  return decimals === 0 || fraction === '' ? whole : `${whole}.${fraction}`
}
