import type { ExactPools } from './report.ts'

/** Written by `npm run pools -- --record`. */
export const EXACT_POOLS: ExactPools = {
  date: '2026-11-23',
  code: 'ef95b5c55aef47a60c2b6c03bc032aa299926ea3d3b7a3b21865a500df2b1a7d',
  seeds: 20,
  bots: 20,
  fills: 200179,
  flattered: [],
  upperPercent: -0.9546989847243981,
  upperBot: 'random-entries',
  refusedBot: 'impact-scalper',
  refusedSol: -0.4012912185,
  randomPessimismPercent: 2.498850609836115,
}
