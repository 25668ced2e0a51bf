import { existsSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import type { Secret } from '../../config/secret.ts'
import { openReader } from '../../journal/reader/reader.ts'
import type { Recovered } from '../../journal/reader/recovery.ts'
import type { OpenJournal } from '../../journal/writer/gathering-journal.ts'
import { openJournal } from '../../journal/writer/journal.ts'
import { controlPath } from '../../live/control/command.ts'
import { type Check, counted, fail, ok, seconds, warn } from './check.ts'

// Looks at this machine: secrets, files, the journal and its disk.

/** Every secret that the configuration names, read once. */
export function readSecrets(config: Config): SecretFinding[] {
  const { service, chain, alerts } = config
  const named: [string, Secret | undefined][] = [
    ['service.apiKey', service.kind === 'remote' ? service.apiKey : undefined],
    ...(service.kind === 'remote'
      ? chain.rpc.map(({ url }, index): [string, Secret] => [`chain.rpc ${index + 1}`, url])
      : []),
    ['alerts.url', alerts?.url],
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
    // What the system says of a file, and never what is in it.
    return `${secret.describe()}: ${(error as NodeJS.ErrnoException).code ?? 'cannot be read'}`
  }
}

const OTHERS = 0o077
const OTHERS_WRITE = 0o022

/** The journal, what SQLite has beside it, its lock, the socket of the process that runs on it, and its folder. */
export function journalFiles(path: string): FileFinding[] {
  if (process.platform === 'win32' || !existsSync(path)) return []
  const beside = ['', '-wal', '-shm', '.lock', '.chain', '.reserve'].map((end) => path + end)
  const folder: [string, number] = [dirname(path), OTHERS_WRITE]
  const all = [...[...beside, controlPath(path)].map((one): [string, number] => [one, OTHERS]), folder]
  return all.flatMap(([one, forbidden]) => {
    const status = statSync(one, { throwIfNoEntry: false })
    return status === undefined ? [] : [{ path: one === path ? path : basename(one), mode: status.mode, forbidden }]
  })
}

/** The journal as far as it may be read, and as its writer where nobody else is: the slots of the plan are counted in
 *  it. */
export interface JournalLook {
  readonly finding: JournalFinding
  readonly past: Recovered | undefined
  readonly writer: OpenJournal | undefined
}

export function lookAtJournal(path: string): JournalLook {
  const exists = existsSync(path)
  const base = { path, exists, isOlder: false, damage: '', holder: '', endedInOrder: true, ordersOpen: 0, undecided: 0 }
  const read = exists ? readJournal(path) : undefined
  if (typeof read === 'string')
    return {
      finding: { ...base, freeBytes: freeFor(path), damage: read, isOlder: /by an older Sluice/.test(read) },
      ...{ past: undefined, writer: undefined },
    }
  const writer = openWriter(path)
  const past = read ?? readJournal(path)
  const known = typeof past === 'object' ? past : undefined
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

/** What it holds, or what is wrong with it. */
function readJournal(path: string): Recovered | string {
  try {
    const reader = openReader(path)
    try {
      reader.checkIntegrity()
      return reader.recover()
    } finally {
      reader.close()
    }
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    throw error
  }
}

/** Opened for its writer, or who has it. It keeps no room for exits: nothing is traded. */
function openWriter(path: string): OpenJournal | string {
  try {
    return openJournal(path, {
      space: { reserveBytes: 0 },
      onFailure: (error) => {
        throw error
      },
    })
  } catch (error) {
    if (error instanceof SluiceError && error.exitCode === ExitCode.unsafe) return holderIn(error)
    throw error
  }
}

/** Who holds what a lock guards. */
export function holderIn({ message }: SluiceError): string {
  return / is in use by (.*)$/.exec(message)?.[1] ?? 'another process'
}

function freeFor(path: string): number {
  let folder = resolve(dirname(path))
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

// What is found on this machine, and what is to be said about it.
/** The least that runs TypeScript as it is. */
const LEAST_NODE = [22, 18] as const

export function nodeVerdict(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return ok('node', version)
  return fail('node', version, `use Node ${LEAST_NODE.join('.')} or later; npm install brings one`)
}

export interface ConfigFinding {
  readonly files: readonly string[]
  readonly bots: number
  readonly live: number
  /** As `sluice check` words them. */
  readonly warnings: readonly string[]
}

export function configVerdict({ files, bots, live, warnings }: ConfigFinding): Check {
  const what = `${files.join(', ')}: ${counted(bots, 'bot')}, ${live} live`
  const [first] = warnings
  if (first === undefined) return ok('config', what)
  return warn('config', `${what}; ${first}`, `sluice check ${files.join(' ')} says all of it`)
}

/** A secret that could not be read: its message, which says what to do and never the secret. */
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
    const [found = '', fix = 'set it, then ask again'] = problem.split(/; run: /)
    return { found: `${name}: ${found}`, fix }
  })
  const fixes = [...new Set(parts.map(({ fix }) => fix))].join('; ')
  return fail('secrets', parts.map(({ found }) => found).join('; '), fixes)
}

