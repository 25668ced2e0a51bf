import type { Config } from '../../config/config.ts'
import { formatErrors } from '../../config/errors.ts'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import { printable } from '../../core/printable.ts'
import { lockKey } from '../../key-lock.ts'
import { sendCommand } from '../../runtime/control-client.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import { openHttp } from '../../service/http.ts'
import { openService, type ServiceAccess } from '../../service-access.ts'
import { examineChain } from './chain-examination.ts'
import { type Check, ok, warn } from './check.ts'
import type { Running } from './examined.ts'
import { holderIn, type JournalLook, journalFiles, lookAtJournal, readSecrets } from './machine-probe.ts'
import {
  clockVerdict,
  configVerdict,
  diskVerdict,
  filesVerdict,
  journalVerdict,
  nodeVerdict,
  secretsVerdict,
} from './machine-verdicts.ts'
import { examineService } from './service-examination.ts'

export interface ExamineOptions {
  /** Told every check as it is made. */
  readonly show: (check: Check) => void
  /** A mint to ask the service about; '' for the one that is traded most. */
  readonly mint: string
}

/** Looks at everything that a run of this configuration needs, and changes nothing but the journal's count of requests. Throws a SluiceError
 *  where the configuration lacks what it would need to begin. */
export async function examine(config: Config, { show, mint }: ExamineOptions): Promise<Check[]> {
  const checks: Check[] = []
  let redact = (text: string): string => text
  const add = (...made: Check[]): void => {
    for (const check of made) {
      // What a stranger said may stand in it.
      const clean = (text: string): string => printable(redact(text))
      const shown = { ...check, found: clean(check.found), fix: clean(check.fix) }
      checks.push(shown)
      show(shown)
    }
  }
  const { path } = config.journal
  const secrets = readSecrets(config)
  const lookedAt = journalFiles(path)
  const live = config.bots.filter(({ mode }) => mode === 'live').length
  const warnings = config.warnings.map((warning) => formatErrors([warning]))
  add(
    nodeVerdict(process.versions.node),
    configVerdict({ files: config.files, bots: config.bots.length, live, warnings }),
  )
  add(secretsVerdict(secrets), filesVerdict(lookedAt))
  const journal = lookAtJournal(path)
  const clock = new SystemClock(0)
  const http = openHttp({ timeoutMs: 15_000 })
  let service: ServiceAccess | undefined
  let key: ReturnType<typeof lockKey>
  try {
    add(journalVerdict(journal.finding), diskVerdict(journal.finding))
    const running = await runningOn(path, journal)
    if (secrets.some(({ problem }) => problem !== '')) {
      add(warn('service', 'not asked: a secret cannot be read', 'see secrets'))
      return checks
    }
    if (config.service.kind === 'sandbox' && running !== undefined) {
      add(
        processCheck(running),
        warn('service', 'not asked: the sandbox is that of the process', 'stop it to have it tried'),
      )
      return checks
    }
    service = await openService(config, live > 0)
    redact = service.redact
    const held = lockOrHolder(config, service)
    if (typeof held === 'object') key = held
    const busy = running ?? (typeof held === 'string' ? { holder: held, health: undefined } : undefined)
    if (busy !== undefined) add(processCheck(busy))
    const parts = {
      config,
      service,
      clock,
      http: http.http,
      journal,
      busy,
      freshKey: service.fresh || key?.isFirst === true,
    }
    // The RPCs have budgets of their own, so they are asked meanwhile.
    const chain = examineChain(parts)
    const skew = await examineService({ ...parts, mint, chain, add })
    const { checks: ofChain, skews } = (await chain).checks(skew)
    add(...ofChain, clockVerdict([...(skew === undefined ? [] : [skew]), ...skews]))
    return checks
  } finally {
    key?.release()
    await service?.close()
    await http.close()
    clock.stop()
    await journal.writer?.close()
  }
}

/** The process that runs on this journal, as far as it says how it goes. */
async function runningOn(path: string, { finding }: JournalLook): Promise<Running | undefined> {
  const { holder } = finding
  if (holder === '') return undefined
  try {
    return { holder, health: (await sendCommand(path, { command: 'status' })) as NonNullable<Running['health']> }
  } catch (error) {
    if (error instanceof SluiceError) return { holder, health: undefined }
    throw error
  }
}

function lockOrHolder(config: Config, service: ServiceAccess): ReturnType<typeof lockKey> | string {
  try {
    return lockKey(config, service)
  } catch (error) {
    if (error instanceof SluiceError && error.exitCode === ExitCode.unsafe) return holderIn(error)
    throw error
  }
}

function processCheck({ holder, health }: Running): Check {
  const fix = 'nothing, while it runs; stop it to have all of it tried'
  if (health === undefined)
    return warn('process', `${holder} has the key or the journal, and does not say how it goes`, fix)
  const { feed, plan, requests, positions } = health
  const said = `${holder}: feed ${feed}, ${positions} positions, plan ${plan.name}, ${requests.held} of ${requests.allowed} requests used`
  return feed === 'live' ? ok('process', said) : warn('process', said, 'look at its log')
}
