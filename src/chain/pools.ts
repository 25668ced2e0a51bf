import type { TradeSide } from '../core/order.ts'
import { PROGRAMS, WSOL_MINT } from '../core/programs.ts'
import type { Call } from './calls.ts'
import { balanceChange, tokenChanges } from './change.ts'
import { tokenMove } from './payments.ts'
import type { LandedTransaction } from './transaction.ts'

/** Solana's own programs: none of them is a venue. */
const NATIVE: readonly string[] = [
  ...[PROGRAMS.system, PROGRAMS.token, PROGRAMS.token2022, PROGRAMS.associatedToken, PROGRAMS.computeBudget],
  ...[PROGRAMS.memo, PROGRAMS.memo1],
]

/** Whoever has less of the token after a buy, more after a sale, and their change of SOL; wrapped SOL of a pool lies in an account that it owns. */
export function poolsOf(
  transaction: LandedTransaction,
  wallet: string,
  mint: string,
  side: TradeSide,
): { accounts: ReadonlySet<string>; lamports: number } {
  const { accounts, before, after } = transaction
  const changes = tokenChanges(transaction, mint)
  const owners = new Set(
    [...changes].flatMap(([owner, change]) =>
      owner !== wallet && owner !== '' && (side === 'buy' ? change < 0n : change > 0n) ? owner : [],
    ),
  )
  const places = new Set<number>()
  for (const owner of owners) places.add(accounts.indexOf(owner))
  for (const { owner, mint: held, account } of [...before, ...after])
    if (held === WSOL_MINT && owners.has(owner)) places.add(account)
  places.delete(-1)
  const change = [...places].reduce((sum, place) => sum + balanceChange(transaction, place), 0)
  return {
    accounts: new Set([...places].map((place) => accounts[place] as string)),
    lamports: side === 'buy' ? change : 0 - change,
  }
}

/** The calls of the program that moved the tokens, and all that it was called with. Where nobody saw tokens move, as when a program keeps
 *  its own book, the message's calls that name our account: whose fee is whose is not to be seen then. */
export function venueOf(
  { calls }: LandedTransaction,
  own: ReadonlyMap<string, string>,
  mint: string,
): { frames: ReadonlySet<Call>; accounts: ReadonlySet<string>; movedTokens: boolean } {
  const isOurs = (key: string): boolean => own.get(key) === mint
  const all = calls?.all ?? []
  const movers = new Set(
    all.flatMap((call) => {
      const move = tokenMove(call)
      return move !== undefined && call.parent !== undefined && (isOurs(move.from) || isOurs(move.to))
        ? call.parent
        : []
    }),
  )
  const around = all.filter(
    ({ program, accounts, parent }) => parent === undefined && !NATIVE.includes(program) && accounts.some(isOurs),
  )
  const frames = movers.size > 0 ? movers : new Set(around)
  const accounts = new Set([...frames].flatMap((call) => call.accounts))
  return { frames, accounts, movedTokens: movers.size > 0 }
}
