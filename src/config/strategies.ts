import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { isPublicKey } from '../core/base58.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import type { Strategy } from '../core/strategy.ts'
import { exitRules } from './exit-schema.ts'
import { didYouMean } from './nearest.ts'
import { formatPath } from './path.ts'
import { findStrategy } from './strategy-files.ts'
import { admitStrategy } from './strategy-imports.ts'
import { loadingFailure } from './strategy-trace.ts'
import { defOf, droppedKeys } from './unknown-keys.ts'
import { type Parsed, parseWith } from './wording.ts'

export interface LoadedStrategy {
  /** As it is written in the configuration. */
  readonly name: string
  readonly file: string
  readonly strategy: Strategy
}

/** Finds, imports and checks a strategy; throws a SluiceError that says what is wrong with it. */
export async function loadStrategy(nameOrPath: string, cwd = process.cwd()): Promise<LoadedStrategy> {
  const file = findStrategy(nameOrPath, cwd)
  const url = pathToFileURL(file).href
  admitStrategy(url)
  let exported: { default?: unknown }
  try {
    exported = await import(url)
  } catch (error) {
    throw broken(file, loadingFailure(error, cwd))
  }
  const problem =
    'default' in exported
      ? strategyProblem(exported.default)
      : 'it has no default export; write: export default defineStrategy({ ... })'
  if (problem) throw broken(file, problem)
  return { name: nameOrPath, file, strategy: exported.default as Strategy }
}

const KEYS = ['trades', 'newTokens', 'priceUpdates']

const isFunction = (what: string) =>
  z.custom<(...args: never) => unknown>((value) => typeof value === 'function', { error: `expected ${what}` })

const strategyShape = z.strictObject({
  name: z.string().min(1),
  about: z.string(),
  params: z.custom((value) => defOf(value)?.type === 'object', { error: 'expected z.object({ ... })' }),
  keys: z
    .array(
      z.string().refine((key) => KEYS.includes(key) || isPublicKey(key), {
        error: ({ input }) => `expected ${KEYS.join(', ')} or a mint${didYouMean(String(input), KEYS)}`,
      }),
    )
    .min(1),
  warmup: z.number().min(0).max(86_400).exactOptional(),
  exits: exitRules.exactOptional(),
  token: isFunction('a function that makes the state of a token').exactOptional(),
  start: isFunction('the function start(params, bot)'),
})

/** What is wrong with a value as a strategy. */
export function strategyProblem(value: unknown): string | undefined {
  const result = parseWith(strategyShape, value)
  if (result.ok) return undefined
  return result.complaints.map(({ path, message }) => `${formatPath(path)}: ${message}`.replace(/^: /, '')).join('; ')
}

/** What the `params` in a configuration come to by the strategy's own schema. */
export function parseParams({ params: schema }: Strategy, params: unknown): Parsed<unknown> {
  const result = parseWith(schema, params)
  const dropped = droppedKeys(schema, params)
  if (dropped.length === 0) return result
  return { ok: false, complaints: [...dropped, ...(result.ok ? [] : result.complaints)] }
}

function broken(file: string, problem: string): SluiceError {
  return new SluiceError(`the strategy ${file} cannot be used: ${problem}`, ExitCode.usage)
}
