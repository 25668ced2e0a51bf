#!/usr/bin/env node
// Plain JavaScript, so that a Node too old for TypeScript still prints the message below.
import { existsSync, lstatSync, mkdirSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const version = process.versions.node.split('.').map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 18)) {
  process.stderr.write(
    'sluice needs Node >= 22.18, this is ' +
      process.versions.node +
      ': in the repository use `npm start` or `npx sluice`, which include a newer Node; elsewhere install Node >= 22.18\n',
  )
  process.exitCode = 2
} else {
  // The signer holds the key, so it loads no code but that of the installation.
  if (process.argv[2] !== 'signer') keepCompiledCode()
  // The repository runs its sources, never an outdated build.
  const source = new URL('../src/main.ts', import.meta.url)
  const installed = import.meta.url.indexOf('/node_modules/') >= 0
  void import(installed || !existsSync(source) ? '../dist/main.js' : source.href)
}

/** Lets Node keep compiled code, which halves the processor time of a start. The folder must belong to this user, and no
 *  other user may write to it, because its content is executed. Without such a folder nothing is kept. */
function keepCompiledCode() {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice', 'compiled')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const path of [folder, join(folder, '..')]) {
      const found = lstatSync(path)
      const isOwn = process.getuid === undefined || found.uid === process.getuid()
      if (!found.isDirectory() || !isOwn || (found.mode & 0o022) !== 0) return
    }
    module.enableCompileCache(folder)
  } catch {
    // A disk that is full or read-only, or a user without a home.
  }
}
