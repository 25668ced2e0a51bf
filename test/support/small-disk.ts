import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of limited size, and another program that fills it. */
export interface SmallDisk {
  readonly folder: string
  freeBytes(): number
  /** Acts as another program that fills the disk: appends to a file until only `freeBytes` bytes are free. */
  fillTo(freeBytes: number): void
  /** Removes the file with which the other program fills the disk. */
  empty(): void
  unmount(): void
}

/** Puts the temporary files of `open` on this disk. */
export async function onDisk<T>({ folder }: SmallDisk, open: () => Promise<T>): Promise<T> {
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  try {
    return await open()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

/**
 * Mounts a disk in memory, or ext4 on a loop device with SLUICE_SMALL_DISK=ext4. Returns the reason as a text if the
 * machine does not allow it.
 */
export function mountSmallDisk(mebibytes: number): SmallDisk | string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-small-disk-'))
  const mount =
    process.env.SLUICE_SMALL_DISK === 'ext4' ? mountImage(mebibytes, folder) : mountMemory(mebibytes, folder)
  if (mount.status !== 0) {
    rmSync(folder, { recursive: true })
    return mount.error?.message ?? mount.stderr.trim()
  }
  const path = join(folder, 'of-another-program')
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  return {
    folder,
    freeBytes,
    fillTo: (bytes) => append(path, () => freeBytes() - bytes),
    empty: () => rmSync(path, { force: true }),
    unmount: () => {
      spawnSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function mountMemory(mebibytes: number, folder: string): SpawnSyncReturns<string> {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { encoding: 'utf8' })
}

/** The file of the image is deleted once it is mounted, and its space is freed with the mount. */
function mountImage(mebibytes: number, folder: string): SpawnSyncReturns<string> {
  const image = `${folder}.ext4`
  writeFileSync(image, '')
  truncateSync(image, mebibytes * 2 ** 20)
  const made = spawnSync('mkfs.ext4', ['-q', '-F', '-m', '0', image], { encoding: 'utf8' })
  const mount = made.status === 0 ? spawnSync('mount', ['-o', 'loop', image, folder], { encoding: 'utf8' }) : made
  rmSync(image)
  return mount
}

const LARGE = Buffer.alloc(2 ** 20)

function append(path: string, left: () => number): void {
  const file = openSync(path, 'a')
  try {
    for (let more = left(); more > 0; more = left()) writeSync(file, LARGE, 0, Math.min(LARGE.length, more))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}
