import { type BarWidth, meantWidth, parseWidth, WIDTHS, type Width } from '../../market/bar-width.ts'
import { type ConditionPlan, readConditions } from '../conditions/condition-plan.ts'
import type { Indicator } from '../indicators/indicator.ts'
import type { PlanFlaw } from '../plan-flaw.ts'

/** The bars that a strategy declares: for each width, the number of closed bars that are kept for a token. */
export type BarPlan = { readonly [W in Width]?: number | BarSetting }

/** The bars of one width that a strategy declares. */
export interface BarSetting {
  /** Number of closed bars that are kept for a token; 1 to 10,000. */
  readonly keep: number
  /** `fill`: an interval without a print becomes a flat bar without volume. `gap`: such an interval has no bar. Only
   *  time bars have such intervals. Default `fill`. */
  readonly silent?: 'fill' | 'gap'
}

/** Bars of one width as one bot sees them. */
export interface PlannedBars {
  readonly width: BarWidth
  readonly keep: number
  readonly isFilled: boolean
}

export interface SeriesPlan {
  readonly bars: readonly PlannedBars[]
  /** Indicators, by name. */
  readonly indicators: ReadonlyMap<string, Indicator<unknown>>
  readonly conditions: readonly ConditionPlan[]
}

/** The part of a strategy that declares bars, indicators and conditions. */
interface Declared {
  readonly bars?: unknown
  indicators?(params: unknown): unknown
  when?(indicators: never, params: unknown): unknown
}

const MOST_KEPT = 10_000
const MOST_WIDTHS = 20
const MOST_INDICATORS = 100

/** Reads the bars, indicators and conditions that a strategy declares for these params. Throws any error that the
 *  strategy throws. */
export function readPlan(
  { bars = {}, indicators, when }: Declared,
  params: unknown,
): { readonly plan: SeriesPlan; readonly flaws: readonly PlanFlaw[] } {
  const flaws: PlanFlaw[] = []
  const declared: unknown = typeof bars === 'function' ? bars(params) : bars
  const planned = readBars(declared, flaws)
  const named = readIndicators(indicators?.(params) ?? {}, planned, flaws)
  const isWhole = flaws.length === 0
  const conditions =
    when === undefined || !isWhole
      ? []
      : readConditions(
          (operands) => when(operands as never, params),
          named,
          planned.map(({ width }) => width.name),
          flaws,
        )
  return { plan: { bars: planned, indicators: named, conditions }, flaws }
}

/** Returns the longest time that the kept time bars of one width cover, seconds; 0 if the strategy declares no time
 *  bars. */
export function secondsOfBars(strategy: Declared, params: unknown): number {
  const { bars } = readPlan(strategy, params).plan
  const spans = bars.map(({ width, keep }) => (width.everyMs < Number.POSITIVE_INFINITY ? width.everyMs * keep : 0))
  return Math.max(0, ...spans) / 1000
}

/** Widths of the bars that a strategy declares, in the order of the declaration. */
export function widthsOf({ bars }: Pick<Declared, 'bars'>, params: unknown): Width[] {
  return readPlan({ bars }, params).plan.bars.map(({ width }) => width.name)
}

function readBars(declared: unknown, flaws: PlanFlaw[]): PlannedBars[] {
  if (!isRecord(declared)) {
    flaws.push({ path: ['bars'], problem: "expected widths with the number of bars to keep, such as { '1m': 200 }" })
    return []
  }
  const entries = Object.entries(declared)
  if (entries.length > MOST_WIDTHS)
    flaws.push({ path: ['bars'], problem: `expected at most ${MOST_WIDTHS} widths, found ${entries.length}` })
  return entries.flatMap(([name, setting]) => {
    const width = parseWidth(name)
    if (width === undefined) flaws.push({ path: ['bars', name], problem: notWidth(name), meant: meantWidth(name) })
    const read = readSetting(setting, ['bars', name], flaws)
    return width === undefined || read === undefined ? [] : [{ width, ...read }]
  })
}

function notWidth(name: string): string {
  return `'${name.slice(0, 60)}' is not a width of a bar; expected ${WIDTHS}`
}

function readSetting(
  setting: unknown,
  path: readonly string[],
  flaws: PlanFlaw[],
): Omit<PlannedBars, 'width'> | undefined {
  const { keep, silent = 'fill', ...unknown } = isRecord(setting) ? setting : { keep: setting }
  const before = flaws.length
  if (!Number.isInteger(keep) || !((keep as number) >= 1 && (keep as number) <= MOST_KEPT))
    flaws.push({ path, problem: `expected a whole number of bars to keep, 1 to ${MOST_KEPT}, found ${shown(keep)}` })
  const right = ['fill', 'gap']
  if (!right.includes(silent as string))
    flaws.push({
      ...{ path: [...path, 'silent'], problem: `expected fill or gap, found ${shown(silent)}` },
      ...{ word: String(silent), right },
    })
  for (const key of Object.keys(unknown))
    flaws.push({ path: [...path, key], problem: 'unknown key', word: key, right: ['keep', 'silent'] })
  return flaws.length > before ? undefined : { keep: keep as number, isFilled: silent === 'fill' }
}

function readIndicators(
  named: unknown,
  bars: readonly PlannedBars[],
  flaws: PlanFlaw[],
): Map<string, Indicator<unknown>> {
  const read = new Map<string, Indicator<unknown>>()
  if (!isRecord(named)) {
    flaws.push({ path: ['indicators'], problem: "expected indicators by name, such as { fast: ema('1m', 12) }" })
    return read
  }
  if (Object.keys(named).length > MOST_INDICATORS)
    flaws.push({ path: ['indicators'], problem: `expected at most ${MOST_INDICATORS} indicators` })
  const right = bars.map(({ width }) => width.name)
  for (const [name, indicator] of Object.entries(named)) {
    const path = ['indicators', name]
    if (!isRecord(indicator) || typeof indicator.width !== 'string' || typeof indicator.create !== 'function') {
      flaws.push({ path, problem: 'expected an indicator: an object with `width` and `create`' })
      continue
    }
    const { width } = indicator
    if (right.includes(width as Width)) read.set(name, indicator as unknown as Indicator<unknown>)
    else if (parseWidth(width) === undefined) flaws.push({ path, problem: notWidth(width), meant: meantWidth(width) })
    else
      flaws.push({
        ...{ path, problem: `the indicator needs '${width}' bars, which \`bars\` does not declare (${listed(right)})` },
        ...{ word: width, right },
      })
  }
  return read
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'it declares none' : `it declares ${names.map((name) => `'${name}'`).join(', ')}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 60)
}
