const LOOK_EVERY_MS = 100
/** Nobody has to be quick: it only has to end, and say what did not come. */
const LONGEST_MS = 180_000

/** Looks until there is something; fails when that takes too long. For what happens in real time, in a journal, a log
 *  or another process. */
export async function until<T>(
  what: string | (() => string),
  look: () => T | Promise<T>,
  withinMs = LONGEST_MS,
): Promise<NonNullable<Exclude<T, false>>> {
  const start = performance.now()
  for (;;) {
    const found = await look()
    if (found) return found as NonNullable<Exclude<T, false>>
    if (performance.now() - start > withinMs)
      throw new Error(`it never came: ${typeof what === 'string' ? what : what()}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
