import type { Millis } from '../base/units.ts'
import type { Block, TokenId } from './block.ts'

/** Announcement of a new token. */
export interface Launch {
  /** Creator of the token; '' if the announcement names none. */
  readonly creator: string
  /** Arrival time of the announcement. */
  readonly time: Millis
}

/** Announcements of the current and the previous UTC day. They are recorded only if a limit or a filter needs them. */
export class Launches {
  isWatched = false
  #today = new Map<TokenId, Launch>()
  #yesterday = new Map<TokenId, Launch>()

  /** Records an announcement. Only the first one of a token counts, because a later one may contain anything. */
  note(block: Block, row: number, token: TokenId): void {
    if (!this.isWatched || this.of(token) !== undefined) return
    this.#today.set(token, { creator: block.texts.trader(row), time: block.time[row] as number })
  }

  of(token: TokenId | undefined): Launch | undefined {
    return token === undefined ? undefined : (this.#today.get(token) ?? this.#yesterday.get(token))
  }

  /** Begins a new UTC day. Drops the announcements that are now older than the previous day. */
  forget(): void {
    this.#yesterday = this.#today
    this.#today = new Map()
  }
}
