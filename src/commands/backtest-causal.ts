import { dateTimeOf } from '../backtest/time.ts'
import type { Config } from '../config/config.ts'
import { ExitCode } from '../core/errors.ts'
import { printable } from '../core/printable.ts'
import type { Market } from '../journal/reader.ts'
import { type Causality, verifyCausality } from '../wiring/backtest/causality.ts'
import { tapeCoverage } from '../wiring/backtest/tape-coverage.ts'
import type { Options } from './options.ts'

const LONGEST = 600

/** `sluice backtest FILE --journal DB --verify-causal`: exit 1 where something was decided, or filled, that hangs on what came after it. */
export function verifyCausal(config: Config, market: Market, { seed = 1, partial = false, json }: Options): ExitCode {
  tapeCoverage(config, market, partial)
  const found = verifyCausality(config, market, seed)
  const { cuts, compared, divergence } = found
  if (json === true) console.log(JSON.stringify({ seed, cuts, compared, equal: divergence === null, divergence }))
  else console.log(textOf(found, seed))
  return divergence === null ? ExitCode.done : ExitCode.failed
}

function textOf({ cuts, compared, divergence }: Causality, seed: number): string {
  const where = `cut after rows ${cuts.join(', ')} (--seed ${seed})`
  if (divergence === null) return `${where}: ${compared} decisions and fills, all equal`
  const { cut, whole, cutOff } = divergence
  const told = (entry: typeof whole): string =>
    entry === null
      ? 'nothing'
      : `${dateTimeOf(entry.time)} UTC, seq ${entry.seq}: ${printable(entry.text.slice(0, LONGEST))}`
  return [
    `${where}: not the same without the rows after ${cut}. It has seen the future, or hangs on something beside its market`,
    `  whole  ${told(whole)}`,
    `  cut    ${told(cutOff)}`,
  ].join('\n')
}
