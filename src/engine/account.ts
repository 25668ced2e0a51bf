/** Whose money it is. Orders, positions, limits, lanes and limiter belong to an account, and state is restored only
 *  into the same one: paper money can never become live money, nor a sandbox's position the real service's. */
export interface Account {
  /** All of the below in one word; the key of everything that is money. */
  readonly id: string
  readonly mode: Mode
  /** Host of the service. */
  readonly service: string
  /** Genesis hash of the chain; '' for paper, which has none. */
  readonly cluster: string
  /** Public key; for paper the name of its bot, so that each paper bot has money of its own. */
  readonly wallet: string
}

/** What stands for the host of a sandbox that we started. */
export const SANDBOX_HOST = 'sandbox'

/** Whether an account is one of real money: live, and on no such sandbox. */
export function isReal(account: string): boolean {
  const [mode, service] = account.split('|')
  return mode === 'live' && service !== SANDBOX_HOST
}

export type Mode = 'live' | 'paper' | 'backtest'

export function accountOf(mode: Mode, service: string, cluster: string, wallet: string): Account {
  return { id: [mode, service, cluster.slice(0, 8), wallet].join('|'), mode, service, cluster, wallet }
}
