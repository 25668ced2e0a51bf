import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Figure, isMain, pairs, printFigures } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const RUNS = 41
const SHIPPED = ['bin', 'package.json']
const CONFIGS = ['tsconfig.json', 'tsconfig.build.json', 'tsconfig.build-strategies.json']
const BUILT_FROM = ['src', 'strategies', 'scripts', ...CONFIGS]

/** Builds the package in a copy of the repository and installs it as npm does, because only an installed package runs
 *  compiled code. Returns the path of the program `sluice`. */
function install(folder: string): string {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const built = join(folder, 'built')
  const installed = join(folder, 'node_modules', 'sluice')
  for (const name of [...SHIPPED, ...BUILT_FROM]) cpSync(join(root, name), join(built, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(built, 'node_modules'), 'dir')
  const { status } = spawnSync(process.execPath, [join(built, 'scripts', 'build.ts')], { stdio: 'inherit' })
  if (status !== 0) throw new Error('the package does not build')
  for (const name of [...SHIPPED, 'dist']) cpSync(join(built, name), join(installed, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'), 'dir')
  return join(installed, 'bin', 'sluice.js')
}

/** Duration of a whole process, milliseconds. */
function wallMs(...args: string[]): number {
  const began = performance.now()
  const { status } = spawnSync(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`)
  return performance.now() - began
}

export async function benchStart(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const bin = install(folder)
    const found = await pairs(
      smoke ? 1 : RUNS,
      () => wallMs(bin, '--help'),
      () => wallMs('-e', '0'),
    )
    return [
      { name: 'node -e 0', unit: 'ms', ...found.bare },
      { name: 'sluice --help, built', unit: 'ms', ...found.ours },
      { name: 'sluice --help, built', unit: 'x node -e 0', goal: 1.5, atMost: true, ...found.ratio },
    ]
  })
}

if (isMain(import.meta.url)) printFigures(await benchStart())
