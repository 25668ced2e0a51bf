import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** ample: all is written. noTape: market rows are not. noEntries: nothing may be bought either. full: the disk has
 *  refused a write, so only what is about money is written, into space that the journal reserved. stuck: that is used
 *  up too; what is decided waits. */
export type Space = 'ample' | 'noTape' | 'noEntries' | 'full' | 'stuck'

export interface SpaceReport {
  readonly state: Space
  /** As the disk says. */
  readonly freeBytes: number
}

export interface SpaceLimits {
  /** Bytes free on the journal's disk below which the tape stops. */
  readonly tapeBytes: number
  /** Bytes free below which entries stop. */
  readonly entryBytes: number
  /** Size of the reserve for exits, see Reserve; 0 for none. */
  readonly reserveBytes: number
}

export const SPACE_LIMITS: SpaceLimits = {
  tapeBytes: 512 * 2 ** 20,
  entryBytes: 128 * 2 ** 20,
  reserveBytes: 16 * 2 ** 20,
}

/** What is short comes back only well above its limit, so that it does not flicker. */
const COMES_BACK_ABOVE = 1.25

/** What the room on the disk allows. */
export class DiskSpace {
  state: Space = 'ample'
  readonly #limits: SpaceLimits
  readonly #freeBytes: () => number

  constructor(path: string, limits: SpaceLimits, freeBytes = () => freeBytesOf(dirname(path))) {
    this.#limits = limits
    this.#freeBytes = freeBytes
  }

  get report(): SpaceReport {
    return { state: this.state, freeBytes: this.#freeBytes() }
  }

  /** Reads what is free. Entries come back only where the disk also gives what it says to have: `gives`. */
  look(gives: () => boolean): void {
    const next = this.#stateAt(this.#freeBytes())
    const wasRefused = this.state === 'full' || this.state === 'stuck'
    if (next === 'noEntries') this.state = wasRefused ? this.state : next
    else if (!(wasRefused || this.state === 'noEntries') || gives()) this.state = next
  }

  #stateAt(free: number): Space {
    const { tapeBytes, entryBytes } = this.#limits
    const isRecording = this.state === 'ample'
    const isBuying = isRecording || this.state === 'noTape'
    if (free < (isBuying ? entryBytes : entryBytes * COMES_BACK_ABOVE)) return 'noEntries'
    return free < (isRecording ? tapeBytes : tapeBytes * COMES_BACK_ABOVE) ? 'noTape' : 'ample'
  }
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
