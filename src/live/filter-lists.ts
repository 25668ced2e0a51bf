import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path/posix'
import type { Cancel } from '../base/machine.ts'
import type { Config } from '../config/config.ts'
import type { Input } from '../engine/messages.ts'
import type { Log } from '../runtime/log.ts'
import { isPublicKey, readList } from '../solana/base58.ts'

/** The lists that filters go by, as their files say while bots run. */
export class FilterLists {
  /** What is wrong with files that are no lists any more, by path: what bots go by is older than what somebody wrote
   *  down for them. */
  readonly broken = new Map<string, string>()

  /** `alert`: tells a person of a file that broke. */
  watch(
    { lists }: Pick<Config, 'lists'>,
    log: Log,
    post: (input: Input) => void,
    alert: (text: string) => void,
  ): Cancel {
    return watchLists(lists, {
      changed: (name, entries) => {
        log.info({ list: name, entries: entries.length }, 'list read again')
        post({ kind: 'list', name, entries })
      },
      broken: (name, problem) => {
        this.broken.set(name, problem)
        log.error(problem)
        alert(problem)
      },
      mended: (name) => void this.broken.delete(name),
    })
  }
}

const LOOK_EVERY_MS = 500
const MOST_BYTES = 1048576

export interface ListEvents {
  changed(path: string, entries: readonly string[]): void
  /** It is no list any more, or for another reason: said once. */
  broken(path: string, problem: string): void
  /** It is one again. */
  mended(path: string): void
}

/** Follows files of keys: one that changed and is still the same at the next look is read again. What cannot be read,
 *  or has a line that is no key, leaves the list as it was. `lists` is by path and holds what was read last. */
export function watchLists(lists: Map<string, readonly string[]>, tell: ListEvents): Cancel {
  const files = [...lists.keys()].map((path) => new ListFile(path))
  const broken = new Set<string>()
  const look = (): void => {
    for (const file of files) {
      const { path } = file
      const entries = file.look()
      if (entries === undefined) continue
      if (typeof entries === 'string') {
        broken.add(path)
        tell.broken(path, entries)
        continue
      }
      if (broken.delete(path)) tell.mended(path)
      if (isSame(entries, lists.get(path) ?? [])) continue
      lists.set(path, entries)
      tell.changed(path, entries)
    }
  }
  const timer = files.length === 0 ? undefined : setInterval(look, LOOK_EVERY_MS)
  timer?.unref()
  return () => clearInterval(timer)
}

class ListFile {
  readonly path: string
  /** What the file looked like when it was read, and at the last look. */
  #read: string | undefined
  #seen: string | undefined

  constructor(path: string) {
    this.path = path
  }

  /** Its entries where it has changed; what is wrong with it where it has changed for the worse. */
  look(): readonly string[] | string | undefined {
    const stamp = stampOf(this.path)
    const isSettled = stamp === this.#seen
    this.#seen = stamp
    if (!isSettled || stamp === this.#read) return undefined
    this.#read = stamp
    const keeps = 'the list stays as it was'
    try {
      if (statSync(resolve(this.path)).size > MOST_BYTES) return `${this.path} is larger than 1 MiB; ${keeps}`
      const entries = readList(readFileSync(resolve(this.path), 'utf8'), isPublicKey)
      return 'line' in entries ? `${this.path}:${entries.line} is no base58 key of 32 bytes; ${keeps}` : entries
    } catch (error) {
      return `${this.path} cannot be read (${(error as Error).message}); ${keeps}`
    }
  }
}

/** '' where there is no file. */
function stampOf(path: string): string {
  const stat = statSync(resolve(path), { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index])
}
