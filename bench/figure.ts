import { pathToFileURL } from 'node:url'

/** A measured figure: the median of several runs with its extremes, because other processes disturb measurements. */
export interface Figure extends Spread {
  readonly name: string
  readonly unit: string
  /** Value that the median must reach; absent if the figure has no goal. `atMost`: the median must not exceed the goal;
   *  otherwise it must not be below the goal. */
  readonly goal?: number
  readonly atMost?: boolean
}

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
  /** Ends of the 95 % interval of the median; absent if there are too few values. */
  readonly interval?: Interval
}

export type Interval = readonly [low: number, high: number]

/** Calls a function once to warm up, then `runs` times. Returns the spread of the values of these `runs` calls. */
export function measure(runs: number, once: () => number): Spread {
  once()
  return summarize(Array.from({ length: runs }, once))
}

/** A figure of Sluice, the same figure of the bare baseline, and the ratio of the two. */
export type Pair = Record<'ours' | 'bare' | 'ratio', Spread>
type Run<T> = () => T | Promise<T>

/** Runs Sluice and the baseline alternately and computes the ratio within each pair, because disturbances of a
 *  machine last longer than a run. */
export async function pairs(runs: number, ours: Run<number>, bare: Run<number>, label?: string): Promise<Pair> {
  const of = (run: Run<number>) => async () => ({ value: await run() })
  return (await pairsOf(runs, of(ours), of(bare), label)).value
}

/** Runs Sluice and the baseline alternately, as `pairs` does, for runs that return several figures each. `label`: name
 *  in the progress lines on stderr; without it, there are no such lines. */
export async function pairsOf<K extends string>(
  runs: number,
  ours: Run<Readonly<Record<K, number>>>,
  bare: Run<Readonly<Record<K, number>>>,
  label?: string,
): Promise<Record<K, Pair>> {
  const tell = (done: number): void => {
    if (label !== undefined) process.stderr.write(`${label}: ${done} of ${runs} pairs\n`)
  }
  tell(0)
  await bare()
  const names = Object.keys(await ours()) as K[]
  const taken: Record<K, number>[][] = []
  for (let run = 0; run < runs; run++) {
    taken.push([await bare(), await ours()])
    tell(run + 1)
  }
  const pairOf = (name: K): Pair => {
    const numbers = (side: 0 | 1): number[] => taken.map((run) => (run[side] as Record<K, number>)[name])
    const [allBare, all] = [numbers(0), numbers(1)]
    const ratios = all.map((value, run) => value / (allBare[run] as number))
    return { ours: summarize(all), bare: summarize(allBare), ratio: summarize(ratios) }
  }
  return Object.fromEntries(names.map((name) => [name, pairOf(name)])) as Record<K, Pair>
}

export function summarize(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number): number => sorted[index] as number
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
  const rank = lowRank(sorted.length)
  const spread = { median, min: at(0), max: at(sorted.length - 1) }
  return rank < 0 ? spread : { ...spread, interval: [at(rank), at(sorted.length - 1 - rank)] }
}

/** Index, from 0 in ascending order, of the value that is the low end of the 95 % interval of the median; -1 if there
 *  are fewer than six values. The high end is the value with the same index in descending order. The interval assumes
 *  only that the values are independent: each is below the true median with a chance of one half, so the number of
 *  values below it follows a binomial distribution. For 20 values the interval goes from the sixth to the fifteenth. */
function lowRank(count: number): number {
  if (count > 1_000) return Math.floor(count / 2 - 0.98 * Math.sqrt(count)) - 1 // the normal distribution
  let [rank, chance, sum] = [-1, 0.5 ** count, 0.5 ** count]
  while (sum <= 0.025 && rank < count / 2) {
    rank++
    chance *= (count - rank) / (rank + 1)
    sum += chance
  }
  return rank
}

export function printFigures(figures: readonly Figure[]): void {
  for (const figure of figures) {
    const { name, unit, median, min, max, interval, goal, atMost } = figure
    const met = { true: 'ok', false: 'MISSED', undefined: '' }[`${isMet(figure)}`]
    const wanted = goal === undefined ? '' : `  goal ${atMost === true ? '<=' : '>='} ${format(goal)}  ${met}`
    const sure = interval === undefined ? '' : `, median in ${format(interval[0])} .. ${format(interval[1])} (95 %)`
    console.log(
      `${name.padEnd(52)} ${format(median).padStart(9)} [${format(min)} .. ${format(max)}${sure}] ${unit}${wanted}`,
    )
  }
}

/** Whether the median reaches the goal; undefined without a goal. */
export function isMet({ median, goal, atMost }: Figure): boolean | undefined {
  if (goal === undefined) return undefined
  return atMost === true ? median <= goal : median >= goal
}

/** Processor time of this thread, milliseconds. It depends less on other load of the machine than wall time. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Whether a bench file was started directly. */
export function isMain(url: string): boolean {
  return process.argv[1] !== undefined && url === pathToFileURL(process.argv[1]).href
}

function format(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`
  if (value >= 1e4) return `${(value / 1e3).toFixed(0)} k`
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
