import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { dirname, join, resolve } from 'node:path/posix'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { NewFiles } from './new-files.ts'
import { strategyTestText, strategyText } from './strategy-files.ts'

const STRATEGY = 'my-strategy'
const CONFIG = 'bots.yaml'
/** Written once the strategy is there. */
export const SCHEMA = 'sluice.schema.json'
/** Scripts of these packages may run on installation; the others' are not needed. */
const ALLOWED_SCRIPTS = { node: true, 'better-sqlite3': false, bufferutil: false, 'utf-8-validate': false }

/** What npm, the editor and git need, one bot on the embedded sandbox, its strategy and the test of that. `folder`:
 *  absolute; `sluice`: how npm gets it; `versions`: exact ones of what a project needs beside it. */
export function projectFiles(folder: string, sluice: string, versions: Readonly<Record<string, string>>): NewFiles {
  return {
    'package.json': manifest(folder, sluice, versions),
    'tsconfig.json': json(TSCONFIG),
    [CONFIG]: configText(),
    [`strategies/${STRATEGY}.ts`]: strategyText(STRATEGY),
    [`strategies/${STRATEGY}.test.ts`]: strategyTestText(`./${STRATEGY}.ts`, 'node:test'),
    '.gitignore': GITIGNORE,
    'README.md': readme(basename(folder)),
  }
}

const GITIGNORE = `node_modules/
# journals: every order and fill
data/
*.db*
.env
`

function manifest(folder: string, sluice: string, versions: Readonly<Record<string, string>>): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return json({
    name: name || 'bots',
    private: true,
    type: 'module',
    scripts: {
      test: 'node --test "strategies/**/*.test.ts"',
      types: 'tsc',
      check: `sluice check ${CONFIG}`,
      start: `sluice run ${CONFIG}`,
      schema: `sluice schema --out ${SCHEMA}`,
    },
    allowScripts: ALLOWED_SCRIPTS,
    dependencies: { sluice },
    devDependencies: versions,
  })
}

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2024', lib: ['es2024'], types: ['node'], module: 'nodenext' },
    ...{ allowImportingTsExtensions: true, verbatimModuleSyntax: true, erasableSyntaxOnly: true, noEmit: true },
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
  },
  include: ['strategies'],
}

function configText(): string {
  return `# yaml-language-server: $schema=./${SCHEMA}
# \`npx sluice check ${CONFIG}\` says what is wrong with it, and the worst that it allows.
service: sandbox # a market and a chain on this machine: no account, no key, no money
# The real one, for paper and for live. A secret is env:NAME or file:PATH, never a value:
# service:
#   baseUrl: https://service.example/api
#   wsUrl: wss://service.example/api/data
#   apiKey: env:SLUICE_API_KEY

journal: { path: data/sluice.db }

bots:
  - name: first
    strategy: ${STRATEGY} # strategies/${STRATEGY}.ts
    params: { risePercent: 10, sizeSol: 0.05 }
    mode: paper # simulated fills
    exits: { stopLossPercent: 20, trailingPercent: 25, maxHoldSeconds: 120 }
    limits: { maxSolPerOrder: 0.1, maxSolPerHour: 1, maxOpenPositions: 5, maxSolPerMint: 0.1, maxDailyLossSol: 0.5 }
`
}

function readme(name: string): string {
  return `# ${name}

Bots on [Sluice](node_modules/sluice/README.md), whose [documents](node_modules/sluice/docs/README.md) say how to do what.
\`npm install\` brings Sluice and a Node of its own; then:

\`\`\`sh
npm test                                                  # the strategy's test
npx sluice check ${CONFIG}                              # what is wrong, and the worst that it allows
npx sluice run ${CONFIG}                                # paper, on the embedded sandbox; Ctrl-C ends it
npx sluice fills                                          # and orders, positions
npx sluice backtest ${CONFIG}                           # the same bots over what was recorded
\`\`\`

A strategy is a file in \`strategies/\`: \`npx sluice new strategy NAME\` writes one with its test. After a change of its \`params\`,
\`npm run schema\` tells the editor.

For the real market put the service's addresses and your key's place into \`${CONFIG}\`, then \`npx sluice doctor ${CONFIG}\`. Bots stay on
paper until one says \`mode: live\` and \`sluice run\` is given \`--live\`.
`
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** Beside Sluice itself, what a project is written with: its Node, Solana's runtime for the sandbox, types. */
const NEEDED = ['@types/node', 'litesvm', 'node', 'typescript']

export interface OwnPackage {
  /** How npm gets this very package: a version where it came from the registry, else where the archive or folder
   *  lies. */
  readonly spec: string
  /** What is to be done before `spec` can be installed; '' where nothing is. */
  readonly first: string
  /** Exact versions of what a project needs beside it. */
  readonly versions: Readonly<Record<string, string>>
}

interface Manifest {
  readonly version: string
  readonly devDependencies: Readonly<Record<string, string>>
}

/** `root`: where this package lies. What is installed under a name must be what runs now, and not what somebody else
 *  gave that name to: so the place that it came from is told, and the registry only where npm says that it came from
 *  there. */
export function ownPackage(root: string): OwnPackage {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const versions = Object.fromEntries(NEEDED.map((name) => [name, manifest.devDependencies[name] as string]))
  if (basename(dirname(root)) === 'node_modules')
    return { spec: installedFrom(root, manifest.version), first: '', versions }
  const archive = join(root, `sluice-${manifest.version}.tgz`)
  const first = existsSync(archive) ? '' : `(cd ${root} && npm pack)`
  return { spec: `file:${archive}`, first, versions }
}

function installedFrom(root: string, version: string): string {
  const modules = dirname(root)
  const resolved = recorded(join(modules, '.package-lock.json'))
  if (/^https:\/\/registry\.npmjs\.org\//.test(resolved)) return version
  if (resolved.startsWith('file:')) return `file:${resolve(dirname(modules), resolved.slice('file:'.length))}`
  if (/^(https:|git\+)/.test(resolved)) return resolved
  throw new SluiceError(`npm does not say where ${root} came from; install it with npm, then again`, ExitCode.usage)
}

function recorded(lock: string): string {
  try {
    const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, { resolved?: string }> }
    return packages['node_modules/sluice']?.resolved ?? ''
  } catch {
    return ''
  }
}
