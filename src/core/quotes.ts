import { reservesAt, solFor, tokensFor, VENUE_FEE } from './curve.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from './risk.ts'
import type { Quote } from './strategy.ts'
import { lamportsToSol } from './units.ts'

/** What `sol` would buy at `price` (SOL a token), own impact in; undefined without a price, or for what is no amount. */
export function quoteBuy(sol: number, price: number | undefined): Quote | undefined {
  if (price === undefined || !isAmount(sol)) return undefined
  const tokens = tokensFor(sol, reservesAt(price))
  const venueFee = sol - sol / (1 + VENUE_FEE)
  const impactPercent = ((sol - venueFee) / tokens / price - 1) * 100
  return {
    sol,
    tokens,
    impactPercent,
    feesSol: venueFee + lamportsToSol(BASE_FEE + TOKEN_ACCOUNT_RENT),
    confidence: 'estimate',
  }
}

/** What selling `tokens` whole tokens at `price` would bring. */
export function quoteSell(tokens: number, price: number | undefined): Quote | undefined {
  if (price === undefined || !isAmount(tokens)) return undefined
  const sol = solFor(tokens, reservesAt(price))
  const gross = sol / (1 - VENUE_FEE)
  const impactPercent = (1 - gross / tokens / price) * 100
  return { sol, tokens, impactPercent, feesSol: gross - sol + lamportsToSol(BASE_FEE), confidence: 'estimate' }
}

function isAmount(value: number): boolean {
  return value > 0 && value < Number.POSITIVE_INFINITY
}
