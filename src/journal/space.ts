import { closeSync, existsSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** ample: all is written. noTape: market rows are not. noEntries: nothing may be bought either; the reserve is given up, so that what is
 *  already held can be sold and journaled. */
export type Space = 'ample' | 'noTape' | 'noEntries'

export interface SpaceLimits {
  /** Bytes free on the journal's disk below which the tape stops. */
  readonly tapeBytes: number
  /** Bytes free below which entries stop. */
  readonly entryBytes: number
  /** Size of the file that keeps room for exits; 0 for none. */
  readonly reserveBytes: number
}

export const SPACE_LIMITS: SpaceLimits = {
  tapeBytes: 512 * 2 ** 20,
  entryBytes: 128 * 2 ** 20,
  reserveBytes: 16 * 2 ** 20,
}

/** What is short comes back only well above its limit, so that it does not flicker. */
const COMES_BACK_ABOVE = 1.25

/** Looks at the disk, and keeps a file beside the journal that can be given up when it is full. */
export class DiskSpace {
  state: Space = 'ample'
  readonly #path: string
  readonly #limits: SpaceLimits
  readonly #freeBytes: () => number

  constructor(path: string, limits: SpaceLimits, freeBytes = () => freeBytesOf(dirname(path))) {
    this.#path = `${path}.reserve`
    this.#limits = limits
    this.#freeBytes = freeBytes
    this.look()
  }

  /** Reads what is free; true when the state has changed. */
  look(): boolean {
    const before = this.state
    this.state = this.#stateAt(this.#freeBytes())
    if (this.state === 'noEntries') this.release()
    if (this.state === 'ample') this.#keepReserve()
    return this.state !== before
  }

  /** Gives the reserve back to the disk; false when there was none. */
  release(): boolean {
    const had = existsSync(this.#path)
    rmSync(this.#path, { force: true })
    return had
  }

  /** A write that the disk refused: whatever is said to be free, buying is over until there is room. */
  ranOut(): void {
    this.state = 'noEntries'
  }

  #stateAt(free: number): Space {
    const { tapeBytes, entryBytes } = this.#limits
    const entriesNeed = this.state === 'noEntries' ? entryBytes * COMES_BACK_ABOVE : entryBytes
    const tapeNeeds = this.state === 'ample' ? tapeBytes : tapeBytes * COMES_BACK_ABOVE
    if (free < entriesNeed) return 'noEntries'
    return free < tapeNeeds ? 'noTape' : 'ample'
  }

  /** Zeros that are really written: a file with a hole would reserve nothing. */
  #keepReserve(): void {
    const { reserveBytes } = this.#limits
    if (reserveBytes === 0 || (existsSync(this.#path) && statSync(this.#path).size >= reserveBytes)) return
    const file = openSync(this.#path, 'w', 0o600)
    const zeros = Buffer.alloc(2 ** 20)
    try {
      for (let left = reserveBytes; left > 0; left -= zeros.length)
        writeSync(file, zeros, 0, Math.min(left, zeros.length))
    } catch (error) {
      rmSync(this.#path, { force: true })
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(file)
    }
  }
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
