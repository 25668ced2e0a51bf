import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'

/** A fact about the service or an account. No input of the engine contains this fact. The newest fact of each name
 *  applies. */
export interface Learned {
  /** Subject of the fact: an account, if the fact is about its money; otherwise the host of the service. */
  readonly about: string
  /** Kind of fact. `proof`: a `ServiceProof`. `worth`: liquidation values of positions. Any other name is the endpoint
   *  whose answers were examined. */
  readonly name: string
  readonly time: Millis
  readonly value: Json
}

/** Facts that `sluice doctor --probe-live` proved with real money: the value of a `Learned` with the name `proof`. */
export interface ServiceProof {
  /** Unit of the number of tokens in a request to sell; null if no sale of a number of tokens was carried out. */
  readonly sellNumber: 'tokens' | 'baseUnits' | null
  /** `sol` if the price of our own buy in SOL agreed with the feed's prices (amount / tokensTraded); otherwise null. */
  readonly tradeAmount: 'sol' | null
  /** The feed's price divided by the price in SOL: 1 if the feed quotes SOL; null without enough trades. */
  readonly quotedPerSol: number | null
  /** Path of the signature in an answer, such as `data.txid`; '' if no answer had one. */
  readonly signatureField: string
  /** The forms of requests to sell (a number of tokens, a percentage, or all) in which the service sold the requested
   *  amount. */
  readonly sales: readonly ('number' | 'percent' | 'all')[]
  /** Costs of the whole round trip, lamports: network fees, rent left in token accounts, and the loss of buying and
   *  selling. */
  readonly feeLamports: number
  readonly rentLamports: number
  readonly lossLamports: number
  /** Median times from the commit of an order to each stage, ms; null if no order reached the stage. */
  readonly latencyMs: {
    readonly answer: number | null
    readonly confirmed: number | null
    readonly final: number | null
  }
}

/** Returns the newest proof that a probe with one of these accounts has made; undefined if there is none. The proof
 *  holds for all these accounts, because they are wallets of one service and one chain. */
export function proofOf(learned: readonly Learned[], accounts: readonly string[]): ServiceProof | undefined {
  const proofs = learned.filter(({ about, name }) => name === 'proof' && accounts.includes(about))
  const found = proofs.toSorted((one, other) => other.time - one.time)[0]
  return found?.value as ServiceProof | undefined
}
