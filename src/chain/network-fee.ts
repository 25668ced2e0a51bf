import { decodeLongBase58 } from '../core/base58.ts'
import { PROGRAMS } from '../core/programs.ts'
import type { Call } from './calls.ts'
import type { LandedTransaction } from './transaction.ts'

const SIGNATURE_LAMPORTS = 5_000
const LIMIT = 2
const PRICE = 3
const MICRO = 1_000_000

/** What of a transaction's fee its compute budget asked for, limit times price, and what is left as the base fee: 5,000 lamports a
 *  signature, those that a precompiled program checks included. Where no limit is set, what a signature costs tells the two apart. */
export function networkFeeOf({
  feeLamports,
  signers,
  calls,
}: Pick<LandedTransaction, 'feeLamports' | 'signers' | 'calls'>): { base: number; priority: number } {
  const budget = calls?.all.filter(({ program, parent }) => program === PROGRAMS.computeBudget && parent === undefined)
  const limit = numberIn(budget, LIMIT, 4)
  const price = numberIn(budget, PRICE, 8)
  if (budget !== undefined && price === undefined) return { base: feeLamports, priority: 0 }
  const asked = limit === undefined || price === undefined ? undefined : Math.ceil((limit * price) / MICRO)
  const signatures = Math.min(feeLamports, SIGNATURE_LAMPORTS * signers)
  const priority = asked !== undefined && feeLamports - asked >= signatures ? asked : feeLamports - signatures
  return { base: feeLamports - priority, priority }
}

/** The little-endian number behind the kind of the first instruction of that kind. */
function numberIn(budget: readonly Call[] | undefined, kind: number, bytes: number): number | undefined {
  for (const { data } of budget ?? []) {
    const decoded = decodeLongBase58(data, 1 + bytes)
    if (decoded?.length === 1 + bytes && decoded[0] === kind)
      return decoded.subarray(1).reduceRight((sum, byte) => sum * 256 + byte, 0)
  }
  return undefined
}
