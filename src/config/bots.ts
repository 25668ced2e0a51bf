import { isDeepStrictEqual } from 'node:util'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { type Json, plainJson } from '../base/json.ts'
import { NO_STRATEGY } from '../engine/bots/bots.ts'
import type { Strategy } from '../engine/strategy.ts'
import type { BotConfig, Config } from './config.ts'
import {
  chainFrom,
  deskFrom,
  exitOrdersFrom,
  filtersFrom,
  journalFrom,
  limitsFrom,
  ordersFrom,
  paperFrom,
  quoteFeesFrom,
  serviceFrom,
  tokenChecksFrom,
  walletsFrom,
} from './convert-sections.ts'
import { BOT_DEFAULTS } from './default-values.ts'
import { effectiveExits } from './effective-exits.ts'
import { configHash } from './hashes.ts'
import { type BotEntry, type ConfigFile, isMap } from './read-file.ts'
import { type BotInput, type ExitsInput, type FileInput, fileSchema } from './schema.ts'
import { sourceErrors, sourcesFrom } from './source-config.ts'
import { type LoadedStrategy, loadStrategy, parseParams, strategyProblem, unusable } from './strategies.ts'
import { planProblem } from './strategy-plan.ts'
import { thrownText } from './strategy-trace.ts'
import type { ConfigDocument } from './yaml/document.ts'
import type { ConfigError, Position } from './yaml/errors.ts'
import { formatPath, type Path } from './yaml/errors.ts'
import { type Parsed, parseWith } from './yaml/wording.ts'

/** A bot that fits the schema, with its entry in the file. */
export interface CheckedBot {
  readonly config: BotConfig
  /** Whether the strategy of the bot could not be loaded; its exits and params are then unknown. */
  readonly lacksStrategy: boolean
  readonly input: BotInput
  readonly defaultExits: ExitsInput | undefined
  readonly document: ConfigDocument
  readonly path: Path
}

/** Builds all bots of all files: loads their strategies, checks their params and fills in the defaults. */
export async function botsOf(
  parts: readonly ConfigFile[],
  cwd: string,
): Promise<{ bots: CheckedBot[]; errors: ConfigError[] }> {
  const bots: CheckedBot[] = []
  const errors: ConfigError[] = []
  const names = new Map<string, Position>()
  for (const part of parts) {
    for (const [index, entry] of part.bots.entries()) {
      const path = ['bots', index]
      const { bot, errors: found } = await botOf(part, entry, path, cwd)
      errors.push(...found)
      if (bot) bots.push(bot)
      errors.push(...duplicateName(part, entry, path, names))
    }
  }
  return { bots, errors }
}

/** Builds one bot. Returns undefined if the bot does not fit the schema. A bot with invalid params, or without its
 *  strategy, is returned, so that its other keys can be checked. */
async function botOf(
  part: ConfigFile,
  { raw, input }: BotEntry,
  path: Path,
  cwd: string,
): Promise<{ bot?: CheckedBot; errors: ConfigError[] }> {
  const { document, sections } = part
  const { strategy: name, params: given = {} } = isMap(raw) ? raw : {}
  if (typeof name !== 'string' || name === '') return { errors: [] }
  const loaded = await loadOrExplain(name, cwd)
  const lacksStrategy = typeof loaded === 'string'
  const strategy = lacksStrategy ? { name, file: name, strategy: NO_STRATEGY } : loaded
  const { params, errors } = lacksStrategy
    ? { params: {}, errors: loaded.split('\n').map((line) => document.error([...path, 'strategy'], line)) }
    : isMap(given)
      ? checkParams(strategy, given, document, path, cwd)
      : { params: {}, errors: [] }
  // A bot whose defaults do not fit the schema is not built, because it would be checked with values that the author of
  // the file did not choose.
  const defaultsFit = sections.defaults !== undefined || !(isMap(document.value) && 'defaults' in document.value)
  if (!input || !defaultsFit) return { errors }
  const defaults = sections.defaults ?? {}
  const config = botConfig(input, strategy, params, sections, document.locate(path), cwd)
  if (!lacksStrategy) errors.push(...sourceErrors(strategy.strategy.sources, config.sources, document, path))
  return { bot: { config, lacksStrategy, input, defaultExits: defaults.exits, document, path }, errors }
}

/** Returns the settings of a bot with every default filled in. */
function botConfig(
  input: BotInput,
  strategy: LoadedStrategy,
  params: Json,
  { defaults = {}, paper }: Pick<ConfigFile['sections'], 'defaults' | 'paper'>,
  at: Position,
  cwd: string,
): BotConfig {
  const orders = ordersFrom(input, defaults)
  const exitOrders = exitOrdersFrom(input, defaults)
  const assumed = paperFrom(paper, input.name, input.paper)
  return {
    name: input.name,
    strategy,
    params,
    mode: input.mode ?? BOT_DEFAULTS.mode,
    ...(input.wallet !== undefined && { wallet: input.wallet }),
    executor: input.executor ?? BOT_DEFAULTS.executor,
    orders,
    exitOrders,
    ...effectiveExits(input.exits, strategy.strategy.exits ?? {}, defaults.exits),
    limits: limitsFrom({ ...defaults.limits, ...input.limits }),
    tokenChecks: tokenChecksFrom(input, defaults),
    filters: filtersFrom(input, defaults),
    ...(input.sources !== undefined && { sources: sourcesFrom(input.sources, cwd) }),
    paper: assumed,
    quoteFees: quoteFeesFrom(assumed, orders, exitOrders),
    at,
  }
}

