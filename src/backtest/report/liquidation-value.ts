import type { Worth } from '../../engine/accounting/money.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { Mints } from '../../market/mints.ts'
import { DEFAULT_FILL_MODEL } from '../../simulation/fill-model.ts'
import { PaperExecutor } from '../../simulation/paper-executor.ts'
import { PaperMarket } from '../../simulation/paper-market.ts'
import { SimulatedClock } from '../../simulation/simulated-clock.ts'

/** What selling so much of a mint at the end of a journal's tape would have brought, network fee and rent aside; 0
 *  where nobody has printed it for long, or nobody could sell it; undefined where the tape has nothing, or the unit of
 *  its prices is not proved. Reads so much of the tape that a token which is not in it is taken for dead. */
export function liquidationOf(reader: JournalReader): Worth {
  const start = reader.segments().at(-1)?.start
  if (start === undefined) return () => undefined
  const mints = new Mints()
  const market = new PaperMarket(mints, start.units)
  let now = 0
  let hasPrices = false
  for (const block of reader.blocks(mints, reader.warmupRange(DEFAULT_FILL_MODEL.deadAfterMs / 1000))) {
    market.observe(block, 0, block.length)
    now = block.time[block.length - 1] ?? now
  }
  for (const mint of mints.list) hasPrices ||= market.price(mint) !== undefined
  const executor = new PaperExecutor(new SimulatedClock(now), market, DEFAULT_FILL_MODEL, 0)
  return (mint, tokens, decimals) => (hasPrices ? executor.valueOf({ mint, tokens, decimals }) : undefined)
}
