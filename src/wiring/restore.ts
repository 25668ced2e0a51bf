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
import { NOT_WARM, startInput } from './start-input.ts'

const WARMUP_SECONDS = 600
const MINTS_NAMED = 5

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
    // Timers of strategies whose bot is not configured any more go along: the engine ends them.
    timers: money.timers.filter(({ bot, owner }) => names.has(bot) || owner === 'strategy'),
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
    const named = own.slice(0, MINTS_NAMED).map(({ mint }) => mint)
    if (own.length > named.length) named.push('...')
    return (
      `nobody sees to ${account}: ${own.length} held for ${formatSol(cost)} SOL (${named.join(', ')}), ${openCount} open orders; ` +
      'no exit of it goes until a bot with its wallet, service and chain runs with --live'
    )
  })
}

/** How much of the tape the bots are shown before they begin. */
export function warmupSeconds({ bots }: Pick<Config, 'bots'>): number {
  return Math.max(0, ...bots.map(({ strategy }) => strategy.strategy.warmup ?? WARMUP_SECONDS))
}

/** What a segment that goes on from a journal is made from. */
export interface Recovery {
  readonly config: Config
  readonly bots: readonly BotSettings[]
  readonly plan: Plan
  /** Hash of the code that decides. */
  readonly code: string
  readonly past: Recovered
  readonly reader: JournalReader
  readonly proof?: ServiceProof | undefined
}

/** What a segment begins with that goes on from what was recovered: money from rows, and the tape that its strategies are warmed up with. */
export function recoveredStart({ config, bots, past, reader, ...more }: Recovery): StartInput {
  const warm = bots.length === 0 ? NOT_WARM : reader.warmupRange(warmupSeconds(config))
  return startInput(config, { ...more, segment: past.lastSegment + 1, bots, money: ownMoney(past.money, bots), warm })
}
