import { createHash } from 'node:crypto'
import type { BuilderPolicy } from '../core/builder-policy.ts'
import type { Config } from './config.ts'

/** Hash of what decides: no secret, nor where one lies, and no path, so that it stays the same when a key or a folder moves. */
export function configHash({ service, chain, wallet, bots, lists }: Omit<Config, 'hash' | 'warnings'>): string {
  const {
    apiKey: _,
    builderPolicy,
    ...open
  } = service.kind === 'remote' ? service : { ...service, apiKey: undefined, builderPolicy: undefined }
  const decides = {
    service: { ...open, ...(builderPolicy !== undefined && { builderPolicy: { ...builderPolicy, name: undefined } }) },
    cluster: chain.cluster,
    wallet: wallet.publicKey,
    walletLimits: wallet.limits,
    ...(lists.size > 0 && { lists: Object.fromEntries(lists) }),
    bots: bots.map(({ at: _at, exitSources: _sources, overriddenExits: _overridden, strategy, ...bot }) => ({
      ...bot,
      strategy: strategy.name,
    })),
  }
  return createHash('sha256').update(canonicalJson(decides)).digest('hex')
}

/** Hash of what a builder may put in, wherever that was read. */
export function policyHash({ name: _, ...rules }: BuilderPolicy): string {
  return createHash('sha256').update(canonicalJson(rules)).digest('hex')
}

/** JSON with its keys in order: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  const sorted = (_key: string, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item
  return JSON.stringify(value, sorted) ?? ''
}
