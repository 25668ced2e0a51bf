import { lstatSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Cancel } from '../../base/machine.ts'

const LOOK_EVERY_MS = 500

/** A regular file of the user that runs us: nobody else may stop the process by leaving one in a shared folder. */
export function isOurHaltFile(path: string): boolean {
  return ownerOf(path) === userInfo().uid
}

/** Calls `halt` when the file appears, or is there already. Its removal resumes nothing. Looks twice a second: a folder
 *  watch costs more and misses what happens on network drives. */
export function watchHaltFile(path: string, halt: () => void, warn: (message: string) => void): Cancel {
  let seen: number | undefined
  const look = (): void => {
    const owner = ownerOf(path)
    if (owner === seen) return
    seen = owner
    if (owner === userInfo().uid) halt()
    else if (owner !== undefined) warn(`${path} is not a file of ours, so it does not halt`)
  }
  look()
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** undefined: no such file; -1: something else than a regular file. */
function ownerOf(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  return stat.isFile() ? stat.uid : -1
}
