import type { Cancel } from '../../base/machine.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Timer } from '../../engine/recovered-money.ts'
import { nextFiring } from '../../engine/timers.ts'
import type { SegmentParts } from '../../runtime/segment.ts'

/** A position between two market rows of a recorded run. */
export interface Place {
  readonly seq: Seq
  readonly time: Millis
}

/** A half, to name positions between two sequence numbers: `seq + HALF` is directly after the record `seq`, and `seq -
 *  HALF` directly before it. */
export const HALF = 0.5

/** Runs functions when a replay reaches given positions among the rows of the recorded run. */
export class Moments {
  readonly #waiting = new Map<Seq, Set<() => void>>()
  /** Time of the last position that the replay has reached. */
  time: Millis = 0
  #reached: Seq = 0

  /** Runs a function when the replay reaches the position `seq` of the recorded run. Returns undefined if the replay
   *  has already passed it. */
  at(seq: Seq, run: () => void): Cancel | undefined {
    if (seq <= this.#reached) return undefined
    const there = this.#waiting.get(seq) ?? new Set()
    this.#waiting.set(seq, there.add(run))
    return () => void there.delete(run)
  }

  reach({ seq, time }: Place): void {
    this.#reached = seq
    this.time = time
    const due = [...this.#waiting.keys()].filter((place) => place <= seq).sort((one, other) => one - other)
    for (const place of due) {
      const there = this.#waiting.get(place) ?? []
      this.#waiting.delete(place)
      for (const run of there) run()
    }
  }
}

/** The positions at which the timers of a recorded run fired or were cleared. */
export class TimerPlaces {
  /** Timers that have not fired yet, with the time at which each is due. */
  readonly #armed = new Map<number, { readonly timer: Timer; readonly at: Millis }>()
  readonly #fired = new Map<string, Place>()
  readonly #cleared = new Map<string, Place>()

  set(timer: Timer): void {
    this.#armed.set(timer.id, { timer, at: timer.at })
  }

  fire(id: number, place: Place): void {
    const armed = this.#armed.get(id)
    if (armed === undefined) return
    const { timer, at } = armed
    this.#fired.set(keyOf(timer, at), place)
    if (timer.everyMs === 0) this.#armed.delete(id)
    else this.#armed.set(id, { timer, at: nextFiring(timer, place.time) })
  }

  clear(id: number, place: Place): void {
    const armed = this.#armed.get(id)
    if (armed !== undefined) this.#cleared.set(keyOf(armed.timer, armed.at), place)
    this.#armed.delete(id)
  }

  /** Returns the position at which the recorded run's timer with the same due time fired; undefined if no firing is
   *  recorded. If the run cleared the timer after its due time, returns the position right after the clearing: until
   *  then, the timer had not fired. */
  of(timer: Timer, at: Millis): Seq | undefined {
    const key = keyOf(timer, at)
    const cleared = this.#cleared.get(key)
    const isLate = cleared !== undefined && cleared.time >= at
    return this.#fired.get(key)?.seq ?? (isLate ? cleared.seq + HALF : undefined)
  }
}

function keyOf({ bot, owner, name }: Timer, at: Millis): string {
  return `${bot} ${owner} ${name} ${at}`
}

/** Returns a function that delays a timer of the replay until the position at which the recorded run fired the same
 *  timer. If the recorded run cleared that timer after its due time, the replay's timer fires at the position of the
 *  clearing. */
export function holdOf(timers: TimerPlaces, moments: Moments): SegmentParts['hold'] {
  return (timer, at, fire) => {
    const seq = timers.of(timer, at)
    return seq === undefined ? undefined : moments.at(seq, fire)
  }
}
