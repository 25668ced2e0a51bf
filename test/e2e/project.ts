import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { called } from './called.ts'
import type { Ended } from './process.ts'

const ROOT = join(import.meta.dirname, '../..')
const SLUICE = join(ROOT, 'bin/sluice.js')
const ENV = { ...process.env, NODE_OPTIONS: '', VITEST: '', NODE_TEST_CONTEXT: '', NO_COLOR: '1' }

/** A project of a user in a folder of its own. */
export class Project {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Runs `sluice ...` in the folder. */
  sluice(...args: string[]): Promise<Ended> {
    return called(args, this.folder)
  }

  /** Runs `sluice test ...` with all files in one process, because each further process loads the sources again. */
  test(args: readonly string[]): Ended {
    return this.#run(args, { ...ENV, NODE_OPTIONS: '--test-isolation=none' })
  }

  /** Runs a process until it ends. */
  process(...args: string[]): Ended {
    return this.#run(args, ENV)
  }

  /** Starts a process that runs until it is stopped. Its output is read, and a test can listen to it. */
  start(...args: string[]): ChildProcess {
    const stdio = ['ignore', 'pipe', 'ignore'] as const
    const child = spawn(process.execPath, [SLUICE, ...args], { cwd: this.folder, env: ENV, stdio: [...stdio] })
    child.stdout?.on('data', () => {})
    return child
  }

  /** Replaces `npm install`, which needs the registry: links this repository as the package `sluice`. */
  install(): void {
    mkdirSync(join(this.folder, 'node_modules'))
    symlinkSync(ROOT, join(this.folder, 'node_modules/sluice'))
  }

  #run(args: readonly string[], env: NodeJS.ProcessEnv): Ended {
    const options = { cwd: this.folder, encoding: 'utf8', env } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [SLUICE, ...args], options)
    return { code: status, stdout, stderr }
  }
}
