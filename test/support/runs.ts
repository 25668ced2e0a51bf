/** `npm run properties` sets it. */
const TIMES = Number(process.env.SLUICE_RUNS ?? 1)

/** Number of random cases of a property: `count` in `npm test`, a multiple in `npm run properties`, which CI runs. */
export const runs = (count: number): number => Math.ceil(count * TIMES)
