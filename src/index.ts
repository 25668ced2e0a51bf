// The public API: everything that a strategy may import from 'sluice'.
export { z } from 'zod'
export type { ErrorCode } from './base/errors.ts'
export type { Json } from './base/json.ts'
export type { Millis } from './base/units.ts'
export type { PositionState } from './engine/accounting/position.ts'
export type { ExitRules, TakeProfitStep, WhenStale } from './engine/exits/exit-settings.ts'
export type { OrderState } from './engine/order.ts'

export {
  type Answer,
  type Bot,
  type BracketOptions,
  type BudgetView,
  type BuyOptions,
  type Conditional,
  type DcaOptions,
  defineStrategy,
  type FillView,
  type Handlers,
  type LimitBuyOptions,
  type LimitSellOptions,
  type OrderView,
  type Placed,
  type PositionView,
  type Quote,
  type SellOptions,
  type Strategy,
  type Token,
  type WalletView,
} from './engine/strategy.ts'
export type { NewToken, PriceUpdate, Trade, TradeSide } from './market/block.ts'
