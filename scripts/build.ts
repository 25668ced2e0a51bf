// Builds dist/ for the published package: the sources, then the shipped strategies against the types just built.
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')

function compile(project: string): void {
  const { status } = spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

rmSync(dist, { recursive: true, force: true })
compile('tsconfig.build.json')
compile('tsconfig.build-strategies.json')

// The compiler renames what is imported, not the modules that a worker or a child starts by URL.
const startedByUrl = /(new URL\((['"])\.[^'"]*)\.ts\2, import\.meta\.url\)/g
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.js')) continue
  const path = join(dist, name)
  const text = readFileSync(path, 'utf8')
  const renamed = text.replaceAll(startedByUrl, '$1.js$2, import.meta.url)')
  if (renamed !== text) writeFileSync(path, renamed)
}

// What the compiler leaves behind: the sandbox's programs, which are read beside the module that knows them.
const programs = join('sandbox', 'bpf')
cpSync(join(root, 'src', programs), join(dist, programs), {
  recursive: true,
  filter: (path) => !/\.[ch]$/.test(path),
})
