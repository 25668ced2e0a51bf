import { reservesAt, solFor, tokensFor, VENUE_FEE } from './curve.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from './risk.ts'
import type { Quote } from './strategy.ts'
import { lamportsToSol } from './units.ts'

/** What `sol` would buy at `price` (SOL a token), own impact in. */
export function quoteBuy(sol: number, price: number): Quote {
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
export function quoteSell(tokens: number, price: number): Quote {
  const sol = solFor(tokens, reservesAt(price))
  const gross = sol / (1 - VENUE_FEE)
  const impactPercent = (1 - gross / tokens / price) * 100
  return { sol, tokens, impactPercent, feesSol: gross - sol + lamportsToSol(BASE_FEE), confidence: 'estimate' }
}
