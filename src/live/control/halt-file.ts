import { lstatSync } from 'node:fs'
import { userInfo } from 'node:os'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Cancel } from '../../base/machine.ts'

const LOOK_EVERY_MS = 500

/** Throws a SluiceError (exit 4) if the file exists. Called before entries are resumed, because the file would halt
 *  them again. */
export function requireNoHaltFile(path: string): void {
  if (isOurHaltFile(path)) throw new SluiceError(`the file ${path} exists: remove it first`, ExitCode.unsafe)
}

/** Whether the file is a regular file of this user. In a shared folder, a file of another user must not halt the
 *  bots. */
function isOurHaltFile(path: string): boolean {
  return ownerOf(path) === userInfo().uid
}

/** Calls `halt` when the file appears or already exists. Removing the file does not end the halt. Polls twice a second,
 *  because a folder watch costs more and misses changes on network drives. */
export function watchHaltFile(path: string, halt: () => void, warn: (message: string) => void): Cancel {
  let seen: number | undefined
  const look = (): void => {
    const owner = ownerOf(path)
    if (owner === seen) return
    seen = owner
    if (owner === userInfo().uid) halt()
    else if (owner !== undefined)
      warn(`${path} is not a regular file of this user, so the process ignores it and entries continue`)
  }
  look()
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** User id of the file's owner; undefined if there is no file, -1 if it is not a regular file. */
function ownerOf(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  return stat.isFile() ? stat.uid : -1
}
