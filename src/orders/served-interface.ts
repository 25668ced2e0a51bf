import type { Plan } from '../engine/settings.ts'

/** Addresses and plans of a trading service. A venue, which implements one kind of service, provides them. The sandbox
 *  serves them. */
export interface ServedInterface {
  readonly endpoints: Readonly<Record<ServedEndpoint, ServedRoute>>
  /** Path of the WebSocket. */
  readonly streamPath: string
  /** Plans with the numbers that the service publishes. */
  readonly plans: readonly Plan[]
}

export type ServedEndpoint = 'buy' | 'sell' | 'tokenInfo' | 'portfolio' | 'buildBuy' | 'buildSell'

export interface ServedRoute {
  readonly method: 'GET' | 'POST'
  /** Path of an endpoint, below /api. A GET request appends the mint or the wallet to it. */
  readonly path: string
}
