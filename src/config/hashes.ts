import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path/posix'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import type { BotConfig, Config } from './config.ts'
import { DECIDING_ROWS, MANIFEST, SOURCE_ENDING, SOURCES } from './package-paths.ts'
import { sourcesOf } from './strategy-sources.ts'

/** Returns the hash of the settings that affect decisions. Secrets and paths are left out, so the hash does not change
 *  if a key is stored in another place or if a folder moves. */
export function configHash({ service, chain, wallets, bots, lists }: Omit<Config, 'hash' | 'warnings'>): string {
  const {
    apiKey: _,
    builderPolicy,
    ...open
  } = service.kind === 'remote' ? service : { ...service, apiKey: undefined, builderPolicy: undefined }
  const decides = {
    service: { ...open, ...(builderPolicy !== undefined && { builderPolicy: { ...builderPolicy, name: undefined } }) },
    cluster: chain.cluster,
    ...walletsIn(wallets),
    ...(lists.size > 0 && { lists: Object.fromEntries(lists) }),
    bots: bots.map(
      ({
        at: _at,
        exitSources: _exits,
        overriddenExits: _overridden,
        sources = {},
        quoteFees: _fees,
        strategy,
        ...bot
      }) => ({
        ...bot,
        ...sourceFiles(sources),
        strategy: strategy.name,
      }),
    ),
  }
  return createHash('sha256').update(canonicalJson(decides)).digest('hex')
}

/** Returns the parts of the wallets that affect decisions. A wallet without a name is hashed under the same keys as
 *  before wallets had names, so that the hash of its configuration stays the same. */
function walletsIn(wallets: Config['wallets']): object {
  const [only] = wallets
  if (only?.name === '') return { wallet: only.publicKey, walletLimits: only.limits }
  return { wallets: Object.fromEntries(wallets.map(({ name, publicKey, limits }) => [name, { publicKey, limits }])) }
}

/** Returns the hashes of the files from which backtests read a bot's sources; an empty object if there are none. */
function sourceFiles(sources: NonNullable<BotConfig['sources']>): { sourceFiles?: Record<string, string> } {
  const hashes = Object.entries(sources).flatMap(([name, { file }]) =>
    file === undefined ? [] : [[name, createHash('sha256').update(readFileSync(file)).digest('hex')] as const],
  )
  return hashes.length === 0 ? {} : { sourceFiles: Object.fromEntries(hashes) }
}

/** Returns the hash of a policy's rules. The hash does not depend on the name of the policy's file. */
export function policyHash({ name: _, ...rules }: BuilderPolicy): string {
  return createHash('sha256').update(canonicalJson(rules)).digest('hex')
}

/** Returns a value as JSON with sorted keys, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  const sorted = (_key: string, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item
  return JSON.stringify(value, sorted) ?? ''
}

/** Returns the hash of all code that decides about orders: the version of Sluice, the code in the folders of
 *  `DECIDING_ROWS`, and every strategy file with its relative imports. The hash does not depend on the folder of the
 *  package. */
export function codeHash(strategies: readonly { readonly name: string; readonly file: string }[]): string {
  ours ??= hashOfDecidingRows()
  const hash = ours.copy()
  const byName = new Map(strategies.map((one) => [one.name, one.file]))
  for (const [name, file] of [...byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const parts = sourcesOf(file).map((part) => relative(dirname(file), part).replaceAll('\\', '/'))
    for (const part of parts.sort()) add(hash, `${name}/${part}`, readFileSync(join(dirname(file), part)))
  }
  return hash.digest('hex')
}

/** Hash of Sluice's own files. The hash is computed once, because a process keeps running the code with which it
 *  started, even if the files change. */
let ours: Hash | undefined

function hashOfDecidingRows(): Hash {
  const hash = createHash('sha256')
  add(hash, 'version', (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version)
  for (const row of DECIDING_ROWS) {
    const folder = join(SOURCES, row)
    for (const name of sourcesIn(folder)) add(hash, `${row}/${name}`, readFileSync(join(folder, name)))
  }
  return hash
}

function add(hash: Hash, name: string, bytes: Uint8Array | string): void {
  hash.update(`${name}\0${bytes.length}\0`).update(bytes)
}

/** Returns the hash of all files of Sluice. It also changes if only the fill model or the metrics of backtests change.
 *  */
export function sluiceHash(): string {
  const hash = createHash('sha256')
  for (const name of sourcesIn(SOURCES)) add(hash, name, readFileSync(join(SOURCES, name)))
  return hash.digest('hex')
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(SOURCE_ENDING) && !name.endsWith('.d.ts'))
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
}
