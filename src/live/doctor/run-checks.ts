import { SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import type { Config, WalletConfig } from '../../config/config.ts'
import { formatErrors } from '../../config/yaml/errors.ts'
import { InUse } from '../../journal/lock.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import type { View } from '../../runtime/view/view.ts'
import { openHttp } from '../../venues/http.ts'
import { sendCommand } from '../control/client.ts'
import { type KeyUse, lockKey, openService, type ServiceAccess } from '../service-access.ts'
import { openSigner } from '../signer-access.ts'
import { examineChain } from './chain.ts'
import { type Check, ok, warn } from './check.ts'
import type { Running } from './context.ts'
import {
  clockVerdict,
  configVerdict,
  diskVerdict,
  examineJournal,
  filesVerdict,
  type JournalLook,
  journalFiles,
  journalVerdict,
  nodeVerdict,
  readSecrets,
  secretsVerdict,
  signerVerdict,
} from './machine.ts'
import { examineService } from './service.ts'

export interface ExamineOptions {
  /** Called with the result of each check. */
  readonly show: (check: Check) => void
  /** Called with a description of the current step. */
  readonly say: (text: string) => void
  /** Mint of the token whose record is requested from the service; '' selects the most traded mint. */
  readonly mint: string
}

const HTTP_WITHIN_MS = 15_000

/** Examines everything that a run of this configuration needs. The only records that it writes are its requests, which
 *  the journal counts against the plan's budget. Throws a SluiceError if the configuration is incomplete. */
export async function examine(config: Config, options: ExamineOptions): Promise<Check[]> {
  const findings = new Findings(options.show)
  const { journal, canRead } = examineMachine(config, findings)
  try {
    for (const wallet of config.wallets) findings.add(...(await examineSigner(wallet)))
    const running = await runningOn(config.journal.path, journal)
    if (!canRead) findings.add(warn('service', 'not tested: a secret cannot be read', 'see secrets'))
    else if (config.service.kind === 'sandbox' && running !== undefined) {
      const fix = 'stop the process to test the service'
      findings.add(processCheck(running), warn('service', 'not tested: the running process has its own sandbox', fix))
    } else await examineOthers(config, journal, running, findings, options)
    return findings.checks
  } finally {
    await journal.writer?.close()
  }
}

/** Collects the results of checks. Removes secrets from their texts and escapes foreign text. */
class Findings {
  readonly checks: Check[] = []
  redact = (text: string): string => text
  readonly #show: (check: Check) => void

  constructor(show: (check: Check) => void) {
    this.#show = show
  }

  readonly add = (...made: Check[]): void => {
    for (const check of made) {
      const clean = (text: string): string => printable(this.redact(text))
      const shown = { ...check, found: clean(check.found), fix: clean(check.fix) }
      this.checks.push(shown)
      this.#show(shown)
    }
  }
}

function examineMachine(config: Config, { add }: Findings): { journal: JournalLook; canRead: boolean } {
  const { bots, files } = config
  const { path } = config.journal
  const live = bots.filter(({ mode }) => mode === 'live').length
  const warnings = config.warnings.map((warning) => formatErrors([warning]))
  const secrets = readSecrets(config)
  const modes = journalFiles(path) // read first, because opening the journal creates files
  add(nodeVerdict(process.versions.node), configVerdict({ files, bots: bots.length, live, warnings }))
  add(secretsVerdict(secrets), filesVerdict(modes))
  const journal = examineJournal(path)
  add(journalVerdict(journal.finding), diskVerdict(journal.finding))
  return { journal, canRead: secrets.every(({ problem }) => problem === '') }
}

/** Examines the service and the chain. */
async function examineOthers(
  config: Config,
  journal: JournalLook,
  running: Running | undefined,
  findings: Findings,
  { say, mint }: ExamineOptions,
): Promise<void> {
  const { add } = findings
  const clock = new SystemClock(0)
  const { http, close } = openHttp({ timeoutMs: HTTP_WITHIN_MS })
  const isLive = config.bots.some(({ mode }) => mode === 'live')
  const service = await openService(config, isLive)
  findings.redact = service.redact
  const held = lockOrHolder(config, service)
  const keyUse = typeof held === 'string' ? NO_KEY_USE : held
  try {
    const busy = running ?? (typeof held === 'string' ? { holder: held, health: undefined } : undefined)
    if (busy !== undefined) add(processCheck(busy))
    say('the service')
    const parts = { config, service, clock, http, journal, busy, keyUse }
    // The RPCs have their own request limits, so they are examined at the same time as the service.
    const chain = examineChain(parts)
    chain.catch(() => {}) // it is awaited below, and may reject before that
    const skew = await examineService({ ...parts, mint, chain, add, say })
    say('the RPCs')
    const { checks, skews } = (await chain).checks(skew)
    add(...checks, clockVerdict([...(skew === undefined ? [] : [skew]), ...skews]))
  } finally {
    keyUse.release()
    await service.close()
    await close()
    clock.stop()
  }
}

/** The process that runs on this journal, with its status if it reports one; undefined if there is none. */
async function runningOn(path: string, { finding }: JournalLook): Promise<Running | undefined> {
  const { holder } = finding
  if (holder === '') return undefined
  try {
    const status = (await sendCommand(path, { command: 'status' })) as Partial<View>
    // A process with an older version of Sluice reports fewer fields.
    const { feed, positions, plan, requests, brokenLists = [] } = status
    const isWhole = feed !== undefined && Array.isArray(positions) && plan !== undefined && requests !== undefined
    return { holder, health: isWhole ? { feed, positions: positions.length, plan, requests, brokenLists } : undefined }
  } catch (error) {
    if (error instanceof SluiceError) return { holder, health: undefined }
    throw error
  }
}

/** Used in place of the lock if another process has locked the API key; doctor then sends no request. */
const NO_KEY_USE: KeyUse = { isFresh: false, began: () => {}, release: () => {} }

function lockOrHolder(config: Config, service: ServiceAccess): KeyUse | string {
  try {
    return lockKey(config, service)
  } catch (error) {
    if (error instanceof InUse) return error.holder
    throw error
  }
}

function processCheck({ holder, health }: Running): Check {
  const fix = 'nothing to do; stop the process to run every check'
  if (health === undefined)
    return warn('process', `${holder} uses the key or the journal, but does not report its status`, fix)
  const { feed, plan, requests, positions, brokenLists } = health
  const found = `${holder}: feed ${feed}, ${positions} positions, plan ${plan.name}, ${requests.held} of ${requests.allowed} requests used`
  if (brokenLists.length > 0) return warn('process', `${found}; ${brokenLists.join('; ')}`, 'correct the file')
  return feed === 'live' ? ok('process', found) : warn('process', found, 'see its log')
}

/** Starts the configured signer or connects to it. Requests no signature. */
export async function examineSigner(config: WalletConfig): Promise<Check[]> {
  const { name, publicKey: wallet, keypairPath, signerPath } = config
  if (wallet === undefined || (keypairPath ?? signerPath) === undefined) return []
  const clock = new SystemClock()
  try {
    const signer = await openSigner(config, { wallet, clock, tell: () => {} })
    await signer.close()
    return [signerVerdict(name, wallet, '')]
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return [signerVerdict(name, wallet, error.message)]
  } finally {
    clock.stop()
  }
}
