import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: [
      { find: /^sluice$/, replacement: fileURLToPath(new URL('./src/index.ts', import.meta.url)) },
      { find: /^sluice\/testing$/, replacement: fileURLToPath(new URL('./src/testing.ts', import.meta.url)) },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxConcurrency: 10,
    // Many tests wait for real blocks and processes: on two cores three workers take a quarter less time than two.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // The processes that tests start compile the sources once, not each anew: two thirds of what a start costs.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('./node_modules/.cache/sluice', import.meta.url)) },
  },
})
