import { isDeepStrictEqual } from 'node:util'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { type Json, plainJson } from '../base/json.ts'
import { NO_STRATEGY } from '../engine/bots/bots.ts'
import type { Strategy } from '../engine/strategy.ts'
import type { BotConfig, Config } from './config.ts'
import {
  chainFrom,
  exitOrdersFrom,
  filtersFrom,
  journalFrom,
  limitsFrom,
  ordersFrom,
  paperFrom,
  serviceFrom,
  tokenChecksFrom,
  walletFrom,
} from './effective.ts'
import { effectiveExits } from './effective-exits.ts'
import { configHash } from './hashes.ts'
import { type BotEntry, type ConfigFile, isMap } from './read.ts'
import { type BotInput, type ExitsInput, type FileInput, fileSchema } from './schema.ts'
import { type LoadedStrategy, loadStrategy, parseParams, strategyProblem } from './strategies.ts'
import { thrownText } from './strategy-trace.ts'
import type { ConfigDocument } from './yaml/document.ts'
import type { ConfigError, Position } from './yaml/errors.ts'
import { formatPath, type Path } from './yaml/errors.ts'
import { type Parsed, parseWith } from './yaml/wording.ts'

/** A bot whose shape is right, and where it stands. */
export interface CheckedBot {
  readonly config: BotConfig
  /** Its strategy could not be loaded: what exits and params that one brings nobody knows. */
  readonly lacksStrategy: boolean
  readonly input: BotInput
  readonly defaultExits: ExitsInput | undefined
  readonly document: ConfigDocument
  readonly path: Path
}

/** Every bot of every file: its strategy loaded, its params checked, its defaults filled in. */
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
      errors.push(...usedTwice(part, entry, path, names))
    }
  }
  return { bots, errors }
}

/** No bot where the schema has said already what is wrong; one with wrong params, or without its strategy, is good
 *  enough to judge the rest of it. */
async function botOf(
  part: ConfigFile,
  { raw, input }: BotEntry,
  path: Path,
  cwd: string,
): Promise<{ bot?: CheckedBot; errors: ConfigError[] }> {
  const { document, sections } = part
  const { strategy: name, params: given = {} } = isMap(raw) ? raw : {}
  if (typeof name !== 'string' || name === '') return { errors: [] }
  const loaded = await loadOrSay(name, cwd)
  const lacksStrategy = typeof loaded === 'string'
  const strategy = lacksStrategy ? { name, file: name, strategy: NO_STRATEGY } : loaded
  const { params, errors } = lacksStrategy
    ? { params: {}, errors: [document.error([...path, 'strategy'], loaded)] }
    : isMap(given)
      ? checkParams(strategy, given, document, [...path, 'params'])
      : { params: {}, errors: [] }
  // Without its defaults a bot would be judged by values that nobody wants.
  const defaultsFit = sections.defaults !== undefined || !(isMap(document.value) && 'defaults' in document.value)
  if (!input || !defaultsFit) return { errors }
  const defaults = sections.defaults ?? {}
  const config = botConfig(input, strategy, params, sections, document.locate(path))
  return { bot: { config, lacksStrategy, input, defaultExits: defaults.exits, document, path }, errors }
}

/** A bot whose params its strategy has accepted, every default filled in. */
function botConfig(
  input: BotInput,
  strategy: LoadedStrategy,
  params: Json,
  { defaults = {}, paper }: Pick<ConfigFile['sections'], 'defaults' | 'paper'>,
  at: Position,
): BotConfig {
  return {
    name: input.name,
    strategy,
    params,
    mode: input.mode ?? 'paper',
    executor: input.executor ?? 'cloud',
    orders: ordersFrom(input, defaults),
    exitOrders: exitOrdersFrom(input, defaults),
    ...effectiveExits(input.exits, strategy.strategy.exits ?? {}, defaults.exits),
    limits: limitsFrom({ ...defaults.limits, ...input.limits }),
    tokenChecks: tokenChecksFrom(input, defaults),
    filters: filtersFrom(input, defaults),
    paper: paperFrom(paper, input.name),
    at,
  }
}

async function loadOrSay(name: string, cwd: string): Promise<LoadedStrategy | string> {
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
  path: Path,
): { params: Json; errors: ConfigError[] } {
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
  // They lie in the journal and come back from there.
  const plain: unknown = JSON.parse(JSON.stringify(result.value) ?? 'null')
  if (isDeepStrictEqual(plain, result.value)) return { params: plain as Json, errors: [] }
  return refuse(`the schema of ${file} makes of them what JSON cannot hold (Date, Map, undefined, Infinity, ...)`)
}

function usedTwice(part: ConfigFile, { raw }: BotEntry, path: Path, names: Map<string, Position>): ConfigError[] {
  const name = isMap(raw) ? raw.name : undefined
  if (typeof name !== 'string') return []
  const at = [...path, 'name']
  const before = names.get(name)
  if (!before) {
    names.set(name, part.document.locate(at))
    return []
  }
  return [part.document.error(at, `the name is taken by the bot at ${before.file}:${before.line}; names are unique`)]
}

/** A bot as a test writes it down: what the YAML says of one, in the YAML's units. */
export interface LoneBotOptions extends Pick<BotInput, 'exits' | 'limits' | 'orders' | 'exitOrders'> {
  /** Default: those of the strategy's schema. */
  readonly params?: object
  readonly paper?: NonNullable<FileInput['paper']>
}

const NAME = 'bot'
/** Never dialled: nothing that runs one bot by itself opens a connection. */
const SERVICE = { baseUrl: 'https://service.invalid/api', wsUrl: 'wss://service.invalid/api/data' }

/** The configuration of one bot on paper that stands in no file: what a file would make of the same options, defaults
 *  filled in. The feed is taken at its word that amounts are SOL. Throws SluiceError that names everything that is
 *  wrong. */
export function loneBot(strategy: Strategy, { params = {}, paper, ...options }: LoneBotOptions): Config {
  const problem = strategyProblem(strategy)
  if (problem !== undefined) throw refused(`the strategy cannot be used: ${problem}`)
  const file = parsed(
    parseWith(fileSchema, {
      service: { ...SERVICE, units: { tradeAmount: 'sol' } },
      ...(paper !== undefined && { paper }),
      bots: [{ name: NAME, strategy: strategy.name, params, ...options }],
    }),
  )
  const [input] = file.bots as [BotInput]
  const value = plainJson(parsed(parseParams(strategy, params), 'params.'), 'params')
  const loaded = { name: strategy.name, file: '', strategy }
  const checked = {
    files: [],
    service: serviceFrom(file.service as NonNullable<FileInput['service']>, ''),
    chain: chainFrom(undefined, ''),
    wallet: walletFrom(undefined, ''),
    journal: journalFrom(undefined, ''),
    lists: new Map(),
    bots: [botConfig(input, loaded, value, file, { file: '', line: 1, column: 1 })],
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
