import type { Millis } from '../../base/units.ts'
import { EXITS } from './exit-rules.ts'
import type { ExitRules } from './exit-settings.ts'

/** Returns the reason to sell all of a position at `price`; undefined if there is none. The exits are called by name,
 *  in their order, because V8 cannot inline calls in a loop over the table. */
export function dueExit(
  rules: ExitRules,
  averagePrice: number,
  highPrice: number,
  price: number,
  ageMs: Millis,
): string | undefined {
  return (
    EXITS.stopPrice.due(rules, averagePrice, highPrice, price) ??
    EXITS.stopLossPercent.due(rules, averagePrice, highPrice, price) ??
    EXITS.trailingPercent.due(rules, averagePrice, highPrice, price) ??
    EXITS.breakEvenAtPercent.due(rules, averagePrice, highPrice, price) ??
    EXITS.takeProfitPercent.due(rules, averagePrice, highPrice, price) ??
    EXITS.takeProfitByAge.due(rules, averagePrice, highPrice, price, ageMs) ??
    EXITS.takeProfitPrice.due(rules, averagePrice, highPrice, price)
  )
}
