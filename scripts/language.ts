// Reads messages, comments, test titles and documents, and names each place that is hard to read. Arguments: files or
// folders; without any, everything.
import { globSync, readFileSync, statSync } from 'node:fs'
import { findingsOf } from './language/findings.ts'

const EVERYTHING = ['*.md', 'bench', 'config', 'docs', 'scripts', 'src', 'strategies', 'test']

/** Its strings are the phrases themselves. */
const WORDS = 'scripts/language/words.ts'

/** Files and folders that still have findings. Without arguments they are skipped; remove each one without any. */
const PENDING: readonly string[] = [
  'src/backtest/causality.ts',
  'src/backtest/metrics/metrics.ts',
  'src/backtest/outcome.ts',
  'src/backtest/plan-advice.ts',
  'src/backtest/replay/attempt-matches.ts',
  'src/backtest/replay/attribution-runs.ts',
  'src/backtest/report/bot-report.ts',
  'src/backtest/report/bot-section.ts',
  'src/backtest/report/bot-trades.ts',
  'src/backtest/report/build-report.ts',
  'src/backtest/report/page.ts',
  'src/backtest/results-folder.ts',
  'src/backtest/sweep/verdict.ts',
  'src/chain/',
  'src/config/yaml/errors.ts',
  'src/journal/database.ts',
  'src/journal/lock.ts',
  'src/journal/migration.ts',
  'src/journal/reader/history.ts',
  'src/journal/reader/ledger.ts',
  'src/journal/reader/recovery.ts',
  'src/journal/schema/fills.ts',
  'src/journal/schema/schema.ts',
  'src/journal/schema/views.ts',
  'src/journal/tape-files.ts',
  'src/journal/tape/block-encoder.ts',
  'src/journal/tape/market-tape.ts',
  'src/journal/tape/tape-reader.ts',
  'src/journal/writer/transactions.ts',
  'src/journal/writer/writer.ts',
  'src/live/doctor/service-verdicts.ts',
  'src/sandbox/bot-files.ts',
  'src/sandbox/chain/chain-ledger.ts',
  'src/sandbox/chain/runtime-ledger.ts',
  'src/sandbox/chain/trade-program.ts',
  'src/sandbox/dialect.ts',
  'src/sandbox/market/trade-sizes.ts',
  'src/sandbox/records.ts',
  'src/sandbox/rpc/shapes.ts',
  'src/sandbox/service/builder.ts',
  'src/simulation/estimated-pools.ts',
  'src/simulation/measurements.ts',
  'src/simulation/paper-market.ts',
  'src/simulation/simulated-clock.ts',
  'src/simulation/tape-source.ts',
  'src/venues/token-service/capture.ts',
  'src/venues/token-service/outcome.ts',
  'src/venues/token-service/subscriptions.ts',
  'src/venues/token-service/wire/decode.ts',
  'src/venues/venue.ts',
  'test/backtest/calibration.test.ts',
  'test/backtest/replay/attribution.test.ts',
  'test/chain/',
  'test/commands/builder/verify-tx.test.ts',
  'test/commands/journal/report.test.ts',
  'test/commands/trade/live-table.test.ts',
  'test/commands/trade/status.test.ts',
  'test/commands/wrong-arguments.test.ts',
  'test/journal/crash.test.ts',
  'test/journal/joined-market.test.ts',
  'test/journal/ledger.test.ts',
  'test/journal/old-journals.test.ts',
  'test/journal/process.main.ts',
  'test/journal/reader/recovery.test.ts',
  'test/journal/reader/tax-export.test.ts',
  'test/journal/tape.test.ts',
  'test/journal/tape/mapped-scan.test.ts',
  'test/market/token-numbers.test.ts',
  'test/simulation/paper-executor.test.ts',
  'test/venues/token-service/feed.test.ts',
  'test/venues/token-service/wire/decode.test.ts',
]

const isDefault = process.argv.length === 2
const paths = isDefault ? EVERYTHING : process.argv.slice(2)
const files = paths
  .flatMap((path) => globSync(path))
  .flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.{md,ts,yaml}`) : path))
  .filter((path) => path !== WORDS && !(isDefault && PENDING.some((pending) => path.startsWith(pending))))
  .toSorted()

let count = 0
for (const file of files)
  for (const { line, column, message } of findingsOf(file, readFileSync(file, 'utf8'))) {
    count++
    console.log(`${file}:${line}:${column} ${message}`)
  }
console.error(`language: ${count} findings in ${files.length} files`)
process.exitCode = count === 0 ? 0 : 1
