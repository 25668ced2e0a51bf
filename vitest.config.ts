import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They start processes, listen, or change what all of a process shares. */
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

/** Short files that run long. Vitest starts large files first, so one of these alone would run last for half a minute. */
const LONG = /e2e\/(kills|suspend|full-exit|poll|isolation|disk|local|crashes|resolver|backup)|simulate/

/** Files that wait for processes start first, the longest before the others. The files of `parts`, which only compute,
 *  fill the end, so that no core is idle until the last file. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number =>
      project.name === 'parts' ? 2 : LONG.test(moduleId) ? 0 : 1
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: { alias: [{ find: /^sluice$/, replacement: here('./src/index.ts') }] },
  test: {
    pool: 'forks',
    setupFiles: [here('./test/support/own-runtime-directory.ts')],
    maxConcurrency: 10,
    sequence: { sequencer: LongestFirst },
    // Many tests wait for real blocks and processes, so that two cores serve four workers.
    maxWorkers: 4,
    // Ends what never ends, and nothing else: a machine may be as busy as it likes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // The processes that tests start compile the sources once, not each anew: two thirds of what a start costs.
    env: { NODE_COMPILE_CACHE: here('./node_modules/.cache/sluice') },
    projects: [
      // One process after the other would read and compile the same sources for each of two hundred files.
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: APART,
          isolate: false,
          setupFiles: [here('./test/support/seeded-properties.ts')],
        },
      },
      { extends: true, test: { name: 'whole', include: APART.map((path) => path.replace('**', '**/*.test.ts')) } },
    ],
  },
})
