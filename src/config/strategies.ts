import { readdirSync, statSync } from 'node:fs'
import { extname, join } from 'node:path/posix'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { FIREHOSES } from '../engine/bots/subscription-router.ts'
import type { Strategy } from '../engine/strategy.ts'
import { isPublicKey } from '../solana/base58.ts'
import { notePassed, passedBefore } from './determinism/passed.ts'
import { expandPath, OWN_STRATEGIES } from './package-paths.ts'
import { exitRules } from './schema.ts'
import { admitStrategy } from './strategy-modules.ts'
import { stateAccessor } from './strategy-sources.ts'
import { loadingFailure } from './strategy-trace.ts'
import { formatPath } from './yaml/errors.ts'
import { defOf, didYouMean, droppedKeys, type Parsed, parseWith } from './yaml/wording.ts'

export interface LoadedStrategy {
  /** Name of the strategy or path of its file, as written in the configuration. */
  readonly name: string
  readonly file: string
  readonly strategy: Strategy
}

/** Finds, imports and checks a strategy. Throws a SluiceError that describes the problem. */
export async function loadStrategy(nameOrPath: string, cwd = process.cwd()): Promise<LoadedStrategy> {
  const file = findStrategy(nameOrPath, cwd)
  return { name: nameOrPath, file, strategy: await imported(file, '', cwd) }
}

let instances = 0

/** Copies a configuration, with strategy modules that are loaded again and therefore hold no state of an earlier
 *  run. */
export async function freshInstances<T extends { readonly bots: readonly { readonly strategy: LoadedStrategy }[] }>(
  config: T,
): Promise<T> {
  const query = `?instance=${++instances}`
  const byFile = new Map<string, Strategy>()
  for (const { strategy } of config.bots)
    if (!byFile.has(strategy.file)) byFile.set(strategy.file, await imported(strategy.file, query, process.cwd()))
  const bots = config.bots.map((bot) => {
    const strategy = byFile.get(bot.strategy.file) ?? bot.strategy.strategy
    return { ...bot, strategy: { ...bot.strategy, strategy } }
  })
  return { ...config, bots }
}

async function imported(file: string, query: string, cwd: string): Promise<Strategy> {
  const accessor = stateAccessor(file)
  if (accessor !== undefined) throw broken(file, accessor)
  const unread = await refuseNondeterminism(file, cwd)
  const url = pathToFileURL(file).href + query
  admitStrategy(url)
  let exported: { default?: unknown }
  try {
    exported = await import(url)
  } catch (error) {
    throw broken(file, loadingFailure(error, cwd))
  }
  const problem =
    'default' in exported
      ? (strategyProblem(exported.default) ?? unread)
      : 'no default export; write: export default defineStrategy({ ... })'
  if (problem) throw broken(file, problem)
  return exported.default as Strategy
}

/** Throws if a strategy's file uses something that a replay could not repeat. Returns the reason if the file, or a
 *  module that the file imports, cannot be parsed. */
async function refuseNondeterminism(file: string, cwd: string): Promise<string | undefined> {
  if (passedBefore(file)) return undefined
  const { findingsText, nondeterminism } = await import('./determinism/check.ts')
  const { found, unread, checked } = nondeterminism(file)
  if (found.length > 0) throw broken(file, findingsText(found, cwd))
  if (unread.length === 0) notePassed(checked)
  return unread[0]
}

const isFunction = (what: string) =>
  z.custom<(...args: never) => unknown>((value) => typeof value === 'function', { error: `expected ${what}` })

/** Maximum length of a strategy's warm-up, seconds of the recorded market. */
export const MOST_WARMUP_SECONDS = 86_400

const strategyShape = z.strictObject({
  name: z.string().min(1),
  about: z.string(),
  params: z.custom((value) => defOf(value)?.type === 'object', { error: 'expected z.object({ ... })' }),
  keys: z
    .array(
      z.string().refine((key) => FIREHOSES.includes(key) || isPublicKey(key), {
        error: ({ input }) => `expected ${FIREHOSES.join(', ')} or a mint${didYouMean(String(input), FIREHOSES)}`,
      }),
    )
    .min(1),
  warmup: z.number().min(0).max(MOST_WARMUP_SECONDS).exactOptional(),
  exits: exitRules.exactOptional(),
  bars: z
    .custom((value) => typeof value === 'function' || (typeof value === 'object' && value !== null), {
      error: "expected widths with the number of bars to keep, such as { '1m': 200 }, or a function of the params",
    })
    .exactOptional(),
  indicators: isFunction('a function of the params that returns indicators').exactOptional(),
  when: isFunction('a function of the indicators that returns conditions').exactOptional(),
  sources: z
    .record(
      z.string().regex(/^[A-Za-z][\w-]{0,39}$/, {
        error: 'expected a name of at most 40 letters, digits, dashes or underscores, beginning with a letter',
      }),
      z.strictObject({
        schema: z.custom((value) => defOf(value) !== undefined, {
          error: 'expected a schema, as in z.object({ ... })',
        }),
      }),
    )
    .exactOptional(),
  token: isFunction('a function that creates the state of a token').exactOptional(),
  start: isFunction('the function start(params, bot)'),
})

