import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Gives each test its own runtime directory, so that commands find only the processes that the test started.
const path = join(tmpdir(), `sluice-runtime-${process.pid}`)
if (process.env.XDG_RUNTIME_DIR !== path) {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  process.env.XDG_RUNTIME_DIR = path
  process.once('exit', () => rmSync(path, { recursive: true, force: true }))
}
