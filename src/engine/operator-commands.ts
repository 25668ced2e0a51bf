import { plainJson } from '../base/json.ts'
import type { Position } from './accounting/position.ts'
import type { StrategyRunner } from './bots/strategy-runner.ts'
import type { EngineState } from './engine-state.ts'
import type { Conditionals } from './exits/conditionals.ts'
import type { Exits } from './exits/position-exits.ts'
import type { Command } from './messages.ts'

/** What commands are about beside positions. */
interface House {
  /** Whatever stopped entries is over. */
  forgive(): void
  /** What somebody else did with the wallet is all right. */
  accept(signature: string): void
  traders(): readonly StrategyRunner[]
}

/** What an operator tells running bots. */
export class OperatorCommands {
  readonly #session: EngineState
  readonly #exits: Exits
  readonly #conditionals: Conditionals
  readonly #house: House

  constructor(session: EngineState, exits: Exits, conditionals: Conditionals, house: House) {
    this.#session = session
    this.#exits = exits
    this.#conditionals = conditionals
    this.#house = house
  }

  take(command: Command): void {
    const session = this.#session
    switch (command.name) {
      case 'halt':
      case 'resume':
        if (command.name === 'resume') this.#house.forgive()
        session.halt(command.name === 'halt')
        break
      case 'accept':
        this.#house.accept(command.signature)
        break
      case 'flatten':
        session.halt(true)
        this.#sellAll('flatten', () => true)
        break
      case 'sell':
        this.#sellAll('sold by hand', ({ mint }) => mint === command.mint)
        break
      case 'signal': {
        const data = plainJson(command.data, 'signal')
        for (const trader of this.#house.traders()) trader.guard(() => trader.handlers.onSignal?.(command.signal, data))
        break
      }
      case 'stop':
        session.stopping = true
        for (const trader of this.#house.traders()) trader.guard(() => trader.handlers.onStop?.())
    }
  }

  /** What is on its way in is called off, and sold where it comes all the same. */
  #sellAll(reason: string, which: (of: Pick<Position, 'mint'>) => boolean): void {
    const session = this.#session
    const { book } = session
    this.#conditionals.cancelBuys(which)
    for (const position of book.positions.all()) {
      if (!which(position)) continue
      const { account, mint } = position
      this.#exits.sell(position, reason)
      for (const { order, state } of book.inLane({ account, mint, side: 'buy' }))
        if (state === 'accepted') session.emit({ kind: 'cancel', orderId: order.id, code: 'CANCELLED' })
    }
  }
}
