import type { ExactPools } from './report.ts'

/** Written by `npm run pools -- --record`. */
export const EXACT_POOLS: ExactPools = {
  date: '2026-11-23',
  code: '10939134eb649103c8056a6c6e520b38e69f08693d8cb36f1041a7cd9bf3bb39',
  seeds: 20,
  bots: 20,
  fills: 207926,
  flattered: [],
  upperPercent: -0.9546989847243981,
  upperBot: 'random-entries',
  refusedBot: 'impact-scalper',
  refusedSol: -0.4012912185,
  randomPessimismPercent: 2.498850609836115,
}
