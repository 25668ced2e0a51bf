import type { MutantName } from './mutants.ts'

export type OrderKind = 'buy' | 'partial exit' | 'full exit'

/** Assumptions of docs/order-protocol.md. Each of them is true unless a scenario breaks it. */
export type Assumption = 'A1' | 'A2' | 'A4' | 'A7'

/** A scenario that is small enough to visit all of its states. */
export interface Scenario {
  readonly executor: 'cloud' | 'local'
  /** Orders of one mint, accepted in this sequence. */
  readonly orders: readonly OrderKind[]
  /** Number of attempts of each order. */
  readonly attempts: readonly number[]
  readonly crashes?: number
  readonly forks?: number
  /** Number of transfers from strangers to the wallet. */
  readonly inflows?: number
  /** Number of transactions that a third party signs with the wallet. */
  readonly foreign?: number
  /** Tokens of the mint that strangers send. */
  readonly tokenDust?: number
  /** The service retries with another transaction if one reverts after the client has disconnected. */
  readonly persists?: boolean
  /** The RPC has no block times, so the age of its newest block is unknown. */
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
 * The number of blocks by which a node's reported height may be too old. The last valid block of a transaction is
 * computed with the same number. The real numbers are 50 for the cloud executor and 8 for the local one.
 */
export const NODE_LAG = 1
/** The same number for a node without block times (A8). The real number is 150. */
export const UNDATED_LAG = 2
/** Blocks above the finalized one: about 32 in reality. */
export const MOST_UNFINALIZED = 2
/** The number of equal differences after which an order is held: 3 in reality. */
export const MISMATCHES = 2
/** The number of open attempts of a full exit: 5 in reality. */
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

/** A service that executes twice makes one transaction more than there are attempts. */
export function transactionsIn(scenario: Scenario): number {
  return attemptsIn(scenario) + (holds(scenario, 'A2') ? 0 : 1)
}

/**
 * Returns the tokens that the wallet has at the start: some if the first order sells, or is a buy that adds to a
 * position before an exit.
 */
export function initialTokens({ orders }: Scenario): number {
  return orders.some((kind) => kind !== 'buy') ? LOT : 0
}
