/** The owner of money. Each order, position, limit and request budget belongs to one account. State is restored only
 *  into the account for which it was recorded, so paper money cannot become live money, and a position on a sandbox
 *  cannot become one on the real service. */
export interface Account {
  /** The fields below, joined into one string. It is the key of everything that belongs to the account. */
  readonly id: string
  readonly mode: Mode
  /** Host of the trading service, or `SANDBOX_HOST`. */
  readonly service: string
  /** Genesis hash of the chain; '' for a paper account, which has no chain. */
  readonly cluster: string
  /** Public key of the wallet. In a paper account, the name of its bot, so that each paper bot has its own money;
   *  `wallet:NAME` if several bots share the wallet NAME. */
  readonly wallet: string
}

/** Value of `service` for a sandbox that Sluice started. */
export const SANDBOX_HOST = 'sandbox'

/** Whether an account holds real money: its mode is `live`, and its service is not a sandbox that Sluice started. */
export function isReal(account: string): boolean {
  const [mode, service] = account.split('|')
  return mode === 'live' && service !== SANDBOX_HOST
}

/** Returns the `wallet` of a paper account whose bots share the wallet with this name. The prefix distinguishes it from
 *  the name of a bot. */
export function paperWallet(name: string): string {
  return `wallet:${name}`
}

export type Mode = 'live' | 'paper' | 'backtest'

export function accountOf(mode: Mode, service: string, cluster: string, wallet: string): Account {
  return { id: [mode, service, cluster.slice(0, 8), wallet].join('|'), mode, service, cluster, wallet }
}
