import type { ExactPools } from './report.ts'

/** Written by `npm run pools -- --record`. */
export const EXACT_POOLS: ExactPools = {
  date: '2026-11-23',
  code: 'bdad4daba5807742dd9870e599b778f68330d6911c5f2aa16844e4592a063210',
  seeds: 20,
  bots: 20,
  fills: 190983,
  flattered: [],
  upperPercent: -0.9011191917808155,
  upperBot: 'random-entries',
  refusedBot: 'whale-follower',
  refusedSol: -10.9318176222,
  randomPessimismPercent: 2.52798899745543,
}
