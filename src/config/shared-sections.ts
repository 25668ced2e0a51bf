import type { Limits } from '../engine/limits/limit-rules.ts'
import {
  alertsFrom,
  chainFrom,
  deskFrom,
  heartbeatFrom,
  journalFrom,
  limitsFrom,
  metricsFrom,
  serviceFrom,
  telegramFrom,
  walletFrom,
  walletsFrom,
} from './convert-sections.ts'
import { canonicalJson } from './hashes.ts'
import { type ConfigFile, isMap } from './read-file.ts'
import type { FileInput } from './schema.ts'
import type { ConfigError } from './yaml/errors.ts'

const SHARED = [
  ...(['service', 'chain', 'wallet', 'wallets', 'journal'] as const),
  ...(['alerts', 'telegram', 'heartbeat', 'metrics', 'desk'] as const),
] as const
type Shared = (typeof SHARED)[number]

/** Sections that the whole process shares. A file may omit a section that another file has, but two files must not give
 *  it different values. */
export interface Agreed extends Pick<FileInput, Shared> {
  /** Sections that exist in a file but do not fit the schema; no further errors are reported for them. */
  readonly unfit: readonly Shared[]
}

/** Returns the section of a bot's wallet; undefined if no file has this section. `name`: the wallet that the bot names.
 *  */
export function walletOfBot({ wallet, wallets }: Agreed, name: string | undefined): Agreed['wallet'] {
  if (wallets === undefined) return wallet
  return name !== undefined && Object.hasOwn(wallets, name) ? wallets[name] : undefined
}

/** Returns the limits that apply to the sum of all bots of a wallet. */
export function walletLimitsOf(agreed: Agreed, name: string | undefined): Limits {
  return limitsFrom(walletOfBot(agreed, name)?.limits ?? {})
}

export function agree(parts: readonly ConfigFile[], cwd: string): { agreed: Agreed; disagreements: ConfigError[] } {
  const agreed: Agreed = {
    unfit: SHARED.filter((name) => parts.some((part) => isWritten(part, name) && !part.sections[name])),
  }
  const disagreements: ConfigError[] = []
  for (const name of SHARED) {
    const [first, ...others] = parts.filter(({ sections }) => sections[name] !== undefined)
    if (!first) continue
    Object.assign(agreed, { [name]: first.sections[name] })
    for (const { document, sections } of others) {
      if (meaning(name, sections, cwd) === meaning(name, first.sections, cwd)) continue
      const { file, line } = first.document.locateKey([name])
      const message = `differs from ${file}:${line}; files that run together must have the same section`
      disagreements.push(document.error([name], message))
    }
  }
  return { agreed, disagreements }
}

export function missingService(parts: readonly ConfigFile[], { service, unfit }: Agreed): ConfigError[] {
  const [first] = parts
  if (!first || service || unfit.includes('service')) return []
  return [first.document.error(['service'], 'missing; expected sandbox or a map with baseUrl, wsUrl and apiKey')]
}

/** Returns the effective values of a section as text. Two files agree on the section if their texts are equal. A
 *  default, or a relative path, gives the same text as the same value written in full. */
function meaning(name: Shared, sections: ConfigFile['sections'], cwd: string): string {
  switch (name) {
    case 'service':
      return canonicalJson(sections.service && serviceFrom(sections.service, cwd))
    case 'chain':
      return canonicalJson(chainFrom(sections.chain, cwd))
    case 'wallet':
      return canonicalJson(walletFrom(sections.wallet, cwd))
    case 'wallets':
      return canonicalJson(Object.fromEntries(walletsFrom(sections, cwd).map((one) => [one.name, one])))
    case 'alerts':
      return canonicalJson(alertsFrom(sections.alerts, cwd))
    case 'telegram':
      return canonicalJson(telegramFrom(sections.telegram, cwd))
    case 'heartbeat':
      return canonicalJson(heartbeatFrom(sections.heartbeat, cwd))
    case 'metrics':
      return canonicalJson(metricsFrom(sections.metrics, cwd))
    case 'desk':
      return canonicalJson(deskFrom(sections.desk, cwd))
    case 'journal':
      return canonicalJson(journalFrom(sections.journal, cwd))
  }
}

function isWritten({ document: { value } }: ConfigFile, name: Shared): boolean {
  return isMap(value) && Object.hasOwn(value, name)
}
