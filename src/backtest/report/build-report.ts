import { readFileSync } from 'node:fs'
import { formatSol, type Millis } from '../../base/units.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { MANIFEST } from '../../config/files.ts'
import { codeHash, sluiceHash } from '../../config/hashes.ts'
import type { FillModel } from '../../engine/accounting/fill-assumptions.ts'
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
import { tapeUnit } from '../tape-units.ts'
import { botReport } from './bot-report.ts'
import { modelErrorLine } from './model-error.ts'
import type { CalibrationReport, Report, TapeReport } from './report.ts'

/** Largest number of charted tokens per bot. The tokens with the largest effect on the result are charted. */
const CHARTS_A_BOT = 30
/** Time that a chart shows before the first and after the last fill of a token, as a share of the time between the two.
 *  It is at least LEAST_MARGIN_MS. */
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
  for (const item of market.items(mints)) {
    identity.take(item)
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
    tape: { unit: tapeUnit(config, market), ...tapeReport(backtest, study) },
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
      return botReport({ ...bot, strategy: strategy.name, params, from, to, requestsPerMinute: plan.requestsPerMinute })
    }),
    extras: Object.fromEntries(extras),
    missedSol: Object.fromEntries([...ghosts.end(to)].map(([bot, lamports]) => [bot, lamports / 1e9])),
    prices: Object.fromEntries(study.charts()),
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
  return { numbers: { ...first.model }, ...fillModelSentences(first.model) }
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

/** Describes the fill model in sentences: its assumptions and its limits. */
export function fillModelSentences(model: FillModel): { readonly assumed: string[]; readonly limits: string[] } {
  const { latencyMs, slotMs, landingFailurePercent, crowdPrints, venueFeePercent, serviceFeePercent, deadAfterMs } =
    model
  const seconds = (ms: number): string => `${ms / 1000} s`
  const rent = formatSol(model.rentLamports)
  return {
    assumed: [
      `Half of the orders land within ${seconds(latencyMs.p50)} of being sent, 95 % within ${seconds(latencyMs.p95)}, plus one slot of ${seconds(slotMs)}.`,
      `${rounded(landingFailurePercent)} % of them never land in a quiet market; with ${crowdPrints} prints per slot twice as many, with a quarter of the usual priority fee twice as many again.`,
      'An order is filled at the worst price that its pool had in the slot in which it landed, beginning with the price that the last sized print before that slot left. Beyond its slippage it fails and pays its fee.',
      `A print whose trade began more than ${rounded(model.noisePercent)} % away from where the trade before it ended counts as an alternative until another print refutes it; three in a row become the price.`,
      "Depth is a constant product: pump.fun's curve, inverted from the price, for a token whose launch was seen and that was never dearer than the curve goes; else the lower quarter of what consecutive prints say of the pool, at most that of a fresh migration. Nothing is bought into an unknown pool (DEPTH_UNKNOWN).",
      `An order's own impact is paid in full. Earlier orders of the same side add theirs, as if all were one; the other side takes it back. It halves each time that others have traded ${rounded(model.impactHalvesAfterPools)} times the SOL of the pool.`,
      `The venue takes ${rounded(venueFeePercent)} % each way and the service ${rounded(serviceFeePercent)} %. Each transaction, even a failed one, costs ${formatSol(networkFee(null, model))} SOL if the service chooses the priority fee. A token account costs ${rent} SOL of rent until its last token is sold.`,
      'After a gap of the feed no order is filled at older prices: a sale waits for new prints.',
      'Sales have price impact: each one is filled against the depth that the pool has left.',
      `A token without a sized print for ${seconds(deadAfterMs)} is worth nothing. A token with ${model.honeypot.buys} buys cannot be sold before it has two sales by others, and ${model.honeypot.salesPercent} % as many as buys.`,
      'Open positions count at their liquidation value, before network fee and rent, at the lower one of the robust price and the price of their exits.',
    ],
    limits: [
      'Traders on the tape do not react to these orders.',
      "The service's document names no fee: unless it is measured (--calibrate), the fee is a guess (`paper.serviceFeePercent`).",
      'Strategies start without a warm-up, because the tape begins there; with --from the warm-up is the tape before it.',
      'One tape is one market: parameters chosen on it will do worse on the next one.',
    ],
  }
}

function rounded(percent: number): number {
  return Math.round(percent * 100) / 100
}
