import type { Block } from '../../market/block.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import { TokenView } from './views.ts'

/** The views that all bots of an engine have of the tokens that they have seen since the day began. One array contains
 *  the views of all bots, ordered by token and then by bot, because most rows go to all bots: the places that a row
 *  reads are then next to each other in memory. */
export class ViewTable {
  /** View of a token in a bot's place. The index is the number of the token times `bots`, plus the index of the bot. */
  readonly views: ByToken<TokenView> = []
  /** Number of bots. */
  readonly bots: number
  /** Number of states for the tokens that the last `lookAhead` looked up. No code reads this field. It exists because
   *  the optimizer would remove the look-ups if their result were unused. */
  known = 0

  constructor(bots: number) {
    this.bots = bots
  }

  /** Reads the views and the states that the bots keep for the tokens of the next rows, which brings them into the
   *  processor's cache. Each read may miss the cache; when the reads are done together, the misses overlap. */
  lookAhead({ token }: Block, from: number, to: number): void {
    const { views, bots } = this
    let known = 0
    for (let row = from; row < to; row++) {
      const first = (token[row] as number) * bots
      for (let at = first; at < first + bots; at++) if (TokenView.keepsObject(views[at])) known++
    }
    this.known = known
  }

  set(bot: number, token: number, view: TokenView | undefined): void {
    setByToken(this.views, token * this.bots + bot, view)
  }

  /** Removes all views of one bot, and returns them by token. */
  take(bot: number): ByToken<TokenView> {
    const { views, bots } = this
    const taken: ByToken<TokenView> = []
    for (let at = bot; at < views.length; at += bots) {
      taken.push(views[at])
      views[at] = undefined
    }
    return taken
  }

  /** Returns the views of one bot, in the order of the token numbers. */
  of(bot: number): TokenView[] {
    const { views, bots } = this
    const found: TokenView[] = []
    for (let at = bot; at < views.length; at += bots) {
      const view = views[at]
      if (view !== undefined) found.push(view)
    }
    return found
  }
}
