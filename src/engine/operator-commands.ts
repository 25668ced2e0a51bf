import { plainJson } from '../base/json.ts'
import type { Position } from './accounting/position.ts'
import type { EngineParts } from './engine-parts.ts'
import type { EngineState } from './engine-state.ts'
import type { Command } from './messages.ts'
import type { WalletReconciler } from './wallet-reconciler.ts'

/** Reason of a buy by an operator. */
const BOUGHT_BY_HAND = 'bought by hand'

type Of<Name extends Command['name']> = Extract<Command, { name: Name }>

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
        state.halt(true, command.account)
        break
      case 'resume':
        this.#liftStops(command.account)
        state.halt(false, command.account)
        break
      case 'accept':
        this.#reconciler.accept(command.signature, command.account)
        break
      case 'flatten':
        state.halt(true, command.account)
        this.#sellAll('flatten', (of) => isOf(of, command.account))
        break
      case 'sell':
        this.#sellAll('sold by hand', (of) => of.mint === command.mint && isOf(of, command.account))
        break
      case 'buy':
        this.#buy(command)
        break
      case 'cancel':
        this.#cancel(command.order)
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

  /** Makes a buy that passes the same checks as a buy of the strategy. */
  #buy({ bot, mint, sol }: Of<'buy'>): void {
    const runner = this.#parts.bots.of(bot)
    if (runner === undefined) return // the bot is not configured, for example in a replay with other bots
    const placed = this.#parts.factory.buy(runner, mint, { sol, reason: BOUGHT_BY_HAND })
    if (placed.ok) runner.refresh(mint)
    else
      this.#state.emit({ kind: 'refused', bot, mint, code: placed.code, reason: `${BOUGHT_BY_HAND}: ${placed.reason}` })
  }

  #cancel(id: string): void {
    const { book } = this.#state
    const open = book.orders.get(id)
    if (open === undefined) this.#parts.conditionals.cancelByHand(id)
    else if (book.mayCancel(open)) this.#state.emit({ kind: 'cancel', orderId: id, code: 'CANCELLED' })
  }

  /** Ends everything that stops entries until the operator resumes: the refusal to buy mints whose tokens are missing
   *  in the wallet, the stop after an execution that contradicts the evidence, and the pause after losses. The drawdown
   *  begins again at the current result. */
  #liftStops(only: string | undefined): void {
    const { scopes, results } = this.#parts
    for (const account of this.#state.book.accounts.values()) if (isOf(account, only)) this.#reconciler.release(account)
    for (const scope of scopes.all()) if (isOf(scope, only)) results.forgive(scope)
  }

  /** Sells the positions that `which` selects, and cancels their open buys. If such a buy still fills, its tokens are
   *  sold too. */
  #sellAll(reason: string, which: (of: Pick<Position, 'account' | 'mint'>) => boolean): void {
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

/** Whether an object belongs to the account `only`; true for every object if `only` is undefined. */
function isOf({ account }: { readonly account: string }, only: string | undefined): boolean {
  return only === undefined || account === only
}
