import type { Holding } from '../core/lots.ts'
import type { Lamports } from '../core/units.ts'
import type { Worth } from '../journal/reader.ts'

/** What a bot has made of an account's money, lamports. */
export interface Profit {
  readonly account: string
  readonly bot: string
  /** Of what was sold, first in, first out: proceeds less cost, network fees of buy and sale in. */
  readonly realizedLamports: Lamports
  /** Of what is held: what selling it now would bring less cost and fees; null where a price is not known. */
  readonly unrealizedLamports: Lamports | null
  /** Cost of what is held, the fees of its buys in. */
  readonly heldLamports: Lamports
  /** Cost of tokens that somebody else took out of the wallet. */
  readonly lostLamports: Lamports
  readonly disposals: number
  readonly lots: number
}

export function profitsOf(holdings: readonly Holding[], value: Worth): Profit[] {
  const bots = new Map<string, Holding[]>()
  for (const holding of holdings) {
    const key = `${holding.account}\n${holding.bot}`
    bots.set(key, [...(bots.get(key) ?? []), holding])
  }
  return [...bots]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, own]) => {
      const [account = '', bot = ''] = key.split('\n')
      return { account, bot, ...profitOf(own, value) }
    })
}

function profitOf(holdings: readonly Holding[], value: Worth): Omit<Profit, 'account' | 'bot'> {
  const sum = (numbers: readonly number[]): Lamports => numbers.reduce((all, one) => all + one, 0) as Lamports
  const lots = holdings.flatMap((holding) => holding.lots)
  const disposals = holdings.flatMap((holding) => holding.disposals)
  const heldLamports = sum(lots.map(({ costLamports, feeLamports }) => costLamports + feeLamports))
  const worths = holdings
    .filter((holding) => holding.lots.length > 0)
    .map(({ mint, lots: own }) => {
      const tokens = own.reduce((all, lot) => all + lot.tokens, 0n)
      return value(mint, tokens, own[0]?.decimals ?? 0)
    })
  const isKnown = worths.every((worth) => worth !== undefined)
  return {
    realizedLamports: sum(disposals.map(({ gainLamports }) => gainLamports)),
    unrealizedLamports: isKnown ? sum([...worths.map((worth) => worth ?? 0), -heldLamports]) : null,
    heldLamports,
    lostLamports: sum(holdings.map((holding) => holding.lostLamports)),
    disposals: disposals.length,
    lots: lots.length,
  }
}
