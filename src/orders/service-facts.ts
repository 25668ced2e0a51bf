import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'

/** A fact about the service that its documentation leaves open. The newest of each name counts. */
export interface Learned {
  /** A live account if the chain has proved the fact, otherwise the service's host. */
  readonly about: string
  /** `proof`, or the endpoint whose records were examined. */
  readonly name: string
  readonly time: Millis
  readonly value: Json
}

/** What `sluice doctor --probe-live` proved with real money: a `Learned` of name `proof`. */
export interface ServiceProof {
  /** Unit of the number in a sale; null if no sale of a number was carried out. */
  readonly sellNumber: 'tokens' | 'baseUnits' | null
  /** `sol`: our own buy agreed with amount / tokensTraded of the feed. */
  readonly tradeAmount: 'sol' | null
  /** The feed's price divided by the price in SOL: 1 if the feed quotes SOL; null without enough trades. */
  readonly quotedPerSol: number | null
  /** Path of the signature in an answer, such as `data.txid`; '' if no answer had one. */
  readonly signatureField: string
  /** Kinds of sales that sold the requested amount. */
  readonly sales: readonly ('number' | 'percent' | 'all')[]
  /** Lamports of the whole round trip: network fees; rent left in token accounts; loss of buying and selling. */
  readonly feeLamports: number
  readonly rentLamports: number
  readonly lossLamports: number
  /** Medians, counted from the durable order; null if no order reached that stage. */
  readonly latencyMs: {
    readonly answer: number | null
    readonly confirmed: number | null
    readonly final: number | null
  }
}

/** The newest proof of an account. */
export function proofOf(learned: readonly Learned[], account: string): ServiceProof | undefined {
  const found = learned.find(({ about, name }) => about === account && name === 'proof')
  return found?.value as ServiceProof | undefined
}
