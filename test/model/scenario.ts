import type { MutantName } from './mutants.ts'

export type OrderKind = 'buy' | 'partial exit' | 'full exit'

/** Assumptions of docs/order-protocol.md that a scenario may break. All others always hold. */
export type Assumption = 'A1' | 'A2' | 'A4' | 'A7'

/** A scenario that is small enough to visit all of its states. */
export interface Scenario {
  readonly executor: 'cloud' | 'local'
  /** The kinds of the orders. All orders are for one mint, and are accepted in this sequence. */
  readonly orders: readonly OrderKind[]
  /** Maximum number of attempts of each order. */
  readonly attempts: readonly number[]
  readonly crashes?: number
  readonly forks?: number
  /** Number of transfers from strangers to the wallet. */
  readonly inflows?: number
  /** Number of transactions that a third party signs with the wallet's key. */
  readonly foreign?: number
  /** Number of base units of the traded token that strangers send to the wallet. */
  readonly tokenDust?: number
  /** Whether the service sends another transaction if its first one reverts after the client has disconnected. */
  readonly persists?: boolean
  /** Whether the RPC has no block times, so that the age of its newest block is unknown. */
  readonly undated?: boolean
  readonly broken?: readonly Assumption[]
}

/** A scenario with the correct client, or with a mutant. */
export interface Case extends Scenario {
  readonly mutant?: MutantName
}

/** Lifetime of a transaction in blocks: 150 in reality. */
export const VALIDITY = 1
/**
 * Largest number of blocks by which a node's height may be too old. The same number is added as the margin of the last
 * valid block. In reality it is 50 for the cloud executor and 8 for the local one.
 */
export const NODE_LAG = 1
/** Largest number of blocks by which the height of a node without block times may be too old (assumption A8). In
 *  reality it is 150. */
export const UNDATED_LAG = 2
/** Maximum number of blocks above the finalized one. In reality it is about 32. */
export const MOST_UNFINALIZED = 2
/** How often in a row signatures and balance must disagree until an order is held. In reality it is 3. */
export const MISMATCHES = 2
/** Maximum number of open attempts of a full exit. In reality it is 5. */
export const MOST_OPEN_EXITS = 2
/** Tokens of one buy; a partial exit sells half of them. */
export const LOT = 2

export function holds(scenario: Scenario, assumption: Assumption): boolean {
  return scenario.broken?.includes(assumption) !== true
}

/** Number of attempts of all orders. */
export function attemptsIn({ attempts }: Scenario): number {
  return attempts.reduce((sum, one) => sum + one, 0)
}

/** Number of transactions: one for each attempt, and one more if the service may execute twice. */
export function transactionsIn(scenario: Scenario): number {
  return attemptsIn(scenario) + (holds(scenario, 'A2') ? 0 : 1)
}

/**
 * Returns the base units of the token that the wallet has at the start: 0 if all orders of the scenario are buys,
 * otherwise `LOT`.
 */
export function initialTokens({ orders }: Scenario): number {
  return orders.some((kind) => kind !== 'buy') ? LOT : 0
}
