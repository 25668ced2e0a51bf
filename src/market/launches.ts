import type { Millis } from '../base/units.ts'
import type { Block, TokenId } from './block.ts'

/** What the announcement of a token said. */
export interface Launch {
  /** '' where it named none. */
  readonly creator: string
  /** When it reached us. */
  readonly time: Millis
}

/** Announcements of new tokens, of the UTC day and the one before. Kept only where a limit or a filter asks for
 *  them. */
export class Launches {
  isWatched = false
  #today = new Map<TokenId, Launch>()
  #yesterday = new Map<TokenId, Launch>()

  /** The first one counts: whoever announces a token again may say anything. */
  note(block: Block, row: number, token: TokenId): void {
    if (!this.isWatched || this.of(token) !== undefined) return
    this.#today.set(token, { creator: block.texts.trader(row), time: block.time[row] as number })
  }

  of(token: TokenId | undefined): Launch | undefined {
    return token === undefined ? undefined : (this.#today.get(token) ?? this.#yesterday.get(token))
  }

  /** A day begins. */
  forget(): void {
    this.#yesterday = this.#today
    this.#today = new Map()
  }
}
