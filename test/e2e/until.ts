const LOOK_EVERY_MS = 100
/** The timeout is long, because a test need not be fast. A test must only end, and name the event that did not
 *  occur. */
const LONGEST_MS = 300_000

/**
 * Polls until there is a result, and fails after a timeout. It is used for events in real time: in a journal, a log or
 * another process.
 */
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
      throw new Error(`timed out while waiting for: ${typeof what === 'string' ? what : what()}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
