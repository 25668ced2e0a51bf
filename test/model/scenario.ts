import type { MutantName } from './mutants.ts'

export type OrderKind = 'buy' | 'partial exit' | 'full exit'

/** What is relied on; docs/order-protocol.md has the words. Each is true unless a scenario breaks it. */
export type Assumption = 'A1' | 'A2' | 'A4' | 'A7'

/** A world small enough to look at all of it. */
export interface Scenario {
  readonly executor: 'cloud' | 'local'
  /** All of one mint, accepted in this order. */
  readonly orders: readonly OrderKind[]
  /** Of each order. */
  readonly attempts: readonly number[]
  readonly crashes?: number
  readonly forks?: number
  /** Transactions of the wallet that are not ours. */
  readonly inflows?: number
  readonly foreign?: number
  /** Tokens of the mint that somebody sends. */
  readonly tokenDust?: number
  /** The service tries again with another transaction when one reverts and nobody waits for its answer any more. */
  readonly persists?: boolean
  /** The RPC tells no time of its blocks, so that nobody knows how old its head is. */
  readonly undated?: boolean
  readonly broken?: readonly Assumption[]
}

/** A scenario with the client as it is meant, or with one of its mutants. */
export interface Case extends Scenario {
  readonly mutant?: MutantName
}

/** Blocks after the one that it was built on in which a transaction may land: 150 in the world. */
export const VALIDITY = 1
/** Blocks that a node may be behind where its height is read: the margin in our bounds, 50 (cloud) and 8 (local) in the
 *  world. */
export const NODE_LAG = 1
/** Blocks that a node may be behind which tells no time (A8), and the margin for it: 150 in the world. */
export const UNDATED_LAG = 2
/** Blocks above the finalized one: about 32 in the world. */
export const MOST_UNFINALIZED = 2
/** Equal mismatches until an order is held: 3 in the world. */
export const MISMATCHES = 2
/** Attempts of a full exit that may be open at once: 5 in the world. */
export const MOST_OPEN_EXITS = 2
/** Tokens that one buy brings; a partial exit sells half of them. */
export const LOT = 2

export function holds(scenario: Scenario, assumption: Assumption): boolean {
  return scenario.broken?.includes(assumption) !== true
}

/** Attempts of all orders together. */
export function attemptsIn({ attempts }: Scenario): number {
  return attempts.reduce((sum, one) => sum + one, 0)
}

/** A service that executes twice makes a transaction that no attempt has. */
export function transactionsIn(scenario: Scenario): number {
  return attemptsIn(scenario) + (holds(scenario, 'A2') ? 0 : 1)
}

/** The wallet holds a lot when the first order is one that sells, or a buy that adds to it before an exit. */
export function initialTokens({ orders }: Scenario): number {
  return orders.some((kind) => kind !== 'buy') ? LOT : 0
}