async function loadOrExplain(name: string, cwd: string): Promise<LoadedStrategy | string> {
  try {
    return await loadStrategy(name, cwd)
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    throw error
  }
}

function checkParams(
  { file, strategy }: LoadedStrategy,
  given: Record<string, unknown>,
  document: ConfigDocument,
  bot: Path,
  cwd: string,
): { params: Json; errors: ConfigError[] } {
  const path = [...bot, 'params']
  const refuse = (message: string) => ({ params: {}, errors: [document.error(path, message)] })
  let result: Parsed<unknown>
  try {
    result = parseParams(strategy, given)
  } catch (error) {
    return refuse(`the schema of ${file} threw: ${thrownText(error)}`)
  }
  if (!result.ok) {
    return { params: {}, errors: result.complaints.map((complaint) => document.complain(complaint, path)) }
  }
  // The journal stores params as JSON, and a replay reads them from there, so JSON must not change them.
  const plain: unknown = JSON.parse(JSON.stringify(result.value) ?? 'null')
  if (isDeepStrictEqual(plain, result.value)) {
    const problem = planProblem({ file, strategy }, plain, cwd)
    const errors = problem === undefined ? [] : [document.error([...bot, 'strategy'], unusable(file, problem))]
    return { params: plain as Json, errors }
  }
  return refuse(
    `the schema of ${file} returns a value that JSON cannot store (Date, Map, undefined, Infinity); return plain JSON`,
  )
}

function duplicateName(part: ConfigFile, { raw }: BotEntry, path: Path, names: Map<string, Position>): ConfigError[] {
  const name = isMap(raw) ? raw.name : undefined
  if (typeof name !== 'string') return []
  const at = [...path, 'name']
  const before = names.get(name)
  if (!before) {
    names.set(name, part.document.locate(at))
    return []
  }
  return [part.document.error(at, `the bot at ${before.file}:${before.line} has the same name; choose another one`)]
}

/** Options of a single bot in a test, with the keys and units of the YAML. */
export interface LoneBotOptions extends Pick<BotInput, 'exits' | 'limits' | 'orders' | 'exitOrders'> {
  /** Params of the strategy. A missing param has the default of the strategy's schema. */
  readonly params?: object
  readonly paper?: NonNullable<FileInput['paper']>
}

/** Name of the bot that runs in a strategy test with the test kit (src/testing). */
export const LONE_BOT = 'bot'
/** Addresses that are never used, because a single bot in a test opens no connection. */
const SERVICE = { baseUrl: 'https://service.invalid/api', wsUrl: 'wss://service.invalid/api/data' }

/** Returns the configuration of one paper bot without a file. The result equals the configuration from a file with the
 *  same options. Assumes that the feed gives amounts in SOL. Throws a SluiceError that names every problem. */
export function loneBot(strategy: Strategy, { params = {}, paper, ...options }: LoneBotOptions): Config {
  const problem = strategyProblem(strategy)
  if (problem !== undefined) throw refused(`the strategy cannot be used: ${problem}`)
  const { sources: declared } = strategy
  const sources = Object.fromEntries(Object.keys(declared ?? {}).map((name) => [name, {}]))
  const file = parsed(
    parseWith(fileSchema, {
      service: { ...SERVICE, units: { tradeAmount: 'sol' } },
      ...(paper !== undefined && { paper }),
      bots: [
        { name: LONE_BOT, strategy: strategy.name, params, ...(declared !== undefined && { sources }), ...options },
      ],
    }),
  )
  const [input] = file.bots as [BotInput]
  const value = plainJson(parsed(parseParams(strategy, params), 'params.'), 'params')
  const loaded = { name: strategy.name, file: '', strategy }
  const flaw = planProblem(loaded, value)
  if (flaw !== undefined) throw refused(`the strategy cannot be used: ${flaw}`)
  const checked = {
    files: [],
    service: serviceFrom(file.service as NonNullable<FileInput['service']>, ''),
    chain: chainFrom(undefined, ''),
    wallets: walletsFrom({}, ''),
    journal: journalFrom(undefined, ''),
    desk: deskFrom(undefined, ''),
    lists: new Map(),
    bots: [botConfig(input, loaded, value, file, { file: '', line: 1, column: 1 }, '')],
  }
  return { ...checked, warnings: [], hash: configHash(checked) }
}

function parsed<T>(result: Parsed<T>, above = ''): T {
  if (result.ok) return result.value
  const lines = result.complaints.map(({ path, message }) => `${above}${formatPath(path)}: ${message}`)
  throw refused(lines.map((line) => line.replace('bots[0].', '')).join('; '))
}

function refused(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}
