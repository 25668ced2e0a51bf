import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Commands find the processes of their user: those that this test starts, and none of another test, nor of whoever runs
// the tests.
const path = join(tmpdir(), `sluice-runtime-${process.pid}`)
if (process.env.XDG_RUNTIME_DIR !== path) {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  process.env.XDG_RUNTIME_DIR = path
  process.once('exit', () => rmSync(path, { recursive: true, force: true }))
}
