import { existsSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { SluiceError } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import type { Config } from '../../config/config.ts'
import type { Secret } from '../../config/secret.ts'
import { OlderJournal } from '../../journal/database.ts'
import { InUse } from '../../journal/lock.ts'
import { openReader } from '../../journal/reader/reader.ts'
import type { Recovered } from '../../journal/reader/recovery.ts'
import type { OpenJournal } from '../../journal/writer/gathering-journal.ts'
import { openJournal } from '../../journal/writer/journal.ts'
import { durationOf } from '../../runtime/time-text.ts'
import { controlPath } from '../control/command.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** Reads each secret of the configuration once, and returns the problems of those that cannot be read. */
export function readSecrets(config: Config): SecretFinding[] {
  const { service, chain, alerts, heartbeat, telegram } = config
  const named: [string, Secret | undefined][] = [
    ['service.apiKey', service.kind === 'remote' ? service.apiKey : undefined],
    ...(service.kind === 'remote'
      ? chain.rpc.map(({ url }, index): [string, Secret] => [`chain.rpc ${index + 1}`, url])
      : []),
    ['alerts.url', alerts?.url],
    ['heartbeat.url', heartbeat?.url],
    ['telegram.token', telegram?.token],
    ...config.bots.flatMap(({ name: bot, sources = {} }) =>
      Object.entries(sources).map(([name, { url }]): [string, Secret | undefined] => [
        `sources.${name} of ${bot}`,
        url,
      ]),
    ),
  ]
  return named.flatMap(([name, secret]) =>
    secret === undefined ? [] : [{ name, source: secret.describe(), problem: problemOf(secret) }],
  )
}

function problemOf(secret: Secret): string {
  try {
    secret.read()
    return ''
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    // The message contains only the system's error code, because the error's text could contain the secret.
    return `${secret.describe()}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`
  }
}

const OTHERS = 0o077
const OTHERS_WRITE = 0o022

/** File modes of the journal, of its auxiliary files, of its control socket and of its folder. */
export function journalFiles(path: string): FileFinding[] {
  if (process.platform === 'win32' || !existsSync(path)) return []
  const names = ['', '-wal', '-shm', '.lock', '.chain', '.reserve'].map((end) => path + end)
  const folder: [string, number] = [dirname(path), OTHERS_WRITE]
  const all = [...[...names, controlPath(path)].map((one): [string, number] => [one, OTHERS]), folder]
  return all.flatMap(([one, forbidden]) => {
    const status = statSync(one, { throwIfNoEntry: false })
    return status === undefined ? [] : [{ path: one === path ? path : basename(one), mode: status.mode, forbidden }]
  })
}

/** Findings about the journal. `writer` records the requests that doctor sends; it is absent while another process
 *  writes the journal. */
export interface JournalLook {
  readonly finding: JournalFinding
  readonly past: Recovered | undefined
  readonly writer: OpenJournal | undefined
}

export function examineJournal(path: string): JournalLook {
  const exists = existsSync(path)
  const base = { path, exists, isOlder: false, damage: '', holder: '', endedInOrder: true, ordersOpen: 0, undecided: 0 }
  const read = exists ? readJournal(path) : undefined
  if (read instanceof SluiceError)
    return {
      finding: {
        ...base,
        freeBytes: freeFor(path),
        damage: read.message,
        isOlder: read instanceof OlderJournal,
      },
      ...{ past: undefined, writer: undefined },
    }
  const writer = openWriter(path)
  const past = read ?? readJournal(path)
  const known = past instanceof SluiceError ? undefined : past
  const finding = {
    ...base,
    freeBytes: freeFor(path),
    holder: typeof writer === 'string' ? writer : '',
    endedInOrder: known?.clean ?? true,
    ordersOpen: known?.money.orders.length ?? 0,
    undecided: known?.watches.filter(({ ended }) => !ended).length ?? 0,
  }
  return { finding, past: known, writer: typeof writer === 'string' ? undefined : writer }
}

/** State in the journal; the error if the journal is damaged or was written by an older version. */
function readJournal(path: string): Recovered | SluiceError {
  try {
    const reader = openReader(path)
    try {
      reader.checkIntegrity()
      return reader.recover()
    } finally {
      reader.close()
    }
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
}

/** Opens the journal for writing, without a disk reserve, because doctor does not trade. If the journal is locked,
 *  returns the name of the holder. */
function openWriter(path: string): OpenJournal | string {
  try {
    return openJournal(path, {
      space: { reserveBytes: 0 },
      onFailure: (error) => {
        throw error
      },
    })
  } catch (error) {
    if (error instanceof InUse) return error.holder
    throw error
  }
}

function freeFor(path: string): number {
  let folder = resolve(dirname(path))
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** First version of Node (major, minor) that runs TypeScript without a flag. */
const MIN_NODE = [22, 18] as const

export function nodeVerdict(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return ok('node', version)
  return fail('node', version, `use Node ${MIN_NODE.join('.')} or later; npm install provides a suitable version`)
}

export interface ConfigFinding {
  readonly files: readonly string[]
  readonly bots: number
  readonly live: number
  /** Warnings that `sluice check` prints. */
  readonly warnings: readonly string[]
}

export function configVerdict({ files, bots, live, warnings }: ConfigFinding): Check {
  const found = `${files.join(', ')}: ${counted(bots, 'bot')}, ${live} live`
  const [first] = warnings
  if (first === undefined) return ok('config', found)
  return warn('config', `${found}; ${first}`, `run \`sluice check ${files.join(' ')}\` for all warnings`)
}

/** Name of the secret, and the reason with advice if it could not be read. Never contains the secret itself. */
export interface SecretFinding {
  readonly name: string
  readonly source: string
  readonly problem: string
}

export function secretsVerdict(secrets: readonly SecretFinding[]): Check {
  const bad = secrets.filter(({ problem }) => problem !== '')
  const sources = secrets.map(({ name, source }) => `${name} from ${source}`).join(', ')
  if (bad.length === 0) return ok('secrets', sources === '' ? 'none needed' : sources)
  const parts = bad.map(({ name, problem }) => {
    const [found = '', fix = 'set it, then run doctor again'] = problem.split(/; run: /)
    return { found: `${name}: ${found}`, fix }
  })
  const fixes = [...new Set(parts.map(({ fix }) => fix))].join('; ')
  return fail('secrets', parts.map(({ found }) => found).join('; '), fixes)
}

/** Returns the check of the signer of a wallet. `name`: name of the wallet, '' if it has none. `problem`: the reason
 *  why the signer is not available; '' if it signs for this wallet. */
export function signerVerdict(name: string, wallet: string, problem: string): Check {
  const check = name === '' ? 'signer' : `signer ${name}`
  if (problem === '') return ok(check, `signs for ${wallet}`)
  const [found = '', fix = 'see docs/signer.md'] = problem.split(/; (?:run|start it): /)
  return fail(check, found, fix)
}

/** A file that belongs to the journal, with its mode. */
export interface FileFinding {
  readonly path: string
  readonly mode: number
  /** Bits of the mode that give other users access, and must not be set. */
  readonly forbidden: number
}

export function filesVerdict(files: readonly FileFinding[]): Check {
  const open = files.filter(({ mode, forbidden }) => (mode & forbidden) !== 0)
  const modesOf = (list: readonly FileFinding[]): string => {
    return list.map(({ path, mode }) => `${path} ${(mode & 0o777).toString(8).padStart(4, '0')}`).join(', ')
  }
  if (open.length === 0)
    return ok(
      'files',
      files.length === 0 ? 'no journal yet' : `${counted(files.length, 'path')} of the journal, accessible only to you`,
    )
  const fix = `chmod go= ${open.map(({ path }) => `'${path}'`).join(' ')}`
  return warn('files', `accessible to other users: ${modesOf(open)}`, fix)
}

export interface JournalFinding {
  readonly path: string
  readonly exists: boolean
  /** Whether an older version wrote the journal. A run upgrades such a journal; doctor does not. */
  readonly isOlder: boolean
  /** Description of the journal's damage; '' if the journal is intact. */
  readonly damage: string
  /** Name of the process that writes the journal; '' if none does. */
  readonly holder: string
  readonly freeBytes: number
  readonly endedInOrder: boolean
  readonly ordersOpen: number
  readonly undecided: number
}

/** Free space below which market rows are no longer recorded, bytes. `ENTRY_BYTES`: free space below which entries
 *  stop. */
const TAPE_BYTES = 512 * 2 ** 20
const ENTRY_BYTES = 128 * 2 ** 20

export function journalVerdict(journal: JournalFinding): Check {
  const { path, exists, isOlder, damage, holder, endedInOrder, ordersOpen, undecided } = journal
  if (isOlder)
    return warn(
      'journal',
      `${path} was written by an older version of Sluice`,
      'nothing to do: the next run upgrades it',
    )
  if (damage !== '') return fail('journal', damage, 'restore it from a copy, or set another journal.path')
  if (holder !== '') return ok('journal', `${path}: in use by ${holder}`)
  if (!exists) return ok('journal', `${path}: new and empty`)
  const open = ordersOpen === 0 ? '' : `, ${counted(ordersOpen, 'order')} open, ${undecided} undecided`
  const intact = `${path}: intact, not in use${open}`
  if (endedInOrder) return ok('journal', intact)
  return warn(
    'journal',
    `${intact}; the last run crashed or was killed`,
    'nothing to do: the next run recovers the orders from the journal',
  )
}

export function diskVerdict({ path, freeBytes }: Pick<JournalFinding, 'path' | 'freeBytes'>): Check {
  const free = `${(freeBytes / 2 ** 30).toFixed(1)} GiB free for ${path}`
  if (freeBytes < ENTRY_BYTES) return fail('disk', free, 'free disk space: below 128 MiB entries stop')
  if (freeBytes < TAPE_BYTES) return warn('disk', free, 'free disk space: below 512 MiB the market is not recorded')
  return ok('disk', free)
}

/** By how much this machine's clock is ahead of another clock, ms, and the uncertainty of this difference. */
export interface SkewFinding {
  readonly against: string
  readonly skewMs: number
  readonly plusMinusMs: number
}

const WARN_SKEW_MS = 2000
const FAIL_SKEW_MS = 30000

export function clockVerdict(skews: readonly SkewFinding[]): Check {
  if (skews.length === 0)
    return warn(
      'clock',
      'no other clock to compare with',
      'fix the problems of the service and the RPC that doctor reports',
    )
  const found = skews
    .map(({ against, skewMs, plusMinusMs }) => {
      if (Math.abs(skewMs) <= plusMinusMs) return `equal to ${against} within ${durationOf(plusMinusMs)}`
      return `${durationOf(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} ${against}`
    })
    .join('; ')
  // The smallest difference counts: if this machine's clock agrees with one of the other clocks, the remaining clocks
  // are assumed to be wrong.
  const off = Math.min(...skews.map(({ skewMs, plusMinusMs }) => Math.max(0, Math.abs(skewMs) - plusMinusMs)))
  const fix = 'synchronize the clock (NTP: timedatectl set-ntp true)'
  if (off > FAIL_SKEW_MS) return fail('clock', found, fix)
  return off > WARN_SKEW_MS ? warn('clock', found, fix) : ok('clock', found)
}
