import fc from 'fast-check'
import { runs } from './runs.ts'

// `npm test` draws the same random cases on each run. `npm run properties` draws other cases, and a failure prints
// their seed.
fc.configureGlobal({ numRuns: runs(100), ...(process.env.SLUICE_RUNS === undefined && { seed: 1 }) })
