import { botsOf } from './bots.ts'
import type { AlertsConfig, Config } from './config.ts'
import { configHash } from './config-hash.ts'
import { botProblems, serviceWarnings, walletProblems } from './consistency.ts'
import { alertsFrom, chainFrom, journalFrom, serviceFrom, walletFrom } from './effective.ts'
import { type ConfigError, inOrder } from './errors.ts'
import { listsOf } from './lists.ts'
import { loadPolicy, type PolicyResult } from './policy.ts'
import { readConfigFile } from './read.ts'
import { type Agreed, agree, missingService } from './shared.ts'

export type LoadResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly errors: readonly ConfigError[] }

/** Reads and checks one or several files as one configuration; answers everything that is wrong with them at once. Reads no secret.
 *  `readsPolicy`: false where the policy is about to be written. */
export async function loadConfig(
  files: readonly string[],
  { cwd = process.cwd(), readsPolicy = true }: { cwd?: string; readsPolicy?: boolean } = {},
): Promise<LoadResult> {
  const read = files.map((file) => readConfigFile(file, cwd))
  const parts = read.flatMap(({ file }) => file ?? [])
  const errors = read.flatMap((one) => one.errors)

  const { agreed, disagreements } = agree(parts, cwd)
  const { service } = agreed
  errors.push(...disagreements, ...missingService(parts, agreed))
  const { bots, errors: botErrors } = await botsOf(parts, cwd)
  const problems = bots.flatMap((bot) => botProblems(bot, agreed))
  errors.push(...botErrors, ...problems.filter(({ fatal }) => fatal).map(({ error }) => error))
  const { lists, errors: listErrors } = listsOf(bots, cwd)
  errors.push(...walletProblems(parts), ...listErrors)
  const policy = readsPolicy ? policyOf(service, cwd) : undefined
  if (policy?.ok === false) errors.push(...policy.errors)
  if (errors.length > 0 || !service) return { ok: false, errors: inOrder(errors, files) }

  const warnings = [
    ...serviceWarnings(parts, agreed),
    ...problems.filter(({ fatal }) => !fatal).map(({ error }) => error),
  ]
  const checked = {
    files,
    service: serviceFrom(service, cwd, policy?.ok ? policy.policy : undefined),
    chain: chainFrom(agreed.chain, cwd),
    wallet: walletFrom(agreed.wallet, cwd),
    journal: journalFrom(agreed.journal, cwd),
    ...(agreed.alerts && { alerts: alertsFrom(agreed.alerts, cwd) as AlertsConfig }),
    bots: bots.map(({ config }) => config),
    lists,
  }
  return { ok: true, config: { ...checked, warnings: inOrder(warnings, files), hash: configHash(checked) } }
}

function policyOf(service: Agreed['service'], cwd: string): PolicyResult | undefined {
  const file = service === undefined || service === 'sandbox' ? undefined : service.builderPolicy
  return file === undefined ? undefined : loadPolicy(file, cwd)
}
