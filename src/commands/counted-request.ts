import type { Journal, Slot } from '../core/ports.ts'
import type { Limiter } from '../runtime/limiter.ts'

/** What a request of the service is counted by. */
export interface Counting {
  readonly limiter: Limiter
  readonly journal: Journal
}

/** A minute, where what this key sent in the last one is not known: another journal counted it. */
const SLOT_WITHIN_MS = 62_000

/** Sends one request once there is a slot of the plan for it and that is durable; undefined where there is none within a minute, and
 *  nothing was sent. */
export async function counted<T>({ limiter, journal }: Counting, send: () => Promise<T>): Promise<T | undefined> {
  const slot = await slotOf(limiter)
  if (slot === undefined) return undefined
  await durable(journal)
  const result = await send()
  limiter.done(slot)
  await durable(journal)
  return result
}

function slotOf(limiter: Limiter): Promise<Slot | undefined> {
  return new Promise((resolve) => {
    const cancel = limiter.request('entry', resolve)
    if (cancel === undefined) return
    setTimeout(() => {
      cancel()
      resolve(undefined)
    }, SLOT_WITHIN_MS).unref()
  })
}

function durable(journal: Journal): Promise<void> {
  return new Promise((resolve) => journal.commit(resolve))
}