/** Returns the problem of a value that should be a strategy, as text; undefined if the value is a strategy. */
export function strategyProblem(value: unknown): string | undefined {
  const result = parseWith(strategyShape, value)
  if (result.ok) return undefined
  return result.complaints.map(({ path, message }) => `${formatPath(path)}: ${message}`.replace(/^: /, '')).join('; ')
}

/** Checks the `params` of a configuration with the strategy's schema. */
export function parseParams({ params: schema }: Strategy, params: unknown): Parsed<unknown> {
  const result = parseWith(schema, params)
  const dropped = droppedKeys(schema, params)
  if (dropped.length === 0) return result
  return { ok: false, complaints: [...dropped, ...(result.ok ? [] : result.complaints)] }
}

function broken(file: string, problem: string): SluiceError {
  return new SluiceError(unusable(file, problem), ExitCode.usage)
}

/** Returns a text about a strategy that cannot be used. */
export function unusable(file: string, problem: string): string {
  return `the strategy ${file} cannot be used: ${problem}`
}

const ENDINGS = ['.ts', '.mts', '.js', '.mjs']

/** Returns the path of the file of a strategy that the configuration gives by name or path. A name is searched in
 *  `strategies/` of the working directory, then of this package. */
function findStrategy(nameOrPath: string, cwd: string): string {
  return isPath(nameOrPath) ? fileOf(nameOrPath, cwd) : named(nameOrPath, cwd)
}

/** Returns the names of the strategies that a configuration in `cwd` can use. */
export function strategyNames(cwd: string): string[] {
  const names = folders(cwd).flatMap((folder) => list(folder))
  return [...new Set(names)].sort()
}

function isPath(text: string): boolean {
  return /^(\.{1,2}|~)?\//.test(text)
}

function fileOf(path: string, cwd: string): string {
  const file = expandPath(path, cwd)
  if (!isFile(file)) throw refused(`no such file: ${file}`)
  if (!ENDINGS.includes(extname(file))) throw refused(`expected a file that ends in ${ENDINGS.join(', ')}`)
  return file
}

function named(name: string, cwd: string): string {
  if (!/^\w[\w-]*$/.test(name)) {
    const hint = /[/\\.]/.test(name) ? `; a path begins with ./ (did you mean ./${name}?)` : ''
    throw refused(`expected the name of a strategy, or a path${hint}`)
  }
  for (const folder of folders(cwd)) {
    const file = ENDINGS.map((ending) => join(folder, name + ending)).find(isFile)
    if (file) return file
  }
  const names = strategyNames(cwd)
  const hint = didYouMean(name, names)
  const others = hint || names.length === 0 ? '' : `; expected one of ${names.join(', ')}`
  throw refused(`no strategy of this name in strategies/${hint}${others}`)
}

function folders(cwd: string): string[] {
  return [join(cwd, 'strategies'), OWN_STRATEGIES]
}

function list(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder)
    .filter((name) => ENDINGS.includes(extname(name)) && !/\.(d|test)\.m?ts$/.test(name))
    .map((name) => name.slice(0, -extname(name).length))
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function refused(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}

/** Smallest and largest value of a number in a schema. If the schema does not limit a side, the value is infinite. */
export interface NumberBounds {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly isInteger: boolean
}

interface NumberSchema {
  readonly type?: string
  readonly anyOf?: readonly NumberSchema[]
  readonly properties?: Readonly<Record<string, NumberSchema>>
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
}

/** Returns the ranges of a strategy's numeric params, in the order of its schema. An exclusive limit is returned as an
 *  inclusive one; the schema still checks every value. */
export function paramBounds({ params }: Pick<Strategy, 'params'>): NumberBounds[] {
  return numbersIn(z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' }))
}

/** Returns the ranges of the numeric keys of a map, given the JSON Schema of the map. A key that accepts numbers and
 *  also other values is included. */
export function numbersIn(schema: unknown): NumberBounds[] {
  const { properties, anyOf = [] } = schema as NumberSchema
  const map = properties ?? anyOf.find((one) => one.properties !== undefined)?.properties ?? {}
  return Object.entries(map).flatMap(([name, property]) => {
    const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = numberIn(property)
    if (type !== 'number' && type !== 'integer') return []
    const min = boundOf(minimum ?? exclusiveMinimum, Number.NEGATIVE_INFINITY)
    const max = boundOf(maximum ?? exclusiveMaximum, Number.POSITIVE_INFINITY)
    return [{ name, min, max, isInteger: type === 'integer' }]
  })
}

function numberIn(property: NumberSchema): NumberSchema {
  return property.anyOf?.find(({ type }) => type === 'number' || type === 'integer') ?? property
}

/** Returns the limit that the strategy set, or `none` if it set none. zod itself limits every integer to the safe
 *  integers; that limit is ignored. */
function boundOf(bound: number | undefined, none: number): number {
  return bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? none : bound
}
