import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { dirname, join, resolve } from 'node:path/posix'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { NewFiles } from './new-files.ts'
import { strategyTestText, strategyText } from './strategy-files.ts'

const STRATEGY = 'my-strategy'
const CONFIG = 'bots.yaml'
/** File of the JSON Schema. The file is written after the strategy, because it contains the params of the strategy. */
export const SCHEMA = 'sluice.schema.json'
/** For each package, whether npm may run its install scripts. */
const ALLOWED_SCRIPTS = { node: true, 'better-sqlite3': false, bufferutil: false, 'utf-8-validate': false }

/** Returns the files of a new project: npm, editor and git settings, one bot on the embedded sandbox, its strategy and
 *  test. `folder`: absolute path; `sluice`: npm specifier of this package; `versions`: exact versions of the other
 *  dependencies. */
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
      test: 'sluice test',
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
# \`npx sluice check ${CONFIG}\` lists its errors and shows the worst case that it allows.
service: sandbox # a market and a chain on this machine: no account, no key, no money
# The real service, for paper and live trading. Write a secret as env:NAME or file:PATH, never as a value:
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
    orders: { slippagePercent: 15 } # young tokens move fast: at 5 % half of the buys fail with SLIPPAGE_EXCEEDED
    exits: { stopLossPercent: 20, trailingPercent: 25, maxHoldSeconds: 120 }
    limits:
      minSolPerOrder: 0.05 # each buy pays fees and rent, so small buys raise the worst case that check prints
      maxSolPerOrder: 0.05
      maxSlippagePercent: 15
      maxSolPerHour: 1
      maxOpenPositions: 5
      maxSolPerMint: 0.05
      maxDailyLossSol: 0.5
`
}

function readme(name: string): string {
  return `# ${name}

Bots for [Sluice](node_modules/sluice/README.md); its guides are [here](node_modules/sluice/docs/README.md).
\`npm install\` installs Sluice and a suitable version of Node. Then:

\`\`\`sh
npx sluice test                                           # the tests in strategies/
npx sluice check ${CONFIG}                              # errors, or the worst case
npx sluice run ${CONFIG}                                # trade on paper on the embedded sandbox, until Ctrl-C
npx sluice fills                                          # also: orders, positions
npx sluice backtest ${CONFIG}                           # the same bots on the recorded market
\`\`\`

A strategy is a file in \`strategies/\`. \`npx sluice new strategy NAME\` creates one with its test. After a change of its \`params\`,
run \`npm run schema\` to update the editor's schema.

For the real market, set the service's addresses and your key (\`env:NAME\`) in \`${CONFIG}\` and run \`npx sluice doctor ${CONFIG}\`. A bot trades
on paper unless it has \`mode: live\` and \`sluice run\` is given \`--live\`.
`
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** Packages that a project needs in addition to Sluice: Node, Solana's runtime for the sandbox, types. */
const NEEDED = ['@types/node', 'litesvm', 'node', 'typescript']

export interface OwnPackage {
  /** npm specifier of this package: a version if it came from the registry, else the path of its archive or folder. */
  readonly spec: string
  /** Command to run before `spec` can be installed; '' if none. */
  readonly first: string
  /** Exact versions of the other packages that a project needs. */
  readonly versions: Readonly<Record<string, string>>
}

interface Manifest {
  readonly version: string
  readonly devDependencies: Readonly<Record<string, string>>
}

/** Determines from where a new project can install the Sluice that is running. `root`: folder of this Sluice. The
 *  registry could contain another package with the name `sluice`. Therefore, `spec` is a version number only if npm
 *  recorded that it installed this Sluice from the registry. */
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
  throw new SluiceError(
    `npm has not recorded from where ${root} was installed; install this package with npm and try again`,
    ExitCode.usage,
  )
}

function recorded(lock: string): string {
  try {
    const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, { resolved?: string }> }
    return packages['node_modules/sluice']?.resolved ?? ''
  } catch {
    return ''
  }
}
