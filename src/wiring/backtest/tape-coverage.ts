import { coverageOf, type FeedEvent, type KeyCoverage, lackOf } from '../../backtest/coverage.ts'
import type { Config } from '../../config/config.ts'
import { keysOf } from '../../config/keys.ts'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import type { Market } from '../../journal/reader.ts'

/** What a tape covers of what the bots need, and in words what it lacks. Throws SluiceError (exit 2) where there is no bot or no row, and,
 *  unless `partial`, where something is lacking. */
export function tapeCoverage(
  { bots, wallet }: Pick<Config, 'bots' | 'wallet'>,
  market: Market,
  partial: boolean,
): { coverage: KeyCoverage[]; lacks: string[] } {
  if (bots.length === 0) throw new SluiceError('there is no bot in the configuration', ExitCode.usage)
  if (market.rows === 0) throw new SluiceError('the tape is empty: no market row was recorded', ExitCode.usage)
  const coverage = coverageOf(keysOf({ bots, wallet }), feedEvents(market))
  const lacks = coverage.flatMap(lackOf)
  if (!partial) refuseLacks(lacks)
  return { coverage, lacks }
}

/** Throws SluiceError (exit 2) where something is lacking. */
export function refuseLacks(lacks: readonly string[]): void {
  if (lacks.length === 0) return
  throw new SluiceError(
    `the tape does not cover what the bots need; --partial goes on all the same\n${lacks.map((lack) => `  ${lack}`).join('\n')}`,
    ExitCode.usage,
  )
}

function* feedEvents(market: Market): Generator<FeedEvent, void, undefined> {
  for (const item of market.history()) {
    if (item.kind === 'news') yield item.news.kind === 'feed' ? { ...item.news, time: item.time } : item.news
    else
      yield {
        kind: item.kind,
        segment: item.stretch.segment,
        time: item.kind === 'began' ? item.stretch.from : (item.stretch.stoppedAt ?? item.stretch.to),
      }
  }
}
