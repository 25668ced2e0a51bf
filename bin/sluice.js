#!/usr/bin/env node
// JavaScript on purpose: a Node too old for the sources must get as far as the line that says what to do.
import { existsSync } from 'node:fs'

const version = process.versions.node.split('.').map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 18)) {
  process.stderr.write(
    'sluice needs Node >= 22.18, this is ' +
      process.versions.node +
      ': in the repository use `npm start` or `npx sluice` (they bring their own Node), elsewhere install Node >= 22.18\n',
  )
  process.exitCode = 2
} else {
  // In the repository the sources always win, so that nobody runs a stale build.
  const source = new URL('../src/main.ts', import.meta.url)
  const installed = import.meta.url.indexOf('/node_modules/') >= 0
  void import(installed || !existsSync(source) ? '../dist/main.js' : source.href)
}
