import { ExitCode, SluiceError } from '../core/errors.ts'
import { plainJson } from '../core/json.ts'
import type { Strategy } from '../core/strategy.ts'
import { botConfig } from './bots.ts'
import type { Config } from './config.ts'
import { configHash } from './config-hash.ts'
import { chainFrom, journalFrom, serviceFrom, walletFrom } from './effective.ts'
import { formatPath } from './path.ts'
import { type BotInput, type FileInput, fileSchema } from './schema.ts'
import { parseParams, strategyProblem } from './strategies.ts'
import { type Parsed, parseWith } from './wording.ts'

/** A bot as a test writes it down: what the YAML says of one, in the YAML's units. */
export interface LoneBotOptions extends Pick<BotInput, 'exits' | 'limits' | 'orders' | 'exitOrders'> {
  /** Default: those of the strategy's schema. */
  readonly params?: object
  readonly paper?: NonNullable<FileInput['paper']>
}

const NAME = 'bot'
/** Never dialled: nothing that runs one bot by itself opens a connection. */
const SERVICE = { baseUrl: 'https://service.invalid/api', wsUrl: 'wss://service.invalid/api/data' }

/** The configuration of one bot on paper that stands in no file: what a file would make of the same options, defaults filled in. The feed
 *  is taken at its word that amounts are SOL. Throws SluiceError that names everything that is wrong. */
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
