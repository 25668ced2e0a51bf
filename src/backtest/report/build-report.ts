import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Millis } from '../../base/units.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { codeHash, sluiceHash } from '../../config/hashes.ts'
import { MANIFEST } from '../../config/package-paths.ts'
import type { RoundTrip } from '../../engine/accounting/round-trip.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import { Mints } from '../../market/mints.ts'
import { networkFee } from '../../simulation/fill-model.ts'
import { shareOf } from '../coverage.ts'
import type { BotExtras } from '../metrics/extras.ts'
import { type GhostCosts, Ghosts, type MissedEntry } from '../metrics/ghosts.ts'
import { Excursions, TapeStudy, type Window } from '../metrics/tape-study.ts'
import type { Backtest } from '../run.ts'
import { TAPE_IDENTITY, TapeIdentity } from '../tape-identity.ts'
import { TapeUnit } from '../tape-units.ts'
import { botReport } from './bot-report.ts'
import { fillModelSentences } from './fill-model-text.ts'
import { modelErrorLine } from './model-error.ts'
import type { CalibrationReport, Report, TapeReport } from './report.ts'

/** Largest number of charted tokens per bot. The tokens with the largest effect on the result are charted. */
const CHARTS_A_BOT = 30
/** A chart of a token begins before its first fill and ends after its last one. The margin on each side is this share
 *  of the time between these two fills, but at least LEAST_MARGIN_MS. */
const MARGIN = 0.15
const LEAST_MARGIN_MS: Millis = 20_000

/** Optional parts of a report. */
interface Beside {
  readonly extras: ReadonlyMap<string, BotExtras>
  readonly calibration: CalibrationReport | undefined
}

/** Builds the report of a logged backtest. Reads the tape once more. */
export function reportOf(config: Config, market: Market, backtest: Backtest, { extras, calibration }: Beside): Report {
  const mints = new Mints()
  const ghosts = new Ghosts(mints, missedEntries(backtest), ghostCosts(backtest))
  const excursions = new Excursions(mints, tripsOf(backtest))
  const study = new TapeStudy(mints, config.service.units, chartedWindows(backtest), { ghosts, excursions })
  const identity = new TapeIdentity()
  const unit = new TapeUnit()
  for (const item of market.items(mints)) {
    identity.take(item)
    unit.take(item)
    if (item.kind === 'rows') study.rows(item.block, item.from, item.to)
  }
  excursions.end()
  const { from, to, plan, alarms, bots } = backtest
  const strategies = config.bots.map(({ strategy }) => strategy)
  return {
    version: 1,
    sluice: (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version,
    hashes: {
      tape: identity.digest(),
      tapeIdentity: TAPE_IDENTITY,
      config: config.hash,
      sluice: sluiceHash(),
      code: codeHash(strategies),
      strategies: Object.fromEntries(config.bots.map(({ name, strategy }) => [name, codeHash([strategy])])),
    },
    tape: { unit: unit.verdict(config), ...tapeReport(backtest, study) },
    plan: { name: plan.name, requestsPerMinute: plan.requestsPerMinute },
    fillModel: {
      ...fillModelOf(backtest),
      calibration: calibration ?? null,
      error: modelErrorLine(
        bots.map(({ model }) => model),
        calibration,
      ),
    },
    bots: bots.map((bot, index) => {
      const { strategy, params } = config.bots[index] as BotConfig
      const { requestsPerMinute } = plan
      const ownModel = isDeepStrictEqual(bot.model, bots[0]?.model) ? undefined : bot.model
      return botReport({ ...bot, strategy: strategy.name, params, from, to, requestsPerMinute, ownModel })
    }),
    extras: Object.fromEntries(extras),
    missedSol: Object.fromEntries([...ghosts.end(to)].map(([bot, lamports]) => [bot, lamports / 1e9])),
    prices: Object.fromEntries(study.charts()),
    volumes: Object.fromEntries(study.volumes()),
    names: Object.fromEntries(study.names),
    alarms,
  }
}

function tripsOf({ bots }: Backtest): RoundTrip[] {
  return bots.flatMap(({ result: { log } }) => log?.money.trips ?? [])
}

function tapeReport(backtest: Backtest, study: TapeStudy): TapeReport {
  const { sizedPrints, noisePrints } = study
  const change = study.marketChange()
  const percent = (share: number | null): number | null => (share === null ? null : share * 100)
  const { from, to, rows, segments, gaps, gapMs, coverage, lacks, mints } = backtest
  return {
    ...{ from, to, rows, segments, gaps, gapSeconds: gapMs / 1000, lacks },
    coveragePercent: Object.fromEntries(coverage.map((key) => [key.key, shareOf(key) * 100])),
    watchedTokens: mints.wanted.size,
    missingTokens: mints.absent.size,
    sizedPrints,
    noisePercent: sizedPrints === 0 ? null : (noisePrints / sizedPrints) * 100,
    pricedTokens: change.tokens,
    marketChangePercent: percent(change.mean),
    medianMarketChangePercent: percent(change.median),
  }
}

function fillModelOf({ bots }: Backtest): Omit<Report['fillModel'], 'calibration' | 'error'> {
  const [first] = bots
  if (first === undefined) throw new Error('the backtest has no bot')
  const named = bots.map(({ result: { name }, model }) => ({ name, model }))
  return { numbers: { ...first.model }, ...fillModelSentences(named) }
}

function missedEntries({ bots }: Backtest): MissedEntry[] {
  return bots.flatMap(({ result: { name, log }, model }) =>
    [...(log?.orders.values() ?? [])].flatMap(({ side, state, mint, time, lamports }) =>
      side === 'sell' || state === 'filled' || lamports === null
        ? []
        : [{ bot: name, mint, time: time + model.latencyMs.p50, lamports, exits: log?.exits.get(mint) ?? {} }],
    ),
  )
}

function ghostCosts({ bots }: Backtest): Map<string, GhostCosts> {
  return new Map(
    bots.map(({ result, model }) => [result.name, { ...model, networkFeeLamports: networkFee(null, model) }]),
  )
}

function chartedWindows({ bots }: Backtest): Map<string, Window> {
  const windows = new Map<string, Window>()
  for (const { result } of bots) {
    const spans = new Map<string, { from: Millis; to: Millis; moved: number }>()
    for (const { mint, time, lamports } of result.log?.fills ?? []) {
      const span = spans.get(mint) ?? { from: time, to: time, moved: 0 }
      spans.set(mint, { from: Math.min(span.from, time), to: Math.max(span.to, time), moved: span.moved + lamports })
    }
    const most = [...spans].sort(([a, x], [b, y]) => y.moved - x.moved || (a < b ? -1 : 1)).slice(0, CHARTS_A_BOT)
    for (const [mint, { from, to }] of most) {
      const margin = Math.max(LEAST_MARGIN_MS, (to - from) * MARGIN)
      const known = windows.get(mint)
      windows.set(mint, {
        from: Math.min(known?.from ?? from, from - margin),
        to: Math.max(known?.to ?? to, to + margin),
      })
    }
  }
  return windows
}
