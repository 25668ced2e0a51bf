import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** Makes a process print its resource usage when it ends. */
const TELLS = `data:text/javascript,process.on('exit',()=>console.error('took '+JSON.stringify(process.resourceUsage())))`

/** Resources of a command from start to end. */
export interface CommandCost {
  /** Highest resident set. */
  readonly megabytes: number
  /** Processor time of all its threads. */
  readonly processorMs: number
}

/** Runs a command of the sources with `--json`, as a user does. Throws if it fails. */
export function costOf(...args: readonly string[]): CommandCost {
  const { status, stderr } = spawnSync(process.execPath, ['--import', TELLS, MAIN, ...args, '--json'], {
    encoding: 'utf8',
  })
  const told = /^took (\{.+\})$/m.exec(stderr)?.[1]
  if (status !== 0 || told === undefined) throw new Error(`${args[0]} ended with ${status}: ${stderr}`)
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(told) as NodeJS.ResourceUsage
  return { megabytes: maxRSS / 1024, processorMs: (userCPUTime + systemCPUTime) / 1000 }
}
