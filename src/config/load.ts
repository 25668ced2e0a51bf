import type { Millis } from '../base/units.ts'
import { LIST_FILTERS } from '../engine/limits/entry-filters.ts'
import { isPublicKey, readList } from '../solana/base58.ts'
import { botsOf, type CheckedBot } from './bots.ts'
import type { PolicyResult } from './builder-policy-file.ts'
import type { AlertsConfig, Config, HeartbeatConfig, MetricsConfig, TelegramConfig } from './config.ts'
import { botProblems, deskWarnings, serviceWarnings } from './consistency.ts'
import {
  alertsFrom,
  chainFrom,
  deskFrom,
  heartbeatFrom,
  journalFrom,
  metricsFrom,
  serviceFrom,
  telegramFrom,
  walletsFrom,
} from './convert-sections.ts'
import { configHash } from './hashes.ts'
import { type BotEntry, type ConfigFile, readConfigFile, readText } from './read-file.ts'
import { type Agreed, agree, missingService } from './shared-sections.ts'
import { walletErrors } from './wallet-consistency.ts'
import { type ConfigError, inOrder } from './yaml/errors.ts'

export type LoadResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly errors: readonly ConfigError[] }

export interface LoadOptions {
  readonly cwd?: string
  /** Whether to read the policy file. False if the file is about to be written. */
  readonly readsPolicy?: boolean
  /** Time at which the certificate and the key of `desk.tls` must be valid; absent if they are not read. */
  readonly certificateAt?: Millis
  /** Replaces the entry of each bot after the files were read. The configuration is then checked as if the files
   *  contained the new entries. */
  readonly change?: (entry: BotEntry) => BotEntry
}

/** Reads and checks one or several files as one configuration; returns all errors together. Reads no secret. */
export async function loadConfig(
  files: readonly string[],
  { cwd = process.cwd(), readsPolicy = true, certificateAt, change }: LoadOptions = {},
): Promise<LoadResult> {
  const read = files.map((file) => readConfigFile(file, cwd))
  const found = read.flatMap(({ file }) => file ?? [])
  const parts = change === undefined ? found : found.map((part) => ({ ...part, bots: part.bots.map(change) }))
  const errors = read.flatMap((one) => one.errors)

  const { agreed, disagreements } = agree(parts, cwd)
  const { service } = agreed
  errors.push(...disagreements, ...missingService(parts, agreed))
  const { bots, errors: botErrors } = await botsOf(parts, cwd)
  const problems = bots.flatMap((bot) => botProblems(bot, agreed))
  errors.push(...botErrors, ...problems.filter(({ fatal }) => fatal).map(({ error }) => error))
  const { lists, errors: listErrors } = listsOf(bots, cwd)
  errors.push(...walletErrors(parts, bots, agreed), ...listErrors)
  const policy = readsPolicy ? await policyOf(service, cwd) : undefined
  if (policy?.ok === false) errors.push(...policy.errors)
  const certificate = certificateAt === undefined ? undefined : await certificateProblems(parts, cwd, certificateAt)
  errors.push(...(certificate?.errors ?? []))
  if (errors.length > 0 || !service) return { ok: false, errors: inOrder(errors, files) }

  const warnings = [
    ...serviceWarnings(parts, agreed),
    ...deskWarnings(parts),
    ...(certificate?.warnings ?? []),
    ...problems.filter(({ fatal }) => !fatal).map(({ error }) => error),
  ]
  const checked = {
    files,
    service: serviceFrom(service, cwd, policy?.ok ? policy.policy : undefined),
    chain: chainFrom(agreed.chain, cwd),
    wallets: walletsFrom(agreed, cwd),
    journal: journalFrom(agreed.journal, cwd),
    ...(agreed.alerts && { alerts: alertsFrom(agreed.alerts, cwd) as AlertsConfig }),
    ...(agreed.telegram && { telegram: telegramFrom(agreed.telegram, cwd) as TelegramConfig }),
    ...(agreed.heartbeat && { heartbeat: heartbeatFrom(agreed.heartbeat, cwd) as HeartbeatConfig }),
    ...(agreed.metrics && { metrics: metricsFrom(agreed.metrics, cwd) as MetricsConfig }),
    desk: deskFrom(agreed.desk, cwd),
    bots: bots.map(({ config }) => config),
    lists,
  }
  return { ok: true, config: { ...checked, warnings: inOrder(warnings, files), hash: configHash(checked) } }
}

async function policyOf(service: Agreed['service'], cwd: string): Promise<PolicyResult | undefined> {
  const file = service === undefined || service === 'sandbox' ? undefined : service.builderPolicy
  if (file === undefined) return undefined
  const { loadPolicy } = await import('./builder-policy-file.ts')
  return loadPolicy(file, cwd)
}

/** Returns the problems that the desk's certificate has at the given time: why the desk cannot use it, and why browsers
 *  refuse it. */
async function certificateProblems(
  files: readonly ConfigFile[],
  cwd: string,
  now: Millis,
): Promise<Record<'errors' | 'warnings', readonly ConfigError[]>> {
  // Imported only here, because few configurations have a certificate, and Node's TLS takes 20 ms of processor time to
  // load.
  const { CertificateError, validCertificate } = await import('./certificate.ts')
  const errors: ConfigError[] = []
  const warnings: ConfigError[] = []
  for (const { document, sections } of files) {
    const { tls, origin } = deskFrom(sections.desk, cwd)
    if (tls === undefined) continue
    try {
      const { warning } = validCertificate(tls, origin, now)
      if (warning !== undefined) warnings.push(document.error(['desk', 'tls', 'certificate'], warning))
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error
      errors.push(document.error(['desk', 'tls', error.at], error.problem))
    }
  }
  return { errors, warnings }
}

/** Reads the files of the filter lists. An error in such a file is reported at the key that names the file. */
function listsOf(
  bots: readonly CheckedBot[],
  cwd: string,
): { lists: Map<string, readonly string[]>; errors: ConfigError[] } {
  const lists = new Map<string, readonly string[]>()
  const errors: ConfigError[] = []
  for (const { config, input, document, path: bot } of bots)
    for (const key of LIST_FILTERS) {
      const file = config.filters[key]
      if (file === null || lists.has(file)) continue
      const entries = readEntries(file, cwd)
      lists.set(file, typeof entries === 'string' ? [] : entries)
      const at = input.filters?.[key] === undefined ? ['defaults'] : bot
      if (typeof entries === 'string') errors.push(document.error([...at, 'filters', key], entries))
    }
  return { lists, errors }
}

/** Returns the entries of a filter list from its file, or the problem of the file as text. */
function readEntries(file: string, cwd: string): readonly string[] | string {
  const text = readText(file, cwd)
  if (typeof text !== 'string') return `${file}: ${text.problem}`
  const entries = readList(text, isPublicKey)
  return 'line' in entries
    ? `${file}:${entries.line}: expected one base58 key of 32 bytes per line, or a comment after #`
    : entries
}
