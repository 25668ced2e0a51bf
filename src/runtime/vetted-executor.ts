import { type MintFacts, mintRefusal, type TokenChecks } from '../core/mint-check.ts'
import type { Attempt, CalledOff } from '../core/order.ts'
import type { Clock, Executor, Outcome } from '../core/ports.ts'

export interface VettedParts {
  readonly clock: Clock
  readonly executor: Executor
  /** What a bot looks at. */
  readonly checksOf: (bot: string) => TokenChecks
  /** May tell at once; undefined: nobody could say in time. */
  readonly read: (mint: string, told: (facts: MintFacts | undefined) => void) => void
  /** Why the order may not be sent any more. */
  readonly refusalOf: (orderId: string) => CalledOff | 'TTL' | undefined
}

/** Lets a buy through to its executor once what its mint allows is known, and is nothing that its bot refuses; sales at once. The engine is
 *  told of the mint too, and refuses the next buy itself. */
export class VettedExecutor implements Executor {
  readonly #parts: VettedParts

  constructor(parts: VettedParts) {
    this.#parts = parts
  }

  execute(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const { executor, checksOf, read } = this.#parts
    const checks = checksOf(attempt.bot)
    if (attempt.side === 'sell' || checks.when === 'off') executor.execute(attempt, done)
    else if (checks.when === 'after') {
      executor.execute(attempt, done)
      read(attempt.mint, () => {})
    } else read(attempt.mint, (facts) => this.#vet(attempt, checks, facts, done))
  }

  resume(attempt: Attempt, done: (outcome: Outcome) => void): void {
    this.#parts.executor.resume(attempt, done)
  }

  #vet(attempt: Attempt, checks: TokenChecks, facts: MintFacts | undefined, done: (outcome: Outcome) => void): void {
    const { clock, executor, refusalOf } = this.#parts
    const unread = { code: 'MINT_UNREAD', reason: `nobody could say what ${attempt.mint} allows` } as const
    const refusal = facts === undefined ? unread : mintRefusal(facts, checks)
    if (refusal !== undefined) clock.after(0, () => done({ kind: 'refused', ...refusal, retry: 'never' }))
    else {
      const late = refusalOf(attempt.orderId)
      if (late === undefined) executor.execute(attempt, done)
      else clock.after(0, () => done(LATE[late]))
    }
  }
}

const LATE: Readonly<Record<CalledOff | 'TTL', Outcome>> = {
  TTL: { kind: 'unsent', reason: 'the answer about its mint took longer than the time to live' },
  EXIT_UNPROVED: {
    ...{ kind: 'unsent', code: 'EXIT_UNPROVED' },
    reason: 'a full exit of its mint was accepted before the answer about it came',
  },
  HALTED: { kind: 'unsent', code: 'HALTED', reason: 'entries were halted before the answer about its mint came' },
  DISK_LOW: {
    ...{ kind: 'unsent', code: 'DISK_LOW' },
    reason: 'the disk that holds the journal ran low before the answer about its mint came',
  },
}
