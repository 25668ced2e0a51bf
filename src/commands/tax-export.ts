import { existsSync, writeFileSync } from 'node:fs'
import { isReal } from '../core/account.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { holdingsOf, type Movement } from '../core/lots.ts'
import type { Fill } from '../core/order.ts'
import { openReader } from '../journal/reader.ts'
import { taxCsv } from './tax-csv.ts'

/** What `export --tax` says of itself. */
export interface TaxExport {
  readonly file: string
  /** Lines: one for each lot that a sale took from. */
  readonly disposals: number
  /** Fills that a fork may still take back: not in it. */
  readonly notFinal: number
  /** Movements on a sandbox, whose money is not real: not in it. */
  readonly sandbox: number
  /** Lines of which nobody knows how the tokens came: no date, no cost. */
  readonly unknownCost: number
}

/** Sales of real money in these journals, together, as a new file. Throws SluiceError: exit 2 where the file is there already. */
export function exportTax(journals: readonly string[], file: string): TaxExport {
  if (existsSync(file)) throw new SluiceError(`${file} is there already; an export makes a new file`, ExitCode.usage)
  const live = once(journals.flatMap(movementsIn)).filter((one) => accountOf(one).startsWith('live|'))
  const real = live.filter((one) => isReal(accountOf(one)))
  const final = real.filter((one) => !isOpen(one))
  const disposals = holdingsOf(final).flatMap((holding) => holding.disposals)
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

function movementsIn(journal: string): Movement[] {
  const reader = openReader(journal)
  try {
    return reader.movements()
  } finally {
    reader.close()
  }
}

function accountOf(one: Movement): string {
  return one.kind === 'fill' ? one.fill.account : one.account
}

/** A copy of a journal tells of the same fill again, maybe from before it was final. */
function once(movements: readonly Movement[]): Movement[] {
  const seen = new Set<string>()
  const [open, rest] = [movements.filter(isOpen), movements.filter((one) => !isOpen(one))]
  return [...rest, ...open].filter((one) => {
    const key = one.kind === 'fill' ? keyOf(one.fill) : `${one.kind} ${one.account} ${one.mint} ${one.time}`
    return !seen.has(key) && seen.add(key)
  })
}

/** A fork may still take it back. */
function isOpen(one: Movement): boolean {
  return one.kind === 'fill' && !one.fill.final
}

function keyOf({ account, signature }: Fill): string {
  return `${account} ${signature}`
}
