import { type Lamports, solToLamports } from '../../src/base/units.ts'
import type { Attempt } from '../../src/orders/attempt.ts'

/** Returns an attempt to buy `sol` SOL of a mint, in the state `armed`: recorded, but not sent. */
export function buyAttempt(mint: string, sol: number, more: Partial<Attempt> = {}): Attempt {
  return { ...armed(mint), side: 'buy', class: 'entry', size: { kind: 'sol', lamports: solToLamports(sol) }, ...more }
}

/** Returns an attempt to sell everything, in the state `armed`. */
export function sellAttempt(mint: string, more: Partial<Attempt> = {}): Attempt {
  return { ...armed(mint), side: 'sell', class: 'exit', size: { kind: 'all' }, ...more }
}

function armed(mint: string): Omit<Attempt, 'side' | 'class' | 'size'> {
  return {
    id: 'o1.1',
    orderId: 'o1',
    account: 'paper|test||bot',
    bot: 'bot',
    executor: 'paper',
    mint,
    slippagePercent: 10,
    priorityFeeLamports: null as Lamports | null,
    price: null,
    armedAt: 0,
    baseline: null,
    state: 'armed',
    signature: '',
    code: '',
  }
}
