import type { Refusal } from '../../base/errors.ts'
import { formatSol } from '../../base/units.ts'
import type { AskedBuy } from '../../orders/trade-request.ts'
import { mostAmount } from '../../solana/rounding.ts'
import type { ChainFacts } from './chain-facts.ts'
import { share } from './percentages.ts'
import type { Reading, Trade } from './reading.ts'

// These functions compare the trade of a transaction with the order. `cost-limits.ts` judges its other costs.

/** Returns the maximum cost of a buy in lamports, with its slippage and rounding. */
export function mostCost({ lamports, slippagePercent }: AskedBuy): bigint {
  return mostAmount(share(mostAmount(BigInt(lamports)), 100 + slippagePercent))
}

/** Refuses a decoded trade that has another side than the order, exceeds its amount, or accepts an output of 0. */
export function judgeTrade(trade: Trade, reading: Reading, facts: ChainFacts): void {
  const { asked } = reading
  const { name, side, exact, lamports, tokens } = trade
  if (side !== asked.side)
    reading.refuse('WRONG_SIDE', `the transaction is a ${name}, but the order is a ${asked.side}`)
  else if (asked.side === 'buy') {
    const most = exact === 'in' ? mostAmount(BigInt(asked.lamports)) : mostCost(asked)
    if (lamports > most)
      reading.refuse(
        'AMOUNT_OVER',
        `${name} may cost ${formatSol(lamports)} SOL, but the order allows ${formatSol(most)} SOL`,
      )
    if (tokens === 0n) reading.refuse('MIN_OUT', `${name} accepts a minimum output of 0 tokens`)
  } else {
    const most = tokensAsked(reading, facts)
    if (most === undefined)
      reading.refuse('SELL_UNBOUNDED', `${name} sells ${tokens} base units; ${whyUnbounded(reading)}`)
    else if (most !== null && tokens > most)
      reading.refuse('AMOUNT_OVER', `${name} sells ${tokens} base units, but the order allows ${most}`)
    if (lamports === 0n) reading.refuse('MIN_OUT', `${name} accepts a minimum output of 0 SOL`)
  }
}

/** The order and the policy against which a trade is judged. */
type Terms = Pick<Reading, 'asked' | 'policy'>

/** Judges an opaque trade, whose instruction cannot be decoded, by the simulated changes of the wallet. Returns the
 *  refusals. */
export function judgeSimulated(
  terms: Terms,
  facts: ChainFacts,
  orderedLamports: bigint | null,
  { lamports, tokens }: { readonly lamports: bigint; readonly tokens: bigint },
): Refusal[] {
  if (terms.asked.side === 'buy') {
    if (orderedLamports === null || -lamports <= orderedLamports) return []
    const reason = `the simulated buy costs ${formatSol(-lamports)} SOL, but the order allows ${formatSol(orderedLamports)} SOL with fees and rent`
    return [{ code: 'AMOUNT_OVER', reason }]
  }
  const most = tokensAsked(terms, facts)
  if (most === null || (most !== undefined && -tokens <= most)) return []
  return [
    most === undefined
      ? { code: 'SELL_UNBOUNDED', reason: `the simulated sale takes ${-tokens} base units; ${whyUnbounded(terms)}` }
      : { code: 'AMOUNT_OVER', reason: `the simulated sale takes ${-tokens} base units, but the order allows ${most}` },
  ]
}

/** Returns the maximum number of base units to sell; null if the whole balance may be sold, undefined if the maximum is
 *  unknown. */
function tokensAsked({ asked, policy }: Terms, { holding }: ChainFacts): bigint | null | undefined {
  if (asked.side === 'buy' || asked.amount.kind === 'all') return null
  if (asked.amount.kind === 'percent') return holding && mostAmount(share(holding.tokens, asked.amount.percent))
  const [whole = '', fraction = ''] = asked.amount.decimal.split('.')
  if (policy.sellNumber === 'baseUnits') return /^0*$/.test(fraction) ? BigInt(whole) : undefined
  if (policy.sellNumber === null || holding === undefined) return undefined
  return mostAmount(BigInt(whole + fraction.slice(0, holding.decimals).padEnd(holding.decimals, '0')))
}

function whyUnbounded({ asked, policy }: Terms): string {
  const isNumber = asked.side === 'sell' && asked.amount.kind === 'number'
  if (isNumber && policy.sellNumber === null)
    return 'the policy must set sellNumber, the unit in which the order gives the amount of a sale'
  return 'the order is a share of the balance, which was not read: add the option --rpc'
}
