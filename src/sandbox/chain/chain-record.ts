import { TOKEN_DECIMALS } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Change, Records } from '../records.ts'
import type { LandedTransaction } from './ledger.ts'
import type { Anchor } from './slots.ts'

const CHAIN = 'chain'

/** A chain's own record: which it is, and where it is. */
export interface ChainRecord {
  genesisHash: string
  seed: number
  anchor: Anchor
  /** Ever submitted: numbers the transactions. */
  submitted: number
  /** What it runs on; absent on the small ledger. */
  machine?: string
}

/** Undefined: there is none yet. */
export function readChain(records: Records): ChainRecord | undefined {
  return records.read<ChainRecord>('chain').get(CHAIN)
}

export function chainChange(body: ChainRecord): Change {
  return { kind: 'chain', key: CHAIN, body }
}

/** What the chain in these records runs on; undefined: there is none yet. */
export function machineOf(records: Records): string | undefined {
  const saved = readChain(records)
  return saved && (saved.machine ?? 'small')
}

/** By signature, oldest first. */
export function readLanded(records: Records): Map<string, LandedTransaction> {
  const landed = [...records.read<LandedTransaction>('transaction').values()].map(completed)
  landed.sort((a, b) => a.position - b.position)
  return new Map(landed.map((transaction) => [transaction.signature, transaction]))
}

/** Chains of before the runtime did not save everything. */
function completed(saved: LandedTransaction): LandedTransaction {
  const tokens = saved.tokens.map((token) => ({ ...{ program: PROGRAMS.token, decimals: TOKEN_DECIMALS }, ...token }))
  return { ...{ inner: [] }, ...saved, tokens }
}
