import type { Told } from '../../backtest/run-record.ts'
import type { StartInput, StoppedBot } from '../../core/messages.ts'
import type { Money } from '../../core/money.ts'
import type { Fill } from '../../core/order.ts'
import type { BotSettings } from '../../core/settings.ts'

/** What a replay takes over of a start of a run: its money, and what it is told from outside while it goes on. */
export interface ReplayedStart {
  readonly start: StartInput
  readonly told: readonly Told[]
}

/** The same for bots that have other accounts in the replay. */
export interface TakenOver {
  readonly money: Money
  readonly stopped: readonly StoppedBot[]
  readonly told: readonly Told[]
  /** Fills among what is told: a wallet on paper has them from the beginning. */
  readonly fills: readonly Fill[]
}

/** `bots`: of the replay, with the names that the run's have. */
export function takenOver({ start, told }: ReplayedStart, bots: readonly BotSettings[]): TakenOver {
  const byName = new Map(bots.map(({ name, account }) => [name, account.id]))
  const heirs = new Map<string, Set<string>>()
  for (const { name, account } of start.bots) {
    const heir = byName.get(name)
    if (heir !== undefined) heirs.set(account.id, (heirs.get(account.id) ?? new Set()).add(heir))
  }
  const accountOf = (account: string, bot: string): string =>
    byName.get(bot) ?? heirs.get(account)?.values().next().value ?? account
  const moved = <T extends { readonly account: string; readonly bot: string }>(record: T): T => ({
    ...record,
    account: accountOf(record.account, record.bot),
  })
  const { money } = start
  const heard = told.flatMap(({ time, input }): Told[] => {
    if ((input.kind === 'gate' || input.kind === 'foreign') && input.account !== '')
      return [...(heirs.get(input.account) ?? [])].map((account) => ({ time, input: { ...input, account } }))
    if (input.kind !== 'report' || input.report.fill === undefined) return [{ time, input }]
    return [{ time, input: { ...input, report: { ...input.report, fill: moved(input.report.fill) } } }]
  })
  return {
    money: {
      ...money,
      // Bots that share an account in the run and not in the replay have each what is in it.
      accounts: money.accounts.flatMap((one) =>
        [...(heirs.get(one.account) ?? [])].map((account) => ({ ...one, account, slot: 0 })),
      ),
      bots: money.bots.map(moved),
      orders: money.orders.map(({ order, state }) => ({ order: moved(order), state })),
      positions: money.positions.map(moved),
      conditionals: money.conditionals.map(moved),
      fills: money.fills.map(moved),
      spends: money.spends.map(moved),
      daySpends: money.daySpends.map(moved),
    },
    stopped: start.stopped ?? [],
    told: heard,
    fills: heard.flatMap(({ input }) => (input.kind === 'report' && input.report.fill ? [input.report.fill] : [])),
  }
}
