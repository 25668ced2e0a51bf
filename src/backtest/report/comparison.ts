import type { StartInput } from '../../engine/messages.ts'
import type { Decision } from '../../engine/replay/compare-decisions.ts'
import { TAPE_IDENTITY } from '../tape-identity.ts'
import type { Report } from './report.ts'

/** Inputs and results of a run, by name, for a comparison with another run. */
export interface RunFacts {
  /** Kind of source. A journal has fewer facts than a report, and some of its facts have a different meaning. */
  readonly source: 'report' | 'journal'
  /** Version of the method that computes the hash of the tape (`TAPE_IDENTITY`); absent for a journal, which records no
   *  such hash. */
  readonly tapeIdentity?: number
  /** Inputs of the run: configuration, code, tape, plan and fill model. */
  readonly made: ReadonlyMap<string, string>
  /** Numeric results of each bot, by the name of the result. */
  readonly results: ReadonlyMap<string, ReadonlyMap<string, number>>
}

/** A value that differs between the runs a and b; null if a run does not have the value. */
export interface Difference<T> {
  readonly what: string
  readonly a: T | null
  readonly b: T | null
}

export interface Comparison {
  readonly differences: readonly Difference<string>[]
  /** Reasons why the tapes could not be compared; empty if they were compared. */
  readonly notes: readonly string[]
  readonly bots: readonly { readonly bot: string; readonly results: readonly Difference<number>[] }[]
}

export function compareRuns(a: RunFacts, b: RunFacts): Comparison {
  const none: ReadonlyMap<string, number> = new Map()
  const isComparable = a.tapeIdentity === b.tapeIdentity
  const differences = sideBySide(a.made, b.made).filter(
    ({ what, ...one }) =>
      one.a !== one.b &&
      // A fact that only a report or only a journal has is not a difference. Two versions of the hashing method give
      // different hashes for the same tape, so hashes of different versions are not compared.
      (a.source === b.source || (one.a !== null && one.b !== null)) &&
      (what !== TAPE || isComparable),
  )
  const isOtherTape = differences.some(({ what }) => what === TAPE)
  return {
    differences,
    notes: isOtherTape ? [] : tapeNotes(a, b),
    bots: union(a.results, b.results).map((bot) => ({
      bot,
      results: sideBySide(a.results.get(bot) ?? none, b.results.get(bot) ?? none),
    })),
  }
}

function tapeNotes(a: RunFacts, b: RunFacts): string[] {
  const older = [a, b].flatMap(({ tapeIdentity = TAPE_IDENTITY }, side) =>
    tapeIdentity < TAPE_IDENTITY ? ['AB'.charAt(side)] : [],
  )
  if (older.length > 0)
    return [
      `tape: ${older.join(' and ')} ${older.length === 1 ? 'contains' : 'contain'} an earlier version of the tape's identity, which cannot be compared with the present version; run ${older.length === 1 ? 'its backtest' : 'both backtests'} again to compare the tapes`,
    ]
  return a.source === 'report' && b.source === 'report'
    ? []
    : ['tape: not compared, because a journal records no identity of its tape']
}

/** Returns the number of equal decisions at the beginning, and the first pair that differs. */
export function firstDifference(
  a: Iterable<Decision>,
  b: Iterable<Decision>,
): { readonly equal: number; readonly a: Decision | null; readonly b: Decision | null } {
  const [left, right] = [a[Symbol.iterator](), b[Symbol.iterator]()]
  for (let equal = 0; ; equal++) {
    const [one, other] = [left.next(), right.next()]
    const found = { equal, a: one.done === true ? null : one.value, b: other.done === true ? null : other.value }
    if (found.a !== null && found.b !== null && isSame(found.a, found.b)) continue
    left.return?.()
    right.return?.()
    return found
  }
}

/** Whether two decisions are the same. Compares content and time, because each run has its own numbers of orders. */
function isSame(a: Decision, b: Decision): boolean {
  return (
    a.time === b.time &&
    a.kind === b.kind &&
    a.bot === b.bot &&
    a.mint === b.mint &&
    a.code === b.code &&
    a.reason === b.reason
  )
}

