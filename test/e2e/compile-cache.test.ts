import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { sluice } from './process.ts'

function environment(cache: string): Record<string, string> {
  return { XDG_CACHE_HOME: cache, NODE_COMPILE_CACHE: '' }
}

/**
 * Returns the number of files that a command leaves in a cache of compiled code. `prepare` may fill the cache before.
 */
async function filesAfter(args: readonly string[], prepare: (cache: string, outside: string) => unknown = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cache-'))
  const [cache, outside] = [join(folder, 'cache'), join(folder, 'outside')]
  mkdirSync(cache)
  mkdirSync(outside)
  try {
    await prepare(cache, outside)
    const { code, stderr } = await sluice(args, environment(cache))
    const compiled = join(cache, 'sluice', 'compiled')
    const mode = existsSync(compiled) ? statSync(compiled).mode & 0o777 : undefined
    const files = [compiled, outside].flatMap((path) => (existsSync(path) ? readdirSync(path) : []))
    return { code, stderr, mode, files: files.length }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.concurrent('Sluice keeps compiled code in a folder that only this user can read and write', async () => {
  expect(await filesAfter(['--version'])).toEqual({ code: 0, stderr: '', mode: 0o700, files: 1 })
})

test.concurrent('backtests keep their compiled code in a separate folder, because they use other V8 flags than other commands', async () => {
  const before = async (cache: string) => {
    for (const command of ['check', 'backtest']) await sluice([command, 'a.yaml'], environment(cache))
  }
  expect(await filesAfter(['backtest', 'a.yaml', '--out', 'a'], before)).toMatchObject({ code: 2, files: 3 })
})

/** Code that a process loads. It prints the folder of compiled code in each thread of the process. */
const TELLS = `import m from 'node:module';import{isMainThread}from'node:worker_threads';if(!isMainThread)console.error('thread '+m.getCompileCacheDir())`

test.concurrent('the threads of a command use the same folder for compiled code as the command', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cache-'))
  try {
    await writeTape(join(folder, 'tape.db'), [
      { time: 1_780_000_000_000, items: noisyMarket(50, 2, 1_780_000_000_000) },
    ])
    writeFileSync(
      join(folder, 'bots.yaml'),
      'service: sandbox\nbots: [{ name: dips, strategy: dip-buyer, exits: none }]\n',
    )
    const args = ['sweep', join(folder, 'bots.yaml'), '--journal', join(folder, 'tape.db'), '--partial', '--jobs', '2']
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(TELLS)}`
    const { code, stderr } = await sluice([...args, '--range', 'dropPercent=10,20'], {
      ...environment(folder),
      NODE_OPTIONS,
    })
    expect(code, stderr).toBe(0)
    const kept = stderr.match(/^thread .*$/gm) ?? []
    expect(kept.length).toBeGreaterThan(0)
    for (const line of kept) expect(line).toContain(join(folder, 'sluice', 'compiled'))
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.concurrent.each<[what: string, prepare: (cache: string, outside: string) => void]>([
  [
    'a folder that others may write',
    (cache) => {
      mkdirSync(join(cache, 'sluice', 'compiled'), { recursive: true })
      chmodSync(join(cache, 'sluice', 'compiled'), 0o777)
    },
  ],
  [
    'a folder inside a folder that others may write',
    (cache) => {
      mkdirSync(join(cache, 'sluice', 'compiled'), { recursive: true, mode: 0o700 })
      chmodSync(join(cache, 'sluice'), 0o777)
    },
  ],
  [
    'a folder that is a link',
    (cache, outside) => {
      mkdirSync(join(cache, 'sluice'), { mode: 0o700 })
      symlinkSync(outside, join(cache, 'sluice', 'compiled'))
    },
  ],
  ['a folder that cannot be created', (cache) => rmSync(cache, { recursive: true }) ?? symlinkSync('/dev/null', cache)],
])('a command runs and stores no compiled code in %s', async (_what, prepare) => {
  expect(await filesAfter(['--version'], prepare)).toMatchObject({ code: 0, stderr: '', files: 0 })
})

test.concurrent('the signer uses no stored compiled code', async () => {
  expect(await filesAfter(['signer', '--help'])).toMatchObject({ code: 0, files: 0 })
})
