import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { called } from './called.ts'
import type { Ended } from './process.ts'

const ROOT = join(import.meta.dirname, '../..')
const SLUICE = join(ROOT, 'bin/sluice.js')
const ENV = { ...process.env, NODE_OPTIONS: '', VITEST: '', NODE_TEST_CONTEXT: '', NO_COLOR: '1' }

type Env = Readonly<Record<string, string>>

/** A folder of a user. */
export class Project {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Runs `sluice ...` in it. */
  sluice(...args: string[]): Promise<Ended> {
    return called(args, this.folder)
  }

  /** Runs its tests without npm. */
  test(env: Env = {}): Ended {
    const run = ['--conditions', 'development', '--test-isolation=none', '--test', 'strategies/**/*.test.ts']
    return this.#node(run, env)
  }

  /** Runs a process to its end. */
  process(...args: string[]): Ended {
    return this.#node([SLUICE, ...args])
  }

  /** Starts a process that runs until it is stopped. */
  start(...args: string[]): ChildProcess {
    return spawn(process.execPath, [SLUICE, ...args], { cwd: this.folder, env: ENV, stdio: 'ignore' })
  }

  /** Replaces `npm install`, which needs the registry: links this repository as the package `sluice`. */
  install(): void {
    mkdirSync(join(this.folder, 'node_modules'))
    symlinkSync(ROOT, join(this.folder, 'node_modules/sluice'))
  }

  #node(args: readonly string[], env: Env = {}): Ended {
    const options = { cwd: this.folder, encoding: 'utf8', env: { ...ENV, ...env } } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
    return { code: status, stdout, stderr }
  }
}
