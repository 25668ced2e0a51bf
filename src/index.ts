// The public API: everything that a strategy may import from 'sluice'.
export { z } from 'zod'
export type { ErrorCode } from './base/errors.ts'
export type { Json } from './base/json.ts'
export type { Millis } from './base/units.ts'
export { defineStrategy } from './config/strategy-origin.ts'
export type { PositionState } from './engine/accounting/position.ts'
export type { BarPlan, BarSetting } from './engine/bars/bar-plan.ts'
export {
  above,
  all,
  any,
  below,
  type Condition,
  type ConditionName,
  type Conditions,
  crosses,
  crossesAbove,
  crossesBelow,
  figure,
  minus,
  not,
  type Operand,
  type OperandOf,
  type Operands,
  over,
  plus,
  times,
} from './engine/conditions/condition.ts'
export type { ExitRules, TakeProfitStep, WhenStale } from './engine/exits/exit-settings.ts'
export { type Bands, bollinger, ema, highest, lowest, sma, vwap, wma } from './engine/indicators/averages.ts'
export type {
  BarFigure,
  Indicator,
  IndicatorState,
  Indicators,
  IndicatorValues,
  NoIndicators,
} from './engine/indicators/indicator.ts'
export { atr, type Macd, macd, roc, rsi, type Stochastic, stochastic } from './engine/indicators/momentum.ts'
export { type Candle, type Signal, signal } from './engine/indicators/signal.ts'
export type { OrderState } from './engine/order.ts'
export type { NoSources, SourceEvent, Sources } from './engine/sources.ts'
export type {
  Answer,
  Bot,
  BracketOptions,
  BudgetView,
  BuyOptions,
  BuyTrigger,
  Conditional,
  DcaOptions,
  EquityView,
  FillView,
  Handlers,
  LimitBuyOptions,
  LimitSellOptions,
  LogFields,
  OrderView,
  Placed,
  PositionView,
  Quote,
  RoundTripFees,
  RoundTripMark,
  RoundTripView,
  SellOptions,
  Strategy,
  StrategyLog,
  Token,
  TokenQuery,
  WalletView,
} from './engine/strategy.ts'
export type { Bar } from './market/bar.ts'
export type { Width } from './market/bar-width.ts'
export type { NewToken, PriceUpdate, Trade, TradeSide } from './market/block.ts'
