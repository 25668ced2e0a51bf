import { type Position, stepTokensDue } from '../../src/engine/accounting/position.ts'
import { pollSeconds, quietLimits } from '../../src/engine/exits/exit-settings.ts'
import { isFullExit, type Order } from '../../src/engine/order.ts'

/**
 * Returns the timers and orders that a position's exits need and that do not exist. `open` has the open orders.
 * `hasTimer` returns whether a timer of this name is set for a bot.
 */
export function exitComplaints(
  { account, bot, mint, tokens, exits, exiting, ...rest }: Position,
  open: readonly Order[],
  hasTimer: (bot: string, name: string) => boolean,
): string[] {
  if (tokens === 0n) return []
  const sales = open.filter((order) => order.account === account && order.mint === mint && order.side === 'sell')
  const goesOn = sales.some(isFullExit) || hasTimer(bot, `retry:${mint}`)
  const lacks = (what: string): string => `${bot} holds ${tokens} of ${mint} ${what}`
  if (exiting !== '') return goesOn ? [] : [lacks(`and nothing sells it, though: ${exiting}`)]
  const isStepDue = stepTokensDue({ account, bot, mint, tokens, exits, exiting, ...rest }) > 0n
  return [
    ...(isStepDue && !goesOn && sales.length === 0 ? [lacks('and nothing sells the part that is due')] : []),
    ...(exits.maxHoldSeconds !== undefined && !hasTimer(bot, `hold:${mint}`) ? [lacks('and its time is not set')] : []),
    ...(quietLimits(exits).length > 0 && !hasTimer(bot, `quiet:${mint}`)
      ? [lacks('and nobody looks whether it is quiet')]
      : []),
    ...(pollSeconds(exits) !== undefined && !hasTimer(bot, `poll:${mint}`) ? [lacks('and nobody reads its pool')] : []),
  ]
}
