#!/usr/bin/env node
// Plain JavaScript, so that a Node too old for TypeScript still prints the message below.
import { existsSync, lstatSync, mkdirSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'

const version = process.versions.node.split('.').map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 18)) {
  process.stderr.write(
    'sluice needs Node >= 22.18, this is ' +
      process.versions.node +
      ': in the repository use `npm start` or `npx sluice`, which include a newer Node; elsewhere install Node >= 22.18\n',
  )
  process.exitCode = 2
} else {
  const [command, ...args] = process.argv.slice(2)
  if (['backtest', 'run', 'demo'].includes(command)) keepYoungGenerationSmall()
  if (command === 'backtest') collectLater(args.some((arg) => arg.startsWith('--out')))
  // The signer has the key, so it must not load compiled code from a cache: it loads only files of the installation.
  if (command !== 'signer') keepCompiledCode()
  // The repository runs its sources, never an outdated build.
  const source = new URL('../src/main.ts', import.meta.url)
  const installed = import.meta.url.indexOf('/node_modules/') >= 0
  void import(installed || !existsSync(source) ? '../dist/main.js' : source.href)
}

/** Lets V8's young generation (its space for new objects) keep its present size in all threads; by default it grows to
 *  70 MB. Most of what a live run allocates is short-lived, so a small one is enough. A backtest of few bots grows it
 *  once (`src/backtest/young-generation.ts`). Must run before other modules load, because V8 does not return this
 *  memory. */
function keepYoungGenerationSmall() {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets V8 collect garbage when the heap is three times the live data, or twice with `isWriting`. Less frequent
 *  collections would not be faster. V8 refuses code that was compiled under other flags, so the cache of compiled code
 *  has a folder for each set of flags. */
function collectLater(isWriting) {
  setFlagsFromString(`--heap-growing-percent=${isWriting ? 100 : 200}`)
}

/** Lets Node keep compiled code, which halves the processor time of a start. The folder must belong to this user, and
 *  no other user may write to it, because its content is executed. Without such a folder nothing is kept. */
function keepCompiledCode() {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice', 'compiled')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const path of [folder, join(folder, '..')]) {
      const found = lstatSync(path)
      const isOwn = process.getuid === undefined || found.uid === process.getuid()
      if (!found.isDirectory() || !isOwn || (found.mode & 0o022) !== 0) return
    }
    const { status } = module.enableCompileCache(folder)
    // A thread finds the folder only through this environment variable. Without compiled code, the thread would take
    // 0.3 s more processor time to start.
    if (status === module.constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = folder
  } catch {
    // The folder cannot be used, for example on a full or read-only disk. The program then runs without compiled code.
  }
}
