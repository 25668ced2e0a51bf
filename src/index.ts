// The public API, whole: what a strategy may import as 'sluice'.
export { z } from 'zod'
export type { NewToken, PriceUpdate, Trade } from './core/block.ts'
export type { ErrorCode } from './core/errors.ts'
export type { ExitRules, TakeProfitStep, WhenStale } from './core/exits.ts'
export type { Json } from './core/json.ts'
export type { OrderState, TradeSide } from './core/order.ts'
export type { PositionState } from './core/position.ts'
export {
  type Answer,
  type Bot,
  type BracketOptions,
  type BuyOptions,
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
} from './core/strategy.ts'
export type { Millis } from './core/units.ts'