function sideBySide<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): Difference<T>[] {
  return union(a, b).map((what) => ({ what, a: a.get(what) ?? null, b: b.get(what) ?? null }))
}

function union(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): string[] {
  return [...new Set([...a.keys(), ...b.keys()])]
}

/** Key of the tape's hash in `made`. */
const TAPE = 'tape'

/** Units that are added to the names of metrics, because these names contain no unit. */
const UNITS: readonly string[] = ['SOL', '%', 's']

/** Reads the facts from report.json. */
export function factsOfReport(report: Report): RunFacts {
  const { sluice, hashes, tape, plan, fillModel, bots } = report
  const made = new Map([
    ['Sluice', sluice],
    ['configuration', hashes.config],
    ['code', hashes.code],
    [TAPE, hashes.tape],
    ...flat('tape', { rows: tape.rows, from: tape.from, to: tape.to, gapSeconds: tape.gapSeconds }),
    ...flat('plan', plan),
    ...flat('fill model', fillModel.numbers),
    ...bots.flatMap(({ name, strategy, params }) => flat(name, { strategy, code: hashes.strategies[name], params })),
  ])
  const results = bots.map((bot): [string, Map<string, number>] => {
    const { name, netSol, grossSol, costs, orders, buys, sells, metrics } = bot
    const numbers: [string, number][] = [
      ['net SOL', netSol],
      ['gross SOL', grossSol],
      ...costs.map(({ label, sol }): [string, number] => [`${label}, SOL`, sol]),
      ['orders', orders],
      ['buys', buys],
      ['sales', sells],
      // Times are not results, and a difference between two times has no meaning here.
      ...metrics.flatMap(({ label, unit, value }): [string, number][] =>
        typeof value === 'number' && unit !== 'time'
          ? [[UNITS.includes(unit) ? `${label}, ${unit}` : label, value]]
          : [],
      ),
    ]
    return [name, new Map(numbers)]
  })
  return { source: 'report', tapeIdentity: hashes.tapeIdentity ?? 1, made, results: new Map(results) }
}

/** Facts of a journal: the inputs of its first start, and sums of its orders and fills. */
export interface JournalFacts {
  readonly start: StartInput
  readonly orders: readonly { readonly bot: string }[]
  readonly fills: readonly {
    readonly bot: string
    readonly side: 'buy' | 'sell'
    readonly sol: number
    readonly feeSol: number
  }[]
}

export function factsOfJournal({ start, orders, fills }: JournalFacts): RunFacts {
  const { config, code, plan, bots } = start
  const made = new Map([
    ['configuration', config],
    ['code', code],
    ...flat('plan', { name: plan.name, requestsPerMinute: plan.requestsPerMinute }),
    ...bots.flatMap(({ name, account, ...settings }) => flat(name, { ...settings, mode: account.mode })),
  ])
  const results = bots.map(({ name }): [string, Map<string, number>] => {
    const own = fills.filter(({ bot }) => bot === name)
    const sum = (side: 'buy' | 'sell'): number =>
      own.reduce((total, one) => total + (one.side === side ? one.sol : 0), 0)
    return [
      name,
      new Map([
        ['orders', orders.filter(({ bot }) => bot === name).length],
        ['buys', own.filter(({ side }) => side === 'buy').length],
        ['sales', own.filter(({ side }) => side === 'sell').length],
        ['bought, SOL', sum('buy')],
        ['sold, SOL', sum('sell')],
        ['network fees, SOL', own.reduce((total, { feeSol }) => total + feeSol, 0)],
      ]),
    ]
  })
  return { source: 'journal', made, results: new Map(results) }
}

/** Lists every value inside `value` with its path. */
function flat(name: string, value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [] : [[name, String(value)]]
  return Object.entries(value).flatMap(([key, item]) => flat(`${name} ${key}`, item))
}
