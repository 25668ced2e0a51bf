import { TOKEN_DECIMALS } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Change, Records } from '../records.ts'
import type { LandedTransaction } from './ledger.ts'
import type { Anchor } from './slots.ts'

const CHAIN = 'chain'

/** Saved identity and newest slot of a chain. */
export interface ChainRecord {
  genesisHash: string
  seed: number
  anchor: Anchor
  /** Number of transactions ever submitted. */
  submitted: number
  /** Name of the `Machine` that holds the accounts. Absent in records of earlier versions, which had only the small
   *  ledger. */
  machine?: string
}

/** Reads the saved chain; undefined if there is none yet. */
export function readChain(records: Records): ChainRecord | undefined {
  return records.read<ChainRecord>('chain').get(CHAIN)
}

export function chainChange(body: ChainRecord): Change {
  return { kind: 'chain', key: CHAIN, body }
}

/** Name of the `Machine` of the saved chain; undefined if there is no chain yet. */
export function machineOf(records: Records): string | undefined {
  const saved = readChain(records)
  return saved && (saved.machine ?? 'small')
}

/** Reads the landed transactions by signature, oldest first. */
export function readLanded(records: Records): Map<string, LandedTransaction> {
  const landed = [...records.read<LandedTransaction>('transaction').values()].map(completed)
  landed.sort((a, b) => a.position - b.position)
  return new Map(landed.map((transaction) => [transaction.signature, transaction]))
}

/** Adds the fields that were not saved before the Solana runtime was introduced. */
function completed(saved: LandedTransaction): LandedTransaction {
  const tokens = saved.tokens.map((token) => ({ ...{ program: PROGRAMS.token, decimals: TOKEN_DECIMALS }, ...token }))
  return { ...{ inner: [] }, ...saved, tokens }
}
