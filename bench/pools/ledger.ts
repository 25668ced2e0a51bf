import type { Millis } from '../../src/base/units.ts'
import type { Fill } from '../../src/engine/order.ts'
import { SLOT_MS } from '../../src/solana/constants.ts'
import { DisplacedPool, type ExactPool } from './exact-pool.ts'

/** Position of an order in the Solana slot in which it landed: the share of the slot's duration that is before the
 *  order. The real position is unknown, so each result is computed for three positions. */
export const ENTRY_PLACES = { start: 0, middle: 0.5, end: 1 } as const
export type EntryPlace = keyof typeof ENTRY_PLACES

/** A simulated fill, and the same fill in the exact pool. `simulatedLamports`, `exactLamports`: change of the wallet by
 *  the trade, with the fees of venue and service, and without the network fee. If the tokens cannot be sold, the exact
 *  sale has no proceeds and returns no rent. */
export interface ComparedFill {
  readonly fill: Fill
  readonly simulatedLamports: number
  readonly exactLamports: number
  readonly exactTokens: bigint
}

/** Results of a bot's fills of one token in the exact pool. */
export interface TokenLedger {
  readonly fills: readonly ComparedFill[]
  /** Base units that the bot holds at the end of the simulation. `exactTokens`: base units that it holds in the exact
   *  pool. */
  readonly simulatedTokens: bigint
  readonly exactTokens: bigint
  /** Proceeds in the exact pool if the bot sold its remaining tokens at the end of the recording. */
  readonly exactValueLamports: number
}

interface LedgerOptions {
  readonly place: EntryPlace
  readonly serviceFeePercent: number
  readonly endsAt: Millis
}

/** Repeats a bot's fills of one token in the exact pool, in the order in which they landed. */
export function ledgerOf(pool: ExactPool, fills: readonly Fill[], options: LedgerOptions): TokenLedger {
  const { place, serviceFeePercent, endsAt } = options
  const landsAt = ({ time }: Fill): Millis => time - SLOT_MS * (1 - ENTRY_PLACES[place])
  const afterService = (lamports: bigint): number => Math.floor(Number(lamports) * (1 - serviceFeePercent / 100))
  const [first] = fills
  if (first === undefined) throw new RangeError('a ledger needs a fill')
  const displaced = new DisplacedPool(pool, landsAt(first))
  const compared: ComparedFill[] = []
  let [simulated, exact] = [0n, 0n]
  for (const fill of fills) {
    displaced.advance(landsAt(fill))
    if (fill.side === 'buy') {
      const { paid, tokens } = bought(displaced, fill)
      simulated += fill.tokens
      exact += tokens
      compared.push({ fill, simulatedLamports: -fill.tradeLamports, exactLamports: -paid, exactTokens: tokens })
      continue
    }
    // The fill sold a share of the tokens that the bot had in the simulation. In the exact pool, the bot sells the same
    // share of the tokens that it has there.
    const tokens = fill.tokens === simulated ? exact : (exact * fill.tokens) / simulated
    const swap = displaced.sell(tokens)
    const rentBack = Math.max(0, -fill.rentLamports)
    simulated -= fill.tokens
    exact -= swap === undefined ? 0n : tokens
    const exactLamports = swap === undefined ? -rentBack : afterService(swap.sol - swap.fee)
    compared.push({ fill, simulatedLamports: fill.tradeLamports, exactLamports, exactTokens: tokens })
  }
  const exactValueLamports = exact === 0n ? 0 : valueAtEnd()
  return { fills: compared, simulatedTokens: simulated, exactTokens: exact, exactValueLamports }

  function valueAtEnd(): number {
    displaced.advance(endsAt)
    const swap = displaced.sell(exact)
    return swap === undefined ? 0 : afterService(swap.sol - swap.fee)
  }
}

/** Buys with the amount of a fill. The service takes its fee from the amount, and passes on the remaining SOL to the
 *  venue. If the curve sells out, the buyer pays less. */
function bought(displaced: DisplacedPool, { tradeLamports, costs }: Fill): { paid: number; tokens: bigint } {
  const toVenue = BigInt(tradeLamports - costs.serviceFeeLamports)
  const { sol, fee, tokens } = displaced.buy(toVenue)
  const unspent = Number(toVenue - sol - fee)
  return { paid: tradeLamports - (unspent > ROUNDING_LAMPORTS ? unspent : 0), tokens }
}

/** Maximum rounding error of a buy, lamports. */
const ROUNDING_LAMPORTS = 2
