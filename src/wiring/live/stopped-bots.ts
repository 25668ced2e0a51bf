import type { Output, StoppedBot } from '../../core/messages.ts'
import type { BotSettings } from '../../core/settings.ts'
import type { Millis } from '../../core/units.ts'
import type { Death } from '../../runtime/engine-thread.ts'

/** Deaths of which nobody is known to be the cause count for so long. */
const REMEMBERED_MS = 600_000

/** Which bots may not go on, by what became of the engines that they were in. */
export class StoppedBots {
  readonly #bots: readonly Pick<BotSettings, 'name' | 'strategy'>[]
  readonly #stopped = new Map<string, StoppedBot>()
  #unexplained: Millis[] = []

  constructor(bots: readonly Pick<BotSettings, 'name' | 'strategy'>[]) {
    this.#bots = bots
  }

  list(): readonly StoppedBot[] {
    return [...this.#stopped.values()]
  }

  /** What an engine decided: a bot whose strategy threw does not come back with the next one. */
  heard(outputs: readonly Output[]): void {
    for (const output of outputs)
      if (output.kind === 'bot' && output.money.status === 'exits-only') {
        const { bot } = output.money
        const reason = this.#stopped.get(bot)?.reason ?? 'its strategy threw an error'
        this.#stopped.set(bot, { bot, reason, told: true })
      }
  }

  /** An engine is dead. `hadBegun`: not while strategies were loaded or started.
   *  The names of those that are stopped for it, or undefined where no further engine can help. The first time that nobody is known to be
   *  the cause everybody gets another chance, the second time nobody. */
  died({ bot, reason }: Death, hadBegun: boolean, now: Millis): readonly string[] | undefined {
    const culprit = this.#bots[bot]
    if (culprit !== undefined && !this.#stopped.has(culprit.name)) {
      const isOne = ({ name, strategy }: { name: string; strategy: string }): boolean =>
        name === culprit.name || (!hadBegun && strategy === culprit.strategy)
      return this.#stop(isOne, reason)
    }
    this.#unexplained = [...this.#unexplained.filter((time) => now - time < REMEMBERED_MS), now]
    if (this.#unexplained.length === 1) return []
    const names = this.#stop(() => true, `${reason}; nobody is known to be the cause`)
    return names.length === 0 ? undefined : names
  }

  #stop(which: (bot: Pick<BotSettings, 'name' | 'strategy'>) => boolean, reason: string): string[] {
    const names = this.#bots.filter((bot) => which(bot) && !this.#stopped.has(bot.name)).map(({ name }) => name)
    for (const bot of names) this.#stopped.set(bot, { bot, reason, told: false })
    return names
  }
}
