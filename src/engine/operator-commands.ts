import { plainJson } from '../base/json.ts'
import type { Position } from './accounting/position.ts'
import type { EngineParts } from './engine-parts.ts'
import type { EngineState } from './engine-state.ts'
import type { Command } from './messages.ts'
import type { WalletReconciler } from './wallet-reconciler.ts'

/** Carries out the commands of an operator. */
export class OperatorCommands {
  readonly #state: EngineState
  readonly #parts: EngineParts
  readonly #reconciler: WalletReconciler

  constructor(parts: EngineParts, reconciler: WalletReconciler) {
    this.#state = parts.state
    this.#parts = parts
    this.#reconciler = reconciler
  }

  take(command: Command): void {
    const state = this.#state
    const runners = this.#parts.bots.all()
    switch (command.name) {
      case 'halt':
        state.halt(true)
        break
      case 'resume':
        this.#liftStops()
        state.halt(false)
        break
      case 'accept':
        this.#reconciler.accept(command.signature)
        break
      case 'flatten':
        state.halt(true)
        this.#sellAll('flatten', () => true)
        break
      case 'sell':
        this.#sellAll('sold by hand', ({ mint }) => mint === command.mint)
        break
      case 'signal': {
        const data = plainJson(command.data, 'signal')
        for (const runner of runners) runner.guard(() => runner.handlers.onSignal?.(command.signal, data))
        break
      }
      case 'stop':
        state.stopping = true
        for (const runner of runners) runner.guard(() => runner.handlers.onStop?.())
    }
  }

  /** Lifts everything that stopped entries: quarantines, breaches, pauses, and the drawdown so far. */
  #liftStops(): void {
    const { scopes, results } = this.#parts
    for (const account of this.#state.book.accounts.values()) this.#reconciler.release(account)
    for (const scope of scopes.all()) results.forgive(scope)
  }

  /** Sells the positions that `which` selects and cancels their open buys. If such a buy still fills, its tokens are
   *  sold too. */
  #sellAll(reason: string, which: (of: Pick<Position, 'mint'>) => boolean): void {
    const { book } = this.#state
    this.#parts.conditionals.cancelBuys(which)
    for (const position of book.positions.all()) {
      if (!which(position)) continue
      const { account, mint } = position
      this.#parts.exits.sell(position, reason)
      for (const { order, state } of book.inLane({ account, mint, side: 'buy' }))
        if (state === 'accepted') this.#state.emit({ kind: 'cancel', orderId: order.id, code: 'CANCELLED' })
    }
  }
}
