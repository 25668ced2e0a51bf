// `npm run packed`: does in an empty folder what a new user does, with the archive that would be published and the
// machine's own Node. Needs npm's registry, so it is not part of `npm test`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
/** PATH without the entries that npm added for this script, because a user does not have the repository's Node. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((part) => !part.includes('node_modules'))
  .join(delimiter)

function step(cwd: string, line: string, expected?: RegExp): string {
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (status !== 0 || expected?.test(stdout + stderr) === false) {
    console.error(
      `${line}\nexit ${status}${expected ? `, expected ${expected}` : ''}\n${stdout}\n${stderr}\nthe files are in ${folder}`,
    )
    process.exit(1)
  }
  console.log(`${seconds.padStart(6)} s  ${line}`)
  return stdout
}

/**
 * Tests a golden replay of the rows that the run has recorded: exports the rows, writes the golden file, compares it,
 * and changes it.
 */
function golden(bots: string): void {
  step(bots, 'npx --no sluice export --from 2026-01-01 --out strategies/first.ndjson', /exported [1-9]/)
  const test = (risePercent: number): string => `import { test } from 'node:test'
import { matchGolden } from 'sluice/testing'
import strategy from './my-strategy.ts'
test('the decisions of the strategy equal the golden file', async () => {
  const files = { tape: 'strategies/first.ndjson', golden: 'strategies/first.golden.jsonl' }
  await matchGolden(strategy, { ...files, params: { risePercent: ${risePercent} } })
})
`
  writeFileSync(join(bots, 'strategies/golden.test.ts'), test(2))
  step(bots, 'npx --no sluice test strategies/golden.test.ts --update', /first\.golden\.jsonl: [1-9]\d* decisions/)
  step(bots, 'npx --no sluice test strategies/golden.test.ts', /pass 1\b/)
  writeFileSync(join(bots, 'strategies/golden.test.ts'), test(400))
  step(bots, '! npx --no sluice test strategies/golden.test.ts', /decision 1 differs from the golden file/)
}

const archive = step(ROOT, `npm pack --silent --pack-destination ${folder}`).trim().split('\n').at(-1) as string
step(folder, `npm install --silent --prefix first ./${archive}`)
const own = join(ROOT, 'node_modules/.bin/node')
// On a machine with an old Node, the command prints one line with the required version. On any other machine it creates
// the project.
const init = 'first/node_modules/sluice/bin/sluice.js init bots'
const tooOld = spawnSync('sh', ['-c', `node ${init}`], { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH } })
if (tooOld.status === 2) console.log(`  this machine: ${tooOld.stderr.trim()}`)
if (tooOld.status !== 0) step(folder, `${own} ${init}`)
const bots = join(folder, 'bots')
step(bots, 'npm install --silent')
step(bots, 'npx --no sluice --version')
step(bots, 'cat node_modules/sluice/docs/README.md', /first-run\.md/)
step(bots, 'npm test', /pass 4\b/)
step(bots, 'npm run types')
step(bots, 'npx --no sluice check bots.yaml', /No errors/)
step(bots, 'npx --no sluice run bots.yaml --seconds 15', /[1-9]\d* market rows/)
step(bots, 'npx --no sluice replay --verify', /equal|identical|same/i)
step(bots, 'npx --no sluice backtest bots.yaml --json', /"events":[1-9]/)
step(bots, 'npx --no sluice demo --seconds 10 --journal data/demo.db', /[1-9]\d* orders/)
// The package contains the page of the desk with its libraries. The installation does not contain these libraries as
// packages.
const page =
  "const { pageFiles } = await import('./node_modules/sluice/dist/desk/page-files.js'); console.log([...(await pageFiles()).keys()].join(' '))"
step(bots, `${own} --input-type=module -e "${page}"`, /^\/ .*\/app\/price-chart-[\w-]+\.js/)
step(bots, 'test ! -e node_modules/preact && test ! -e node_modules/lightweight-charts')
// The package also contains the part of prom-client that writes the metrics.
const metrics =
  "const { openExposition } = await import('./node_modules/sluice/dist/desk/metrics/exposition.js'); console.log(openExposition().contentType)"
step(bots, `${own} --input-type=module -e "${metrics}"`, /^text\/plain; version=0\.0\.4/)
step(bots, 'test ! -e node_modules/prom-client')
step(bots, 'npx --no sluice new strategy second')
step(bots, 'npx --no sluice test', /pass 8\b/)
step(bots, 'npx --no sluice test strategies/second.test.ts --json', /{"files":1,"passed":true}/)
golden(bots)
rmSync(folder, { recursive: true, force: true })
