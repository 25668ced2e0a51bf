#!/usr/bin/env node
// Plain JavaScript, so that a Node too old for TypeScript still prints the message below.
import { existsSync } from 'node:fs'

const version = process.versions.node.split('.').map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 18)) {
  process.stderr.write(
    'sluice needs Node >= 22.18, this is ' +
      process.versions.node +
      ': in the repository use `npm start` or `npx sluice`, which include a newer Node; elsewhere install Node >= 22.18\n',
  )
  process.exitCode = 2
} else {
  // The repository runs its sources, never an outdated build.
  const source = new URL('../src/main.ts', import.meta.url)
  const installed = import.meta.url.indexOf('/node_modules/') >= 0
  void import(installed || !existsSync(source) ? '../dist/main.js' : source.href)
}
