/** The owner of money. Orders, positions, limits, lanes and limiter belong to an account, and state is restored only
 *  into the same account: paper money cannot become live money, and a position on a sandbox cannot become one on the
 *  real service. */
export interface Account {
  /** The fields below, joined; key of everything that is money. */
  readonly id: string
  readonly mode: Mode
  /** Host of the service. */
  readonly service: string
  /** Genesis hash of the chain; '' for paper, which has none. */
  readonly cluster: string
  /** Public key; for paper the name of its bot, so that each paper bot has money of its own. */
  readonly wallet: string
}

/** Takes the place of the host for a sandbox that Sluice started. */
export const SANDBOX_HOST = 'sandbox'

/** Whether an account holds real money: mode `live`, and not on a sandbox that Sluice started. */
export function isReal(account: string): boolean {
  const [mode, service] = account.split('|')
  return mode === 'live' && service !== SANDBOX_HOST
}

export type Mode = 'live' | 'paper' | 'backtest'

export function accountOf(mode: Mode, service: string, cluster: string, wallet: string): Account {
  return { id: [mode, service, cluster.slice(0, 8), wallet].join('|'), mode, service, cluster, wallet }
}
