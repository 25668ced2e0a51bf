import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const SAVES = 21
const PAUSE_MS = 1500
const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Measures how long a process of `sluice dev` takes from a save of the strategy until it prints the line about the
 *  first market row that the new code has handled. */
export async function benchDev(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const file = join(folder, 'dips.ts')
    const text = readFileSync(join(ROOT, 'strategies/dip-buyer.ts'), 'utf8')
    writeFileSync(file, text)
    const dev = spawn(process.execPath, [join(ROOT, 'bin/sluice.js'), 'dev', file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    await lineOf(dev, /net result/)
    const times: number[] = []
    for (let save = 1; save <= (smoke ? 2 : SAVES); save++) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      const shown = lineOf(dev, /first event, \d+ ms after the save/)
      const savedAt = performance.now()
      writeFileSync(file, `${text}// save ${save}\n`)
      await shown
      times.push(performance.now() - savedAt)
    }
    dev.kill('SIGINT')
    await once(dev, 'exit')
    return [{ name: 'dev, save to first event', unit: 'ms', goal: 300, atMost: true, ...summarize(times) }]
  })
}

async function lineOf(dev: ChildProcess, text: RegExp): Promise<void> {
  let seen = ''
  for (;;) {
    const [chunk] = (await once(dev.stdout as NonNullable<ChildProcess['stdout']>, 'data')) as [Buffer]
    seen += chunk.toString()
    if (text.test(seen)) return
  }
}

if (isMain(import.meta.url)) printFigures(await benchDev())
