import type { ExactPools } from './report.ts'

/** Written by `npm run pools -- --record`. */
export const EXACT_POOLS: ExactPools = {
  date: '2026-11-23',
  code: '78f0663696a54aa7edc698cd449246ec16777113b9c9fb769f5d2e761ffa88fd',
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
