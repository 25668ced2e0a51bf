import type { Slot } from './ports.ts'

/** The hard limit of the `Http` port: an exchange is over so long after it began, whatever happened. */
export const REQUEST_LIMIT_MS = 60_000

/** Slots of an earlier process as this one holds them. */
export interface OldSlots {
  readonly lastId: number
  /** Requests that ended before it are not in the log. */
  readonly beginning: EndedSlot | undefined
  /** Each with its end, on this boot's clock, in the order of their ends. */
  readonly slots: readonly EndedSlot[]
}

type EndedSlot = Slot & { readonly doneAt: bigint }

/** Reads the log that earlier processes wrote of one key. Monotonic times of another boot mean nothing to this one. But
 *  everything in its log happened before the next boot's first entry, and so before now: shifted until its last entry
 *  stands there, each entry is too late rather than too early. undefined: the log says nothing about the last minute,
 *  because it is empty or was written in this boot's future. */
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

/** No slot: where it stands, the log begins, though earlier requests may still count. */
const BEGINNING = 0

/** To be written where a log begins, so that a next start within the minute knows that it does. */
export function beginningOf({ key, boot }: Pick<Slot, 'key' | 'boot'>, now: number): Slot {
  return { key, id: BEGINNING, boot, takenAt: toNanoseconds(now), doneAt: toNanoseconds(now) }
}

/** A request whose process died is over now at the latest. */
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

/** Whole milliseconds, rounded up: a slot is rather held too long. */
export function toNanoseconds(ms: number): bigint {
  return BigInt(Math.ceil(ms)) * 1_000_000n
}

export function toMillis(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n)
}
