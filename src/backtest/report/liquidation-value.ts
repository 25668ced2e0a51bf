import { DEFAULT_FILL_MODEL } from '../../engine/accounting/fill-assumptions.ts'
import type { Worth } from '../../engine/accounting/money.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { Mints } from '../../market/mints.ts'
import { PaperExecutor } from '../../simulation/paper-executor.ts'
import { PaperMarket } from '../../simulation/paper-market.ts'
import { SimulatedClock } from '../../simulation/simulated-clock.ts'

/** Returns a function that values positions at the end of a journal's tape, before network fee and rent. The value is 0
 *  for dead and unsellable tokens, and undefined without a tape or while the unit of the price is unverified. Reads
 *  enough of the tape that a token without prints in that part is dead. */
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
