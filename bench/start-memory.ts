// Measures the memory of `npm start`: npm, the bots with the desk, the sandbox and the signer. To run it alone: `npx
// node bench/start-memory.ts`.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Figure, isMain, printFigures } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SECONDS = 120
const MOST_MB = 300
const STARTS = [
  { name: 'first start of a clone', goal: {} },
  { name: 'later start', goal: { goal: MOST_MB, atMost: true } },
]

/** The process and its descendants. */
function treeOf(pid: number): number[] {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : []
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(treeOf)]
}

/** Resident memory of a process, MB. `own`: without mapped files. `files`: memory of each mapped file, by its path. */
interface Memory {
  own: number
  readonly files: Map<string, number>
}

function memoryOf(pid: number): Memory {
  const memory: Memory = { own: 0, files: new Map() }
  let path = ''
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const [first, ...rest] = line.split(/\s+/)
    const mb = Number(rest[0]) / 1024
    if (first?.includes('-')) path = rest[4] ?? ''
    else if (first === 'Rss:' && path.startsWith('/')) memory.files.set(path, (memory.files.get(path) ?? 0) + mb)
    else if (first === 'Rss:') memory.own += mb
  }
  return memory
}

/** Name of a process of the demo, by its arguments. */
function nameOf(pid: number): string {
  const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  if (args.includes('bin/sluice.js') && !args.startsWith('sh')) return 'bots and desk'
  if (args.includes('--permission')) return 'signer'
  return args.includes('sandbox') ? 'sandbox' : 'npm'
}

/** Adds up the memory of the demo's processes by their names, MB. Each file counts once, although several processes map
 *  it. (The proportional set size of Linux would depend on other processes of the machine that map the same files.) */
function memoryByName(pids: readonly number[]): Map<string, number> {
  const found = new Map<string, number>()
  const files = new Map<string, number>()
  for (const pid of pids) {
    const memory = memoryOf(pid)
    found.set(nameOf(pid), (found.get(nameOf(pid)) ?? 0) + memory.own)
    for (const [path, mb] of memory.files) files.set(path, Math.max(files.get(path) ?? 0, mb))
  }
  return found.set(
    'mapped files',
    [...files.values()].reduce((sum, mb) => sum + mb, 0),
  )
}

/** Starts the demo as a user does, waits, and returns the memory of its processes by their names, MB. `cache`: folder
 *  of compiled code. */
async function start(folder: string, cache: string, seconds: number): Promise<Map<string, number>> {
  // npx puts the folders `node_modules/.bin` first in PATH. With them, npm would run on the Node of this repository
  // instead of the user's.
  const path = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.endsWith('node_modules/.bin'))
  const demo: ChildProcess = spawn('npm', ['start', '--', '--journal', join(folder, `${Math.random()}.db`)], {
    ...{ cwd: ROOT, stdio: 'ignore', detached: true },
    env: { ...process.env, PATH: path.join(delimiter), XDG_CACHE_HOME: cache, NODE_COMPILE_CACHE: '' },
  })
  const ended = once(demo, 'exit')
  const { pid } = demo
  if (pid === undefined) throw new Error('npm does not start')
  await Promise.race([sleep(seconds * 1000), ended])
  const found = memoryByName(treeOf(pid))
  process.kill(-pid, 'SIGINT')
  await ended
  return found
}

export async function benchStartMemory(smoke = false): Promise<Figure[]> {
  if (process.platform !== 'linux') return []
  return inTemporaryFolder(async (folder) => {
    const figures: Figure[] = []
    for (const { name, goal } of STARTS) {
      process.stderr.write(`start-memory: ${name}\n`)
      const found = await start(folder, join(folder, 'cache'), smoke ? 8 : SECONDS)
      const figure = (what: string, mb: number): Figure => {
        return { name: `npm start, ${name}: ${what}`, unit: 'MB', median: mb, min: mb, max: mb }
      }
      for (const [what, mb] of found) figures.push(figure(what, mb))
      const all = [...found.values()].reduce((sum, mb) => sum + mb, 0)
      figures.push({ ...figure('all processes', all), ...goal })
    }
    return figures
  })
}

if (isMain(import.meta.url)) printFigures(await benchStartMemory(process.argv.includes('--smoke')))
