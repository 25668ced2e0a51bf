import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))
/** Folder in which Node keeps compiled code of Sluice and of the bare loops. The first run of each command fills it. */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/bench', import.meta.url))
/** Module that makes a process print its resource usage to stderr when it ends. */
const TELLS = `data:text/javascript,import{isMainThread}from'node:worker_threads';if(isMainThread)process.on('exit',()=>console.error('took '+JSON.stringify(process.resourceUsage())))`

/** Resources of a process from start to end, and its output. */
export interface CommandCost {
  readonly wallMs: number
  /** Processor time of all threads of the process, ms. */
  readonly processorMs: number
  /** Highest resident set. */
  readonly megabytes: number
  /** Output of the process, parsed as JSON. */
  readonly output: unknown
}

/** Runs a command of Sluice from the sources with `--json`, in a process of its own as a user does. Throws if the
 *  process fails. */
export function costOf(...args: readonly string[]): CommandCost {
  return costOfProcess({ XDG_CACHE_HOME: COMPILED, NODE_COMPILE_CACHE: '' }, PROGRAM, ...args, '--json')
}

/** Runs a script in a process of its own. Throws if the process fails. */
export function costOfScript(...args: readonly string[]): CommandCost {
  return costOfProcess({ NODE_COMPILE_CACHE: join(COMPILED, 'scripts') }, ...args)
}

function costOfProcess(env: Readonly<Record<string, string>>, ...args: readonly string[]): CommandCost {
  const began = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', TELLS, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 28,
  })
  const wallMs = performance.now() - began
  const told = /^took (\{.+\})$/m.exec(stderr)?.[1]
  if (status !== 0 || told === undefined) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(told) as NodeJS.ResourceUsage
  const processorMs = (userCPUTime + systemCPUTime) / 1000
  return { wallMs, processorMs, megabytes: maxRSS / 1024, output: JSON.parse(stdout) }
}
