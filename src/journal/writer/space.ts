import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** State of the disk space.
 *  - ample: everything is written.
 *  - noTape: market rows are not written.
 *  - noEntries: market rows are not written, and buys are stopped.
 *  - full: the disk has refused a write, so only records about money are written, into reserved space.
 *  - stuck: the reserved space is used up too, and decisions wait. */
export type Space = 'ample' | 'noTape' | 'noEntries' | 'full' | 'stuck'

export interface SpaceReport {
  readonly state: Space
  /** Free bytes, as the file system reports them. */
  readonly freeBytes: number
}

/** Size of the journal's files, and free space on their disk. */
export interface DiskUsage {
  readonly bytes: number
  readonly freeBytes: number
}

/** Returns the size of a journal's file and log. */
export function usageOf(path: string, { freeBytes }: Pick<SpaceReport, 'freeBytes'>): DiskUsage {
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return { bytes: sizeOf(path) + sizeOf(`${path}-wal`), freeBytes }
}

export interface SpaceLimits {
  /** Free bytes below which the tape is no longer written. */
  readonly tapeBytes: number
  /** Free bytes below which buys are stopped. */
  readonly entryBytes: number
  /** Size of the reserve for exits, see `Reserve`; 0 for no reserve. */
  readonly reserveBytes: number
}

export const SPACE_LIMITS: SpaceLimits = {
  tapeBytes: 512 * 2 ** 20,
  entryBytes: 128 * 2 ** 20,
  reserveBytes: 16 * 2 ** 20,
}

/** If the free space was below a limit, it must exceed the limit multiplied by this factor before the state
 *  improves. */
export const COMES_BACK_ABOVE = 1.25

/** Decides what may be written with the free disk space. */
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

  /** Reads the free space and updates the state. After a refused write, and while buys are stopped, the reported free
   *  space is not trusted: the state improves only if `gives` returns true, because the disk really provided the
   *  space. */
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

export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
