import { isDeepStrictEqual } from 'node:util'
import { SluiceError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import type { BotConfig } from './config.ts'
import type { ConfigDocument, Path } from './document.ts'
import { exitOrdersFrom, exitsFrom, limitsFrom, ordersFrom, paperFrom } from './effective.ts'
import type { ConfigError, Position } from './errors.ts'
import { type BotEntry, type ConfigFile, isMap } from './read.ts'
import type { BotInput, ExitsInput } from './schema.ts'
import { type LoadedStrategy, loadStrategy, parseParams } from './strategies.ts'

/** A bot without an error of its own, and where it stands. */
export interface CheckedBot {
  readonly config: BotConfig
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
      const bot = await botOf(part, entry, path, cwd)
      if (Array.isArray(bot)) errors.push(...bot)
      else if (bot) bots.push(bot)
      errors.push(...usedTwice(part, entry, path, names))
    }
  }
  return { bots, errors }
}

/** Undefined where the schema has said already what is wrong. */
async function botOf(
  part: ConfigFile,
  entry: BotEntry,
  path: Path,
  cwd: string,
): Promise<CheckedBot | ConfigError[] | undefined> {
  const { document, sections } = part
  const { strategy: name, params: given = {} } = isMap(entry.raw) ? entry.raw : {}
  if (typeof name !== 'string' || name === '') return undefined
  const strategy = await loadOrSay(name, cwd)
  if (typeof strategy === 'string') return [document.error([...path, 'strategy'], strategy)]
  if (!isMap(given)) return undefined
  const params = checkParams(strategy, given, document, [...path, 'params'])
  if (!params.ok) return params.errors
  const { input } = entry
  // Without its defaults a bot would be judged by values that nobody wants.
  const defaultsFit = sections.defaults !== undefined || !hasKey(document.value, 'defaults')
  if (!input || !defaultsFit) return undefined
  const defaults = sections.defaults ?? {}
  const config: BotConfig = {
    name: input.name,
    strategy,
    params: params.value,
    mode: input.mode ?? 'paper',
    executor: input.executor ?? 'cloud',
    orders: ordersFrom(input, defaults),
    exitOrders: exitOrdersFrom(input, defaults),
    exits: exitsFrom(input.exits, strategy.strategy.exits ?? {}, defaults.exits),
    limits: limitsFrom(input, defaults),
    paper: paperFrom(sections.paper),
    at: document.locate(path),
  }
  return { config, input, defaultExits: defaults.exits, document, path }
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
): { ok: true; value: Json } | { ok: false; errors: ConfigError[] } {
  let result: ReturnType<typeof parseParams>
  try {
    result = parseParams(strategy, given)
  } catch (error) {
    const message = `the schema of ${file} threw: ${error instanceof Error ? error.message : String(error)}`
    return { ok: false, errors: [document.error(path, message)] }
  }
  if (!result.ok) {
    const errors = result.complaints.map((complaint) => {
      const at = [...path, ...complaint.path]
      return document.error(at, complaint.message, complaint.atKey ? document.locateKey(at) : document.locate(at))
    })
    return { ok: false, errors }
  }
  const { value } = result
  // They lie in the journal and come back from there.
  const plain: unknown = JSON.parse(JSON.stringify(value) ?? 'null')
  if (isDeepStrictEqual(plain, value)) return { ok: true, value: plain as Json }
  const message = `the schema of ${file} makes something of them that JSON cannot hold (Date, Map, undefined, Infinity, ...)`
  return { ok: false, errors: [document.error(path, message)] }
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

function hasKey(value: unknown, key: string): boolean {
  return isMap(value) && Object.hasOwn(value, key)
}
