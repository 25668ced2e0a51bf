import type { ExitRules } from './exits.ts'
import type { Lamports, Millis, TokenAmount } from './units.ts'

export type PositionState = 'opening' | 'open' | 'closing' | 'closed'

/** What a bot holds of a mint. It exists from the moment its first buy is accepted. Average cost. */
export interface Position {
  readonly account: string
  readonly bot: string
  readonly mint: string
  state: PositionState
  /** Base units held; 0n while opening. */
  tokens: TokenAmount
  decimals: number
  /** Paid for the tokens held, the venue's fee inside; network fee and rent are in `feeLamports`. */
  costLamports: Lamports
  /** Average fill price, SOL a whole token, fees aside; 0 while opening. */
  averagePrice: number
  openedAt: Millis
  /** Fixed when the position opens; an edited configuration changes new positions only. */
  exits: ExitRules
  /** Highest robust price since it opened; 0 before the first. */
  highPrice: number
  /** Profit of what was sold: proceeds less average cost. */
  realizedLamports: Lamports
  /** Base fee, priority fee and rent of its transactions, failed ones included. */
  feeLamports: Lamports
  /** Full exits tried since the last success: how far up the ladder the next one starts. */
  exitTries: number
  /** Why it is being sold, once an exit is due; it is then tried until it is done. Empty before. */
  exiting: string
}
