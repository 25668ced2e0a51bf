import { basename } from 'node:path'
import type { NewFiles } from './new-files.ts'
import { strategyTestText, strategyText } from './strategy-text.ts'

const STRATEGY = 'my-strategy'
const CONFIG = 'bots.yaml'
/** Written once the strategy is there. */
export const SCHEMA = 'sluice.schema.json'
/** Scripts of these packages may run on installation; the others' are not needed. */
const ALLOWED_SCRIPTS = { node: true, 'better-sqlite3': false, bufferutil: false, 'utf-8-validate': false }

/** What npm, the editor and git need, one bot on the embedded sandbox, its strategy and the test of that. `folder`: absolute; `sluice`: how npm
 *  gets it; `versions`: exact ones of what a project needs beside it. */
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
