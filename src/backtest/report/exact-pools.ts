import type { ExactPools } from './report.ts'

/** Written by `npm run pools -- --record`. */
export const EXACT_POOLS: ExactPools = {
  date: '2026-11-23',
  code: '41ceb679f590dd3dfab328fbc5407c4526d7fcc48c803a008f6ecd1240d0bbbd',
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
