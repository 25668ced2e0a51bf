import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Ended } from './process.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A folder in which somebody works. */
export interface Project {
  readonly folder: string
  /** `sluice ...` there. */
  sluice(...args: string[]): Ended
  /** `node ...` there, which finds this repository as the package `sluice`. */
  node(...args: string[]): Ended
}

export function projectIn(folder: string): Project {
  const node = (...args: string[]): Ended => {
    const env = { ...process.env, NODE_OPTIONS: '', VITEST: '', NODE_TEST_CONTEXT: '', NO_COLOR: '1' }
    const options = { cwd: folder, encoding: 'utf8', env, timeout: 60_000 } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
    return { code: status, stdout, stderr }
  }
  return {
    folder,
    node: (...args) => node('--conditions', 'development', ...args),
    sluice: (...args) => node(join(ROOT, 'bin/sluice.js'), ...args),
  }
}

/** Stands in for `npm install`, which needs the registry. */
export function installHere({ folder }: Project): void {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/sluice'))
}
