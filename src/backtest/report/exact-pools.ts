import type { ExactPools } from './report.ts'

/** Written by `npm run pools -- --record`. */
export const EXACT_POOLS: ExactPools = {
  date: '2026-11-23',
  code: '2eb207dc4aeeadd8631effe04020f02d42bc7099efe44f0630b01c5c7ee1e6d8',
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
