import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'

/** Something that the service's document leaves open, as it was found out. The newest of each name counts. */
export interface Learned {
  /** Whom it was learnt of: a live account for what the chain has proved, else the service's host. */
  readonly about: string
  /** `proof`, or an endpoint whose records were looked at. */
  readonly name: string
  readonly time: Millis
  readonly value: Json
}

/** What `sluice doctor --probe-live` proved with real money: a `Learned` of name `proof`. */
export interface ServiceProof {
  /** What a sale's number counts; null where no sale of a number was carried out. */
  readonly sellNumber: 'tokens' | 'baseUnits' | null
  /** `sol`: our own buy agreed with amount / tokensTraded of the feed. */
  readonly tradeAmount: 'sol' | null
  /** What the feed quotes as a price, over the same in SOL: 1 where it is in SOL; null where too little was seen. */
  readonly quotedPerSol: number | null
  /** Where an answer carries the signature, as `data.txid`; '' where none did. */
  readonly signatureField: string
  /** Ways of selling that were carried out as they were meant. */
  readonly sales: readonly ('number' | 'percent' | 'all')[]
  /** Of the whole round, lamports: network fees; rent left in token accounts; what buying and selling lost. */
  readonly feeLamports: number
  readonly rentLamports: number
  readonly lossLamports: number
  /** From the durable order on, medians; null where nothing got so far. */
  readonly latencyMs: {
    readonly answer: number | null
    readonly confirmed: number | null
    readonly final: number | null
  }
}

/** The newest proof of an account among what was learnt. */
export function proofOf(learned: readonly Learned[], account: string): ServiceProof | undefined {
  const found = learned.find(({ about, name }) => about === account && name === 'proof')
  return found?.value as ServiceProof | undefined
}
