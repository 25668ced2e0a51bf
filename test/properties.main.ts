import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/**
 * `npm run properties [-- --times 10] [FILES]`: runs the test files with random cases. It uses new seeds, and `--times`
 * as many cases as `npm test`.
 */
const { values, positionals } = parseArgs({
  options: { times: { type: 'string', default: '10' } },
  allowPositionals: true,
})
const hasRuns = (file: string): boolean => /from '[./]+\/support\/runs\.ts'/.test(readFileSync(file, 'utf8'))
const files = positionals.length > 0 ? positionals : globSync('test/**/*.test.ts').filter(hasRuns)
const env = { ...process.env, SLUICE_RUNS: values.times }
process.exitCode = spawnSync('npx', ['vitest', 'run', ...files], { stdio: 'inherit', env }).status ?? 1
