import { join } from 'node:path'
import { type Backtest, runBacktest } from '../../src/backtest/run.ts'
import type { Config } from '../../src/config/config.ts'
import type { Fill } from '../../src/engine/order.ts'
import { openTape } from '../../src/journal/tape-files.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { JournalRecord } from '../../src/orders/ports.ts'
import { type ExactMarket, type ExactMarketOptions, playMarket } from './exact-market.ts'
import type { ExactPool } from './exact-pool.ts'
import { ENTRY_PLACES, type EntryPlace, ledgerOf, type TokenLedger } from './ledger.ts'
import { isRefusedBuy, type RefusedBuys, refusedBuys } from './refused.ts'
import { rosterConfig } from './roster.ts'
import { writeTape } from './tape.ts'

/** Two profits of a bot on one market, lamports: the profit in the backtest, and the profit if each fill of the
 *  backtest is executed again in pools whose reserves are exactly known. */
export interface Comparison {
  readonly bot: string
  readonly place: EntryPlace
  readonly seed: number
  readonly fills: number
  readonly tradedLamports: number
  readonly simulatedLamports: number
  readonly exactLamports: number
  readonly refusals: RefusedBuys
  /** By mint. */
  readonly ledgers: ReadonlyMap<string, TokenLedger>
}

/** For a buy that the fill model refused, the bought tokens are assumed to be sold after this time, ms. */
const HOLD_MS = 20_000
const PLACES = Object.keys(ENTRY_PLACES) as EntryPlace[]

/** Backtests all bots of `roster.ts` on one seeded market, and executes each of their fills again in pools that are
 *  computed with the chain's exact arithmetic. */
export async function compareSeed(folder: string, options: ExactMarketOptions): Promise<Comparison[]> {
  const market = playMarket(options)
  const path = join(folder, `tape-${options.seed}.db`)
  await writeTape(path, market)
  const config = await rosterConfig(folder, options.seed)
  const { backtest, fills, refused } = backtested(config, path)
  return backtest.bots.flatMap((bot) => {
    const { name } = bot.result
    const own = fills.filter((fill) => fill.bot === name)
    const { serviceFeePercent } = bot.model
    const refusals = refusedBuys(
      market.pools,
      refused.filter((attempt) => attempt.bot === name),
      { holdMs: HOLD_MS, serviceFeePercent },
    )
    const simulatedLamports = bot.result.walletLamports + bot.valueLamports
    return PLACES.map((place): Comparison => {
      const ledgers = ledgersOf(market, own, place, serviceFeePercent)
      const traded = own.reduce((sum, { tradeLamports }) => sum + tradeLamports, 0)
      return {
        ...{
          bot: name,
          place,
          seed: options.seed,
          fills: own.length,
          tradedLamports: traded,
          simulatedLamports,
          ledgers,
          refusals,
        },
        exactLamports: bot.result.walletLamports + correction(ledgers),
      }
    })
  })
}

function backtested(config: Config, path: string): { backtest: Backtest; fills: Fill[]; refused: Attempt[] } {
  const refused = new Map<string, Attempt>()
  const fills = new Map<string, Fill>()
  const write = (record: JournalRecord): void => {
    if (record.kind === 'fill') fills.set(record.fill.attemptId, record.fill)
    else if (record.kind === 'attempt' && isRefusedBuy(record.attempt)) refused.set(record.attempt.id, record.attempt)
  }
  const nothing = (): void => {}
  const journal = { rows: nothing, input: nothing, output: nothing, write, commit: (then: () => void) => then() }
  const tape = openTape([path])
  try {
    const backtest = runBacktest(config, tape.market, { partial: true, journal })
    return { backtest, fills: [...fills.values()], refused: [...refused.values()] }
  } finally {
    tape.close()
  }
}

function ledgersOf(
  { pools, to }: ExactMarket,
  fills: readonly Fill[],
  place: EntryPlace,
  serviceFeePercent: number,
): Map<string, TokenLedger> {
  const byMint = Map.groupBy(fills, ({ mint }) => mint)
  return new Map(
    [...byMint].map(([mint, own]) => {
      const pool = pools.get(mint) as ExactPool
      return [mint, ledgerOf(pool, own, { place, serviceFeePercent, endsAt: to })]
    }),
  )
}

/** Exact minus simulated change of the wallet, lamports. */
function correction(ledgers: ReadonlyMap<string, TokenLedger>): number {
  let sum = 0
  for (const { fills, exactValueLamports } of ledgers.values()) {
    sum += exactValueLamports
    for (const { simulatedLamports, exactLamports } of fills) sum += exactLamports - simulatedLamports
  }
  return sum
}
