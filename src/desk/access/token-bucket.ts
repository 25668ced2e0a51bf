import type { Millis } from '../../base/units.ts'

const MOST_KEYS = 1_000

export interface RateLimits {
  /** Number of events that are allowed in quick succession after a pause without events. */
  readonly burst: number
  readonly perSecond: number
}

/** Limits the rate of events of each key, such as an address. */
export class TokenBucket {
  readonly #limits: RateLimits
  readonly #now: () => Millis
  readonly #levels = new Map<string, { left: number; at: Millis }>()

  constructor(limits: RateLimits, now: () => Millis) {
    this.#limits = limits
    this.#now = now
  }

  /** Counts an event. Returns false if the rate of the events exceeds the limits. */
  take(key = ''): boolean {
    const level = this.#level(key)
    if (level.left < 1) return false
    level.left -= 1
    return true
  }

  #level(key: string): { left: number; at: Millis } {
    const { burst, perSecond } = this.#limits
    const now = this.#now()
    const { left, at } = this.#levels.get(key) ?? { left: burst, at: now }
    const level = { left: Math.min(burst, left + (Math.max(0, now - at) / 1000) * perSecond), at: now }
    // The map has its keys in the order of their last use. When the map is full, the key that was unused for longest is
    // removed. So an attacker who uses many addresses cannot push a busy address, with its count, out of the map.
    this.#levels.delete(key)
    this.#levels.set(key, level)
    if (this.#levels.size > MOST_KEYS) this.#levels.delete(this.#levels.keys().next().value as string)
    return level
  }
}
