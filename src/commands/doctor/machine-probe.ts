import { existsSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { Secret } from '../../config/secret.ts'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import type { OpenJournal } from '../../journal/gathering-journal.ts'
import { openJournal } from '../../journal/journal.ts'
import { openReader } from '../../journal/reader.ts'
import type { Recovered } from '../../journal/recovery.ts'
import { controlPath } from '../../runtime/control-path.ts'
import type { FileFinding, JournalFinding, SecretFinding } from './machine-verdicts.ts'

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

/** The journal as far as it may be read, and as its writer where nobody else is: the slots of the plan are counted in it. */
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
