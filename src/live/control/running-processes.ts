import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { isListening } from './client.ts'

// Registry of this user's running processes. It lets a command find a process without the path of the process's
// journal. Each process writes a small file in the user's runtime directory, in which no other user may write. The file
// of a killed process remains, so a file counts only while a process listens on the socket of its journal.

export interface Running {
  readonly journal: string
  readonly pid: number
}

const FOLDER = 'sluice-running'
const LONGEST_ENTRY = 10_000

/** Registers this process in the registry until the returned function is called. If no directory is writable, calls
 *  `warn`, and the process is not registered. */
export function announce(journalPath: string, warn: (message: string) => void): () => void {
  const entry: Running = { journal: resolve(journalPath), pid: process.pid }
  const problems: string[] = []
  for (const place of places()) {
    try {
      const folder = ownFolder(place)
      dropDead(folder)
      const path = join(folder, `${process.pid}-${Date.now()}-${process.hrtime.bigint()}.json`)
      writeFileSync(path, JSON.stringify(entry), { mode: 0o600, flag: 'wx' })
      return () => rmSync(path, { force: true })
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  warn(`commands find this process only with --journal: ${problems.join('; ')}`)
  return () => {}
}

/** Running processes of this user, one for each journal. */
export async function running(): Promise<Running[]> {
  const entries = places().flatMap(entriesIn)
  const byJournal = new Map(entries.map((entry) => [entry.journal, entry]))
  const listening = await Promise.all([...byJournal.keys()].map(isListening))
  const found = [...byJournal.values()].filter((_entry, index) => listening[index])
  return found.toSorted((one, other) => (one.journal < other.journal ? -1 : 1))
}

/** Runtime directory of the user. The system creates it and removes it with the user's session. */
const sessionPlace = (): string => `/run/user/${userInfo().uid}`

/** Directories that may hold the registry, the best one first. XDG_RUNTIME_DIR may be set in the user's shell but not
 *  in a system service, so all usual directories are searched. */
function places(): string[] {
  const given = process.env.XDG_RUNTIME_DIR
  if (given && given !== sessionPlace()) return [given]
  return [sessionPlace(), join(tmpdir(), `sluice-${userInfo().uid}`)]
}

function folderOf(place: string): string {
  return join(place, FOLDER)
}

/** Returns the path of the registry, a folder inside `place`. Creates the folder if it does not exist. Throws if other
 *  users have access to it. */
function ownFolder(place: string): string {
  const folder = folderOf(place)
  for (const path of [place, folder]) {
    if (!existsSync(path) && path !== sessionPlace()) mkdirSync(path, { mode: 0o700 })
    if (!isOurs(path)) throw new Error(`${path} must be accessible to you only (chmod 700)`)
  }
  return folder
}

function isOurs(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat !== undefined && !stat.isSymbolicLink() && stat.uid === userInfo().uid && (stat.mode & 0o077) === 0
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+-[\d-]+\.json$/.test(name))
  } catch {
    return [] // no process has registered in this directory
  }
}

function entriesIn(place: string): Running[] {
  const folder = folderOf(place)
  if (!isOurs(place) || !isOurs(folder)) return []
  return namesIn(folder).flatMap((name) => readEntry(join(folder, name)) ?? [])
}

function readEntry(path: string): Running | undefined {
  try {
    if (!isOurs(path) || lstatSync(path).size > LONGEST_ENTRY) return undefined
    const { journal, pid } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Running>
    return typeof journal === 'string' && Number.isSafeInteger(pid) ? { journal, pid: pid as number } : undefined
  } catch {
    return undefined // the process has removed the file meanwhile, or a full disk has truncated it
  }
}

/** Removes the files of killed processes. Each file name contains the id of its process, which shows whether the
 *  process still runs. */
function dropDead(folder: string): void {
  for (const name of namesIn(folder))
    if (!isAlive(Number.parseInt(name, 10))) rmSync(join(folder, name), { force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
