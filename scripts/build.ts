// Builds dist/ for the published package: the sources, then the shipped strategies against the types just built.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packedName, pageFiles } from '../src/desk/page-files.ts'
import { joinLibraries } from './join-libraries.ts'

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

// The compiler renames imported modules, but not the modules that a worker or a child process starts by URL.
const startedByUrl = /(new URL\((['"])\.[^'"]*)\.ts\2, import\.meta\.url\)/g
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.js')) continue
  const path = join(dist, name)
  const text = readFileSync(path, 'utf8')
  const renamed = text.replaceAll(startedByUrl, '$1.js$2, import.meta.url)')
  if (renamed !== text) writeFileSync(path, renamed)
}

// Copies the sandbox's on-chain programs, which are not TypeScript. The modules that describe the programs read them
// from their own folder.
const programs = join('sandbox', 'bpf')
cpSync(join(root, 'src', programs), join(dist, programs), {
  recursive: true,
  filter: (path) => !/\.[ch]$/.test(path),
})

// Copies the two files of prom-client that the metrics need. The published package then does not depend on prom-client,
// so less foreign code is installed on the computer that holds a wallet's key.
const promClient = dirname(createRequire(import.meta.url).resolve('prom-client/package.json'))
const packed = join(dist, 'desk', 'metrics', 'prom-client')
for (const name of ['lib/registry.js', 'lib/util.js', 'LICENSE'])
  cpSync(join(promClient, name), join(packed, basename(name)))
writeFileSync(join(packed, 'package.json'), '{ "type": "commonjs" }\n')

await joinLibraries(join(dist, 'libraries'))

// Writes the page of the desk together with its libraries, so that an installation does not need the libraries'
// packages.
for (const [url, { body }] of await pageFiles()) {
  const path = join(dist, 'desk', 'page', packedName(url))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, body)
}
