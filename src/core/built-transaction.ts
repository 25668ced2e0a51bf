import type { AskedTrade } from './asked-trade.ts'
import type { Outcome } from './ports.ts'

/** What the service built for an attempt, with what it was asked for; or why there is nothing. Nothing of it can execute: nobody has signed. */
export type Built =
  | {
      readonly kind: 'built'
      readonly asked: AskedTrade
      readonly bytes: Uint8Array
      /** As the builder says: to be compared, never to be relied on. */
      readonly lastValidBlockHeight: number | undefined
    }
  | Extract<Outcome, { kind: 'refused' | 'unsent' }>
