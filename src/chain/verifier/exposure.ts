import type { AskedTrade } from '../../core/asked-trade.ts'
import type { Refusal } from '../../core/errors.ts'
import { WSOL_MINT } from '../../core/programs.ts'
import { type AccountState, tokenAccountOf } from './account-state.ts'
import type { Verdict } from './verify.ts'

/** What a program that is not understood gets hold of with the wallet's signature, although neither bound nor guard counts it: other tokens of
 *  the wallet's, and programs that keep more for the wallet (stakes, for one) and that it could call. It may leave both alone in a simulation,
 *  so that it must not be handed them at all. `states`: of all accounts of the message. */
export function exposedBy(
  states: ReadonlyMap<string, AccountState | null>,
  asked: AskedTrade,
  { own }: Verdict,
  mayCall: readonly string[],
): Refusal[] {
  return [...states].flatMap(([address, state]): Refusal[] => {
    if (state?.executable && !mayCall.includes(address))
      return [{ code: 'INNER_PROGRAM', reason: `${address} could be called by a program that is not understood` }]
    const tokens = tokenAccountOf(state)
    if (tokens === undefined || tokens.owner !== asked.wallet) return []
    // Wrapped SOL is not kept between trades; a right to any other empty account would wait for what is bought next.
    const isEmptyWrapped = tokens.mint === WSOL_MINT && tokens.tokens === 0n
    if (own.includes(address) && (tokens.mint === asked.mint || isEmptyWrapped)) return []
    const reason = `${address} holds ${tokens.tokens} of ${tokens.mint}, which a program that is not understood could take`
    return [{ code: 'ACCOUNT_FOREIGN', reason }]
  })
}
