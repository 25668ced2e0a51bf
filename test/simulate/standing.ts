import { isDeepStrictEqual } from 'node:util'
import { encodeJson } from '../../src/base/json.ts'
import type { Position } from '../../src/engine/accounting/position.ts'
import { type ConditionalOrder, isOver } from '../../src/engine/exits/conditional-order.ts'
import { stepTokensDue } from '../../src/engine/exits/take-profit-steps.ts'
import type { Output } from '../../src/engine/messages.ts'
import type { Order } from '../../src/engine/order.ts'
import type { Bot } from '../../src/engine/strategy.ts'
import type { Recovered } from '../../src/journal/reader/recovery.ts'
import { exitComplaints } from '../support/held-exits.ts'

/**
 * The positions with their exits, and the conditional orders, as a process has recorded them. Only timers of the
 * present process count, because the engine sets each timer again at a start.
 */
export class Standing {
  /** Number of conditional orders that the process restored from the previous process. */
  readonly restored: number
  readonly #positions = new Map<string, Position>()
  readonly #conditionals = new Map<string, ConditionalOrder>()
  readonly #timers = new Map<number, string>()
  #isChecked = false

  constructor({ money }: Recovered) {
    for (const position of money.positions) this.#hold(position)
    for (const order of money.conditionals) this.#conditionals.set(order.id, order)
    this.restored = money.conditionals.length
  }

  take(output: Output): void {
    this.#isChecked = false
    if (output.kind === 'position') this.#hold(output.position)
    else if (output.kind === 'timer') this.#timers.set(output.timer.id, `${output.timer.bot} ${output.timer.name}`)
    else if (output.kind === 'timerCleared') this.#timers.delete(output.id)
    else if (output.kind === 'conditional') this.#conditionals.set(output.order.id, output.order)
  }

  /**
   * Returns texts about the rules that the state breaks. `bots`: the objects that strategies receive from the engine.
   */
  complaints(open: readonly Order[], bots: readonly Bot[]): string[] {
    if (this.#isChecked) return []
    this.#isChecked = true
    const timers = new Set(this.#timers.values())
    const lacking = [...this.#positions.values()].flatMap((position) =>
      exitComplaints(position, open, (bot, name) => timers.has(`${bot} ${name}`)),
    )
    return [...lacking, ...bots.flatMap((bot) => [...this.#shownOrders(bot), ...this.#shownPositions(bot)])]
  }

  /** Returns the positions that an exit will sell, either now or when their maximum holding time ends. */
  get passing(): Position[] {
    return this.#held.filter(
      (position) =>
        position.exiting !== '' || position.exits.maxHoldSeconds !== undefined || stepTokensDue(position) > 0n,
    )
  }

  get #held(): Position[] {
    return [...this.#positions.values()].filter(({ tokens }) => tokens > 0n)
  }

  #hold(position: Position): void {
    this.#positions.set(`${position.account} ${position.mint}`, position)
  }

  #shownOrders(bot: Bot): string[] {
    const own = [...this.#conditionals.values()].filter((order) => order.bot === bot.name && !isOver(order.state))
    const shown = bot.orders().filter(({ id }) => id.startsWith('c'))
    const [said, seen] = [own, shown].map((list) =>
      list
        .map(({ id, state }) => `${id} ${state}`)
        .sort()
        .join(),
    )
    return said === seen ? [] : [`${bot.name}: the journal has ${said}, but the engine has ${seen}`]
  }

  #shownPositions(bot: Bot): string[] {
    return this.#held.flatMap(({ bot: owner, mint, exits }) => {
      if (owner !== bot.name) return []
      const shown = bot.position(mint)?.exits
      return isDeepStrictEqual(shown, exits)
        ? []
        : [
            `${owner}: the exits of ${mint} are ${encodeJson(exits)} in the journal, but ${encodeJson(shown)} in the engine`,
          ]
    })
  }
}
