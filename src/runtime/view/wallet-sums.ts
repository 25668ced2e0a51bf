import type { WalletStatus } from './view.ts'

/** Sums over the wallets with a name, for each mode (live, paper) with more than one such wallet. Money of two modes is
 *  never added up. */
export function walletSums(wallets: readonly WalletStatus[]): WalletSum[] {
  const named = wallets.filter(({ name }) => name !== undefined)
  return [...Map.groupBy(named, ({ mode }) => mode)].flatMap(([mode, own]) => {
    if (own.length < 2) return []
    const sum = (of: (wallet: WalletStatus) => number): number =>
      own.reduce((all, wallet) => all + Math.round(of(wallet) * 1e9), 0) / 1e9
    const isRead = own.every(({ solBalance }) => solBalance !== null)
    const solBalance = isRead ? sum((wallet) => wallet.solBalance ?? 0) : null
    return [{ mode, count: own.length, solBalance, positionsSol: sum(({ positionsSol }) => positionsSol) }]
  })
}

/** Sum over the wallets of a mode. */
interface WalletSum extends Pick<WalletStatus, 'mode' | 'solBalance' | 'positionsSol'> {
  readonly count: number
}
