import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files that start processes, open sockets, or change state that a whole process shares, such as the measured
 *  load. */
const APART = [
  'test/e2e/**',
  'test/simulate/**',
  'test/model/**',
  'test/live/**',
  'test/desk/**',
  'test/runtime/{restore,segment}.test.ts',
  'test/backtest/{tape-*,replay/**}',
  'test/*.test.ts',
]

/** Test files that measure the memory of their process, so that no other file may run in the same process. */
const ALONE = ['test/flat*.test.ts']

/** The long files in the order of their start. Files that start many processes alternate with files that mostly wait:
 *  two files with many processes would slow each other down, because a process that trades in real time uses the
 *  processor as long as it runs. */
const FIRST = [
  ...['local', 'resolver', 'poll', 'backup', 'full-exit', 'isolation', 'suspend'],
  ...['disk', 'faults', 'feed', 'deploy', 'dialects', 'signer', 'refusals'],
  ...['crashes', 'protocol', 'no-rpc', 'simulate', 'kills'],
]

/** By default, Vitest starts the files with the most text first. This order starts the files that run longest first.
 *  The files of the project `parts` only compute and come last, so that no core is idle at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number => {
      if (project.name === 'parts') return FIRST.length + 1
      const found = FIRST.findIndex((name) => new RegExp(`/(e2e|simulate|model)/${name}\\.test`).test(moduleId))
      return found < 0 ? FIRST.length : found
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  test: {
    pool: 'forks',
    // Node loads the sources itself, as it does for users, and not through Vite. This halves the processor time of an
    // import, and the errors of strategies have the right columns.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--conditions', 'development'],
    setupFiles: [here('./test/support/own-runtime-directory.ts')],
    maxConcurrency: 10,
    sequence: { sequencer: LongestFirst },
    // Many tests wait for real blocks and processes: with two workers, two cores would be idle for a third of the time.
    maxWorkers: 4,
    // The limits end only tests that hang. A test on a busy machine must not fail because it is slow.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // All processes that tests start share one cache of compiled code. Without it, each start would take three times as
    // long.
    env: { NODE_COMPILE_CACHE: here('./node_modules/.cache/sluice') },
    // A worker runs many files. A process for each file would read and compile the same sources four hundred times.
    isolate: false,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: APART,
          setupFiles: [here('./test/support/seeded-properties.ts')],
        },
      },
      {
        extends: true,
        test: { name: 'whole', include: APART.map((path) => path.replace('**', '**/*.test.ts')), exclude: ALONE },
      },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
  },
})
