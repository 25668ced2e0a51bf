import { ExitCode, SluiceError } from '../../base/errors.ts'
import { type Random, seededRandom } from '../../base/random.ts'
import { didYouMean } from '../../config/yaml/wording.ts'

/** A numeric param, with the minimum and the maximum that its schema allows. If the schema states no limit, the value
 *  is infinite. */
export interface Dimension {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly isInteger: boolean
}

/** The numbers from `from` to `to`, inclusive, at intervals of `step`. If `step` is 0, the number of values depends on
 *  the number of ranges. */
export interface Range {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly step: number
  readonly isInteger: boolean
  /** The values themselves, if the range lists them. */
  readonly values?: readonly number[]
}

/** Values of the swept params and settings. A setting is named by its path, such as `exits.stopLossPercent`. */
export type Point = Readonly<Record<string, number>>

/** Number of param sets in a grid if its ranges state no steps. */
const USUAL_SETS = 64
const MOST_SETS = 100_000

/** Parses the texts of `--range` (`name=from:to[:step]` or `name=a,b,c`) and checks them against the params and the
 *  settings. Without texts, returns every numeric param whose schema has a minimum and a maximum. Throws SluiceError
 *  (exit 2) with a description of the error. */
export function rangesOf(
  texts: readonly string[],
  dimensions: readonly Dimension[],
  settings: readonly Dimension[] = [],
): Range[] {
  if (texts.length > 0) {
    const ranges = texts.map((text) => (text.includes(',') ? listOf : rangeOf)(text, dimensions, settings))
    const twice = ranges.find(({ name }, index) => ranges.findIndex((other) => other.name === name) !== index)
    if (twice !== undefined) throw usage(`--range ${twice.name} is given twice`)
    return ranges
  }
  const bounded = dimensions.filter(({ min, max }) => Number.isFinite(min) && Number.isFinite(max) && min < max)
  if (bounded.length > 0) return bounded.map(({ min, max, ...rest }) => ({ ...rest, from: min, to: max, step: 0 }))
  throw usage(
    `no numeric param has a minimum and a maximum; name the ranges: --range name=from:to (${namesOf(dimensions)})`,
  )
}

function rangeOf(text: string, dimensions: readonly Dimension[], settings: readonly Dimension[]): Range {
  const [name = '', span = '', ...rest] = text.split('=')
  const parts = span.split(':')
  const [from = Number.NaN, to = Number.NaN, step = 0] = parts.map((part) =>
    part.trim() === '' ? Number.NaN : Number(part),
  )
  if (rest.length > 0 || parts.length > 3 || ![from, to, step].every(Number.isFinite))
    throw usage(`--range ${text}: expected name=from:to, name=from:to:step or name=a,b,c`)
  const { min, max, isInteger } = dimensionOf(text, name, dimensions, settings)
  if (from > to || step < 0) throw usage(`--range ${text}: expected from <= to and step >= 0`)
  if (from < min || to > max) throw usage(`--range ${text}: ${name} must be between ${min} and ${max}`)
  if (isInteger && ![from, to, step].every(Number.isInteger)) throw usage(`--range ${text}: ${name} must be an integer`)
  return { name, from, to, step, isInteger }
}

/** Parses `name=a,b,c`. */
function listOf(text: string, dimensions: readonly Dimension[], settings: readonly Dimension[]): Range {
  const [name = '', list = '', ...rest] = text.split('=')
  const values = [...new Set(list.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part))))]
  if (rest.length > 0 || !values.every(Number.isFinite)) throw usage(`--range ${text}: expected name=a,b,c`)
  const { min, max, isInteger } = dimensionOf(text, name, dimensions, settings)
  const [from, to] = [Math.min(...values), Math.max(...values)]
  if (from < min || to > max) throw usage(`--range ${text}: ${name} must be between ${min} and ${max}`)
  if (isInteger && !values.every(Number.isInteger)) throw usage(`--range ${text}: ${name} must be an integer`)
  return { name, from, to, step: 0, isInteger, values: values.toSorted((one, other) => one - other) }
}

function dimensionOf(
  text: string,
  name: string,
  dimensions: readonly Dimension[],
  settings: readonly Dimension[],
): Dimension {
  const found = [...dimensions, ...settings].find((one) => one.name === name)
  if (found !== undefined) return found
  const names = [...dimensions, ...settings].map((one) => one.name)
  // A frequent mistake is a setting without its section, such as stopLossPercent in place of exits.stopLossPercent.
  const inside = settings.find((one) => one.name.endsWith(`.${name}`))?.name
  const nearest = inside === undefined ? didYouMean(name, names) : `; did you mean ${inside}?`
  throw usage(
    name.includes('.') || inside !== undefined
      ? `--range ${text}: there is no numeric setting ${name}${nearest}`
      : `--range ${text}: the strategy has no numeric param ${name} (${namesOf(dimensions)})${nearest}`,
  )
}

/** Returns every combination of values; the last range varies fastest. Ranges without a step give about 64 sets
 *  together. */
export function gridOf(ranges: readonly Range[]): Point[] {
  const stepped = ranges.filter(isFixed).reduce((sets, range) => sets * valuesOf(range, 0).length, 1)
  const open = ranges.filter((range) => !isFixed(range)).length
  const points = Math.max(2, Math.floor(Math.max(1, USUAL_SETS / stepped) ** (1 / Math.max(1, open)) + 1e-9))
  const sets = ranges.reduce((product, range) => product * valuesOf(range, points).length, 1)
  if (sets > MOST_SETS)
    throw usage(
      `the grid has ${sets} sets, at most ${MOST_SETS} are allowed: use larger steps, fewer ranges, or --random N`,
    )
  let grid: Point[] = [{}]
  for (const range of ranges)
    grid = grid.flatMap((point) => valuesOf(range, points).map((value) => ({ ...point, [range.name]: value })))
  return grid
}

/** Draws `count` different random points (combinations of values). Returns fewer if there are not as many. */
export function drawnFrom(ranges: readonly Range[], count: number, seed: number): Point[] {
  const random = seededRandom(seed)
  const drawn = new Map<string, Point>()
  for (let tries = 0; drawn.size < count && tries < count * 20; tries++) {
    const point = Object.fromEntries(ranges.map((range) => [range.name, drawOf(range, random)]))
    drawn.set(JSON.stringify(point), point)
  }
  return [...drawn.values()]
}

function drawOf(range: Range, random: Random): number {
  const { from, to, isInteger } = range
  if (isFixed(range)) {
    const values = valuesOf(range, 0)
    return values[random.integer(values.length)] as number
  }
  return isInteger ? from + random.integer(to - from + 1) : tidy(from + random.next() * (to - from))
}

/** Whether the range determines its values by a step or a list. */
function isFixed({ step, values }: Range): boolean {
  return step > 0 || values !== undefined
}

function valuesOf({ from, to, step, isInteger, values: listed }: Range, points: number): readonly number[] {
  if (listed !== undefined) return listed
  if (from === to) return [from]
  const count = step > 0 ? Math.floor((to - from) / step + 1e-9) + 1 : points
  const width = step > 0 ? step : (to - from) / (points - 1)
  const values = Array.from({ length: count }, (_, index) => tidy(from + index * width))
  return isInteger ? [...new Set(values.map(Math.round))] : values
}

/** Rounds to six significant digits: 0.30000000000000004 becomes 0.3. */
function tidy(value: number): number {
  return Number(value.toPrecision(6))
}

function namesOf(dimensions: readonly Dimension[]): string {
  return dimensions.length === 0 ? 'it has none' : `there are ${dimensions.map(({ name }) => name).join(', ')}`
}

function usage(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}
