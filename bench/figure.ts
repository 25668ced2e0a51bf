import { pathToFileURL } from 'node:url'

/** One measured figure: the median of several runs with their extremes, because machines are shared and noisy. */
export interface Figure {
  readonly name: string
  readonly unit: string
  readonly median: number
  readonly min: number
  readonly max: number
  /** What it has to reach, if anything; `atMost` where smaller is better. */
  readonly goal?: number
  readonly atMost?: boolean
}

/** Runs once to warm up, then `runs` times. */
export function measure(runs: number, once: () => number): Pick<Figure, 'median' | 'min' | 'max'> {
  once()
  return summarize(Array.from({ length: runs }, once))
}

export function summarize(values: readonly number[]): Pick<Figure, 'median' | 'min' | 'max'> {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number): number => sorted[index] as number
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
  return { median, min: at(0), max: at(sorted.length - 1) }
}

export function printFigures(figures: readonly Figure[]): void {
  for (const { name, unit, median, min, max, goal, atMost } of figures) {
    const met = goal === undefined ? '' : (atMost === true ? median <= goal : median >= goal) ? '  ok  ' : ' MISSED'
    const wanted = goal === undefined ? '' : `  goal ${atMost === true ? '<=' : '>='} ${format(goal)}${met}`
    console.log(`${name.padEnd(52)} ${format(median).padStart(9)} [${format(min)} .. ${format(max)}] ${unit}${wanted}`)
  }
}

/** Whether a bench file was started by itself. */
export function isMain(url: string): boolean {
  return process.argv[1] !== undefined && url === pathToFileURL(process.argv[1]).href
}

function format(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`
  if (value >= 1e4) return `${(value / 1e3).toFixed(0)} k`
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
