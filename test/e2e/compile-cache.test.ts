import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sluice } from './process.ts'

/** Number of files that a command leaves in a cache. `prepare` may have filled the cache before. */
async function filesAfter(args: readonly string[], prepare: (cache: string, outside: string) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cache-'))
  const [cache, outside] = [join(folder, 'cache'), join(folder, 'outside')]
  mkdirSync(cache)
  mkdirSync(outside)
  try {
    prepare(cache, outside)
    const { code, stderr } = await sluice(args, { XDG_CACHE_HOME: cache, NODE_COMPILE_CACHE: '' })
    const compiled = join(cache, 'sluice', 'compiled')
    const mode = existsSync(compiled) ? statSync(compiled).mode & 0o777 : undefined
    const files = [compiled, outside].flatMap((path) => (existsSync(path) ? readdirSync(path) : []))
    return { code, stderr, mode, files: files.length }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.concurrent('compiled code is kept in a folder that only this user can read and write', async () => {
  expect(await filesAfter(['--version'])).toEqual({ code: 0, stderr: '', mode: 0o700, files: 1 })
})

test.concurrent.each<[what: string, prepare: (cache: string, outside: string) => void]>([
  [
    'that others may write',
    (cache) => {
      mkdirSync(join(cache, 'sluice', 'compiled'), { recursive: true })
      chmodSync(join(cache, 'sluice', 'compiled'), 0o777)
    },
  ],
  [
    'below one that others may write',
    (cache) => {
      mkdirSync(join(cache, 'sluice', 'compiled'), { recursive: true, mode: 0o700 })
      chmodSync(join(cache, 'sluice'), 0o777)
    },
  ],
  [
    'that is a link',
    (cache, outside) => {
      mkdirSync(join(cache, 'sluice'), { mode: 0o700 })
      symlinkSync(outside, join(cache, 'sluice', 'compiled'))
    },
  ],
  ['that cannot be made', (cache) => rmSync(cache, { recursive: true }) ?? symlinkSync('/dev/null', cache)],
])('a folder %s is not used, and the command runs', async (_what, prepare) => {
  expect(await filesAfter(['--version'], prepare)).toMatchObject({ code: 0, stderr: '', files: 0 })
})

test.concurrent('the signer uses no kept code', async () => {
  expect(await filesAfter(['signer', '--help'])).toMatchObject({ code: 0, files: 0 })
})
