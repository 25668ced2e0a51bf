import type { Config } from '../config/config.ts'
import { isReal } from '../core/account.ts'
import type { ServiceProof } from '../core/learned.ts'
import type { StartInput } from '../core/messages.ts'
import type { Money } from '../core/money.ts'
import { isOpen } from '../core/order.ts'
import type { BotSettings, Plan } from '../core/settings.ts'
import { formatSol } from '../core/units.ts'
import type { JournalReader } from '../journal/reader.ts'
import type { Recovered } from '../journal/recovery.ts'

const WARMUP_SECONDS = 600

/** The money of these accounts only: nothing else in the journal is ours to act on. */
function ownMoney(money: Money, bots: readonly BotSettings[]): Money {
  const accounts = new Set(bots.map(({ account }) => account.id))
  const names = new Set(bots.map(({ name }) => name))
  const mine = (record: { account: string }): boolean => accounts.has(record.account)
  return {
    ...money,
    accounts: money.accounts.filter(mine),
    bots: money.bots.filter(mine),
    orders: money.orders.filter(({ order }) => mine(order)),
    positions: money.positions.filter(mine),
    timers: money.timers.filter(({ bot }) => names.has(bot)),
    conditionals: money.conditionals.filter(mine),
    fills: money.fills.filter(mine),
    spends: money.spends.filter(mine),
    daySpends: money.daySpends.filter(mine),
  }
}

/** What the journal holds of real money that no bot of this start sees to, one line an account: positions without exits, and orders in doubt. */
export function unattended({ positions, orders }: Money, bots: readonly BotSettings[]): string[] {
  const attended = new Set(bots.map(({ account }) => account.id))
  const isLeft = ({ account }: { account: string }): boolean => isReal(account) && !attended.has(account)
  const held = positions.filter((position) => position.tokens > 0n && isLeft(position))
  const open = orders.filter(({ order, state }) => isOpen(state) && isLeft(order))
  const accounts = new Set([...held, ...open.map(({ order }) => order)].map(({ account }) => account))
  return [...accounts].map((account) => {
    const own = held.filter((position) => position.account === account)
    const cost = own.reduce((sum, { costLamports }) => sum + costLamports, 0)
    const openCount = open.filter(({ order }) => order.account === account).length
    return (
      `nobody sees to ${account}: ${own.length} held for ${formatSol(cost)} SOL (${own.map(({ mint }) => mint).join(', ')}), ${openCount} open ` +
      'orders; no exit of it goes until a bot with its wallet, service and chain runs with --live'
    )
  })
}

/** How much of the tape the bots are shown before they begin. */
export function warmupSeconds({ bots }: Pick<Config, 'bots'>): number {
  return Math.max(0, ...bots.map(({ strategy }) => strategy.strategy.warmup ?? WARMUP_SECONDS))
}

/** What a segment begins with. */
export function startInput(
  config: Config,
  bots: readonly BotSettings[],
  plan: Plan,
  code: string,
  past: Recovered,
  reader: JournalReader,
  proof: ServiceProof | undefined,
): StartInput {
  const seconds = warmupSeconds(config)
  const { tradePrice, tradeAmount } = config.service.units
  return {
    kind: 'start',
    segment: past.lastSegment + 1,
    config: config.hash,
    code,
    seed: 1,
    bots,
    plan,
    units: { tradePrice, tradeAmount: tradeAmount === 'auto' ? (proof?.tradeAmount ?? 'auto') : tradeAmount },
    money: ownMoney(past.money, bots),
    ...(config.lists.size > 0 && { lists: Object.fromEntries(config.lists) }),
    warm: bots.length === 0 ? { from: 1, to: 0 } : reader.warmupRange(seconds),
  }
}
