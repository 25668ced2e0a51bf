import type { ExactPools } from './report.ts'

/** Written by `npm run pools -- --record`. */
export const EXACT_POOLS: ExactPools = {
  date: '2026-11-23',
  code: 'f732cfd0dcc5dcb8d9398d79273855315c5874030ca56cb1d0d0926692e49843',
  seeds: 20,
  bots: 20,
  fills: 200183,
  flattered: [],
  upperPercent: -0.992045704151828,
  upperBot: 'random-entries',
  refusedBot: 'impact-scalper',
  refusedSol: -0.4039818875,
  randomPessimismPercent: 2.5386283116078894,
}