/** `problem`: why it does not start, or cannot be reached; '' where it says that it signs for this wallet. */
export function signerVerdict(wallet: string, problem: string): Check {
  if (problem === '') return ok('signer', `signs for ${wallet}`)
  const [found = '', fix = 'see docs/signer.md'] = problem.split(/; (?:run|start it): /)
  return fail('signer', found, fix)
}

/** What lies on the disk beside the journal, with its mode. */
export interface FileFinding {
  readonly path: string
  readonly mode: number
  /** Bits that others may not have. */
  readonly forbidden: number
}

export function filesVerdict(files: readonly FileFinding[]): Check {
  const open = files.filter(({ mode, forbidden }) => (mode & forbidden) !== 0)
  const said = (list: readonly FileFinding[]): string => {
    return list.map(({ path, mode }) => `${path} ${(mode & 0o777).toString(8).padStart(4, '0')}`).join(', ')
  }
  if (open.length === 0)
    return ok(
      'files',
      files.length === 0
        ? 'no journal yet'
        : `${counted(files.length, 'path')} of the journal, nobody else gets at them`,
    )
  const fix = `chmod go= ${open.map(({ path }) => `'${path}'`).join(' ')}`
  return warn('files', `others can get at ${said(open)}`, fix)
}

export interface JournalFinding {
  readonly path: string
  readonly exists: boolean
  /** Of an older version: a run brings it up to date, a look leaves it as it is. */
  readonly isOlder: boolean
  /** Why it cannot be read, or what is damaged; '' where nothing is. */
  readonly damage: string
  /** The process that has it; '' where none has. */
  readonly holder: string
  readonly freeBytes: number
  readonly endedInOrder: boolean
  readonly ordersOpen: number
  readonly undecided: number
}

/** Below these the tape stops, and entries. */
const TAPE_BYTES = 512 * 2 ** 20
const ENTRY_BYTES = 128 * 2 ** 20

export function journalVerdict(journal: JournalFinding): Check {
  const { path, exists, isOlder, damage, holder, endedInOrder, ordersOpen, undecided } = journal
  if (isOlder) return warn('journal', `${path}: of an older Sluice`, 'nothing: the next run brings it up to date')
  if (damage !== '') return fail('journal', damage, 'restore it from a copy, or name another journal.path')
  if (holder !== '') return ok('journal', `${path}: in use by ${holder}`)
  if (!exists) return ok('journal', `${path}: new, made now, with nothing in it yet`)
  const open = ordersOpen === 0 ? '' : `, ${counted(ordersOpen, 'order')} open, ${undecided} undecided`
  const whole = `${path}: whole, nobody holds it${open}`
  if (endedInOrder) return ok('journal', whole)
  return warn('journal', `${whole}; the last run did not end in order`, 'nothing: the next run goes on from its rows')
}

export function diskVerdict({ path, freeBytes }: Pick<JournalFinding, 'path' | 'freeBytes'>): Check {
  const free = `${(freeBytes / 2 ** 30).toFixed(1)} GiB free for ${path}`
  if (freeBytes < ENTRY_BYTES) return fail('disk', free, 'make room: below 128 MiB nothing is bought')
  if (freeBytes < TAPE_BYTES) return warn('disk', free, 'make room: below 512 MiB the market is not recorded')
  return ok('disk', free)
}

/** How far this machine's clock is ahead of somebody's, ms; `plusMinusMs` is what cannot be told. */
export interface SkewFinding {
  readonly against: string
  readonly skewMs: number
  readonly plusMinusMs: number
}

const WARN_SKEW_MS = 2000
const FAIL_SKEW_MS = 30000

export function clockVerdict(skews: readonly SkewFinding[]): Check {
  if (skews.length === 0) return warn('clock', 'nobody told the time', 'see the checks of service and RPC')
  const said = skews
    .map(({ against, skewMs, plusMinusMs }) => {
      if (Math.abs(skewMs) <= plusMinusMs) return `as ${against}, within ${seconds(plusMinusMs)}`
      return `${seconds(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} ${against}`
    })
    .join('; ')
  // The nearest: if one of them agrees with this machine, the other ones are wrong.
  const off = Math.min(...skews.map(({ skewMs, plusMinusMs }) => Math.max(0, Math.abs(skewMs) - plusMinusMs)))
  const fix = 'let the system keep time (NTP: timedatectl set-ntp true)'
  if (off > FAIL_SKEW_MS) return fail('clock', said, fix)
  return off > WARN_SKEW_MS ? warn('clock', said, fix) : ok('clock', said)
}
