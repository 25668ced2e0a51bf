/** The factor for the numbers of random cases. `npm run properties` sets this variable. */
const TIMES = Number(process.env.SLUICE_RUNS ?? 1)

/**
 * Returns the number of random cases of a property: `count` in `npm test`, and a multiple of it in `npm run
 * properties`, which CI runs.
 */
export const runs = (count: number): number => Math.ceil(count * TIMES)
