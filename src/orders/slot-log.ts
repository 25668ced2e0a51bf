import type { Slot } from './ports.ts'

/** Maximum duration of a request, ms. The HTTP client ends every request after this time. */
export const REQUEST_LIMIT_MS = 60_000

/** The request slots of earlier processes, with times on the clock of this boot. */
export interface OldSlots {
  readonly lastId: number
  /** The entry that marks the beginning of the log, if the log still contains it. Requests that ended before it are not
   *  in the log. */
  readonly beginning: EndedSlot | undefined
  /** Request slots in the order in which their requests ended, with times on the clock of this boot. */
  readonly slots: readonly EndedSlot[]
}

type EndedSlot = Slot & { readonly doneAt: bigint }

/** Reads the log of request slots that earlier processes wrote for one key. Monotonic times of another boot of the
 *  computer cannot be compared with those of this boot. But all entries of a boot happened before the first entry of
 *  the next boot, so the times of each earlier boot are shifted until the latest of them equals the earliest time of
 *  the next boot. A shifted time may be too late, but never too early. Returns undefined if the log does not cover the
 *  last minute, because it is empty or contains times in this boot's future. */
export function readSlotLog(past: readonly Slot[], boot: string, now: number): OldSlots | undefined {
  const newestFirst = [...past].sort((a, b) => b.id - a.id)
  const [last] = newestFirst
  if (last === undefined || (last.boot === boot && toMillis(last.takenAt) > now)) return undefined
  const slots: EndedSlot[] = []
  let before = now
  for (const one of new Set(newestFirst.map((slot) => slot.boot))) {
    const own = newestFirst.filter((slot) => slot.boot === one)
    const onThisClock = one === boot ? own.map((slot) => ended(slot, now)) : shifted(own, boot, before)
    slots.push(...onThisClock)
    before = Math.min(...onThisClock.map(({ takenAt }) => toMillis(takenAt)))
  }
  return {
    lastId: last.id,
    beginning: slots.find(({ id }) => id === BEGINNING),
    slots: slots.filter(({ id }) => id !== BEGINNING).sort((a, b) => Number(a.doneAt - b.doneAt)),
  }
}

/** Id of the entry that marks the beginning of a log of request slots. Requests from before this entry are not in the
 *  log, but may still count against the plan's limit. */
const BEGINNING = 0

/** Returns the entry that begins a new log. If the process restarts within a minute, this entry shows that requests
 *  from before it are not in the log. */
export function beginningOf({ key, boot }: Pick<Slot, 'key' | 'boot'>, now: number): Slot {
  return { key, id: BEGINNING, boot, takenAt: toNanoseconds(now), doneAt: toNanoseconds(now) }
}

/** Returns the request slot with the time at which its request ended. If the process died before it recorded this time,
 *  the request ended at the latest REQUEST_LIMIT_MS after it began. */
function ended(slot: Slot, now: number): EndedSlot {
  const doneAt = slot.doneAt ?? toNanoseconds(Math.min(now, toMillis(slot.takenAt) + REQUEST_LIMIT_MS))
  return { ...slot, doneAt }
}

function shifted(slots: readonly Slot[], boot: string, before: number): EndedSlot[] {
  const latest = Math.max(...slots.flatMap(({ takenAt, doneAt }) => [toMillis(takenAt), toMillis(doneAt ?? takenAt)]))
  const by = toNanoseconds(before) - toNanoseconds(latest)
  return slots.map((slot) => {
    const { takenAt, doneAt } = ended(slot, latest)
    return { ...slot, boot, takenAt: takenAt + by, doneAt: doneAt + by }
  })
}

/** Converts milliseconds to nanoseconds. Rounds up to whole milliseconds, because it is safe if a request slot stays in
 *  use slightly too long. */
export function toNanoseconds(ms: number): bigint {
  return BigInt(Math.ceil(ms)) * 1_000_000n
}

export function toMillis(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n)
}
