import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path/posix'
import type { Cancel } from '../base/machine.ts'
import type { Config } from '../config/config.ts'
import type { Input } from '../engine/messages.ts'
import type { Log } from '../runtime/log.ts'
import { isPublicKey, readList } from '../solana/base58.ts'

/** The lists of the entry filters. While bots run, a list is updated when its file changes. */
export class FilterLists {
  /** Problems of files that have become invalid, by path. Bots keep using the last valid list. */
  readonly broken = new Map<string, string>()

  /** Watches the files. `alert` is called when a file becomes invalid. */
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
  /** Called when the file becomes invalid, and again when the reason changes. */
  broken(path: string, problem: string): void
  /** Called when the file is valid again. */
  mended(path: string): void
}

/** Watches files that contain keys. A changed file is read again when it is the same in two consecutive checks. If the
 *  file is unreadable or contains an invalid key, the list stays unchanged. `lists`: the entries that were last read,
 *  by path. */
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
  /** Stamp of the file when it was last read (`#read`), and at the last check (`#seen`); see `stampOf`. */
  #read: string | undefined
  #seen: string | undefined

  constructor(path: string) {
    this.path = path
  }

  /** Checks the file. Returns its entries if it changed, its problem if it became invalid, else undefined. */
  look(): readonly string[] | string | undefined {
    const stamp = stampOf(this.path)
    const isSettled = stamp === this.#seen
    this.#seen = stamp
    if (!isSettled || stamp === this.#read) return undefined
    this.#read = stamp
    const keeps = 'the list stays unchanged'
    try {
      if (statSync(resolve(this.path)).size > MOST_BYTES) return `${this.path} is larger than 1 MiB; ${keeps}`
      const entries = readList(readFileSync(resolve(this.path), 'utf8'), isPublicKey)
      return 'line' in entries ? `${this.path}:${entries.line} is not a base58 key of 32 bytes; ${keeps}` : entries
    } catch (error) {
      return `${this.path} cannot be read (${(error as Error).message}); ${keeps}`
    }
  }
}

/** Returns a text that changes whenever the file changes; '' if the file does not exist. */
function stampOf(path: string): string {
  const stat = statSync(resolve(path), { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index])
}
