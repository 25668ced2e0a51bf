import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import type { Message } from '../../solana/transaction.ts'

/** Lamports that may leave the wallet while an order is executed. */
export interface Outgoing {
  /** Lamports reserved for this order. An opaque program, whose instructions Sluice cannot decode, may not take
   *  more than these. */
  readonly boundLamports: bigint
  /** Lamports reserved for the wallet's other open orders. */
  readonly reservedLamports: bigint
  /** Lamports allowed for orders that are accepted later. */
  readonly headroomLamports: bigint
}

/** The guard mode of the policy, and the amounts that the guards of one order must allow to leave the wallet. Guards
 *  are instructions that check balances. */
export class GuardRoom {
  readonly #mode: BuilderPolicy['guard']
  readonly #outgoing: () => Outgoing

  /** `outgoing` returns the lamports that may leave the wallet. It is called only when the guards are made, because
   *  other orders may be accepted during the checks. */
  constructor(mode: BuilderPolicy['guard'], outgoing: () => Outgoing) {
    this.#mode = mode
    this.#outgoing = outgoing
  }

  get boundLamports(): bigint {
    return this.#outgoing().boundLamports
  }

  get reservedLamports(): bigint {
    return this.#outgoing().reservedLamports
  }

  get headroomLamports(): bigint {
    return this.#outgoing().headroomLamports
  }

  /** Whether guards may be appended. They change the message, so they would void the signature of a co-signer. */
  mayGuard({ signers }: Message): boolean {
    return this.#mode !== 'off' && signers === 1
  }

  get isRequired(): boolean {
    return this.#mode === 'required'
  }
}
