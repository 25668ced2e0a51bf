import type { Position } from '../../src/engine/accounting/position.ts'
import { pollSeconds, quietLimits } from '../../src/engine/exits/exit-settings.ts'
import { stepTokensDue } from '../../src/engine/exits/take-profit-steps.ts'
import { isFullExit, type Order } from '../../src/engine/order.ts'

/**
 * Returns a text for each missing timer or order: the exits of the position need it, but it does not exist. `open`: all
 * open orders. `hasTimer` returns whether a bot has set a timer with the given name.
 */
export function exitComplaints(
  position: Position,
  open: readonly Order[],
  hasTimer: (bot: string, name: string) => boolean,
): string[] {
  const { account, bot, mint, tokens, exits, exiting } = position
  if (tokens === 0n) return []
  const sales = open.filter((order) => order.account === account && order.mint === mint && order.side === 'sell')
  const goesOn = sales.some(isFullExit) || hasTimer(bot, `retry:${mint}`)
  const lacks = (what: string): string => `${bot} holds ${tokens} of ${mint} ${what}`
  if (exiting !== '')
    return goesOn ? [] : [lacks(`and no order or timer sells it, although its exit began: ${exiting}`)]
  const isStepDue = stepTokensDue(position) > 0n
  return [
    ...(isStepDue && !goesOn && sales.length === 0 ? [lacks('and no order or timer sells the part that is due')] : []),
    ...(exits.maxHoldSeconds !== undefined && !hasTimer(bot, `hold:${mint}`)
      ? [lacks('and has no timer for its maximum holding time')]
      : []),
    ...(quietLimits(exits).length > 0 && !hasTimer(bot, `quiet:${mint}`)
      ? [lacks('and has no timer that checks whether the token is quiet')]
      : []),
    ...(pollSeconds(exits) !== undefined && !hasTimer(bot, `poll:${mint}`)
      ? [lacks('and has no timer that reads its pool')]
      : []),
  ]
}
