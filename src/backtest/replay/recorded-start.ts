import { lamports, type Seq } from '../../base/units.ts'
import type { BotConfig, Config, WalletConfig } from '../../config/config.ts'
import { deskFrom } from '../../config/convert-sections.ts'
import { loadStrategy } from '../../config/strategies.ts'
import type { FillModel, ModelOf } from '../../engine/accounting/fill-assumptions.ts'
import { NO_FILTERS } from '../../engine/limits/entry-filters.ts'
import { NO_LIMITS } from '../../engine/limits/limit-rules.ts'
import type { Input, StartInput, StoppedBot } from '../../engine/messages.ts'
import type { Fill } from '../../engine/order.ts'
import type { RecoveredMoney } from '../../engine/recovered-money.ts'
import type { BotSettings } from '../../engine/settings.ts'
import type { SegmentItem } from '../../journal/tape/recorded-segments.ts'
import type { Mints } from '../../market/mints.ts'
import type { SegmentParts } from '../../runtime/segment.ts'
import type { Moments } from './moments.ts'
import type { RecordedOrders, RecordedOrdersOptions } from './recorded-orders.ts'

/** Input for the replay of a recorded start of a process: the state at the start, and what the process received from
 *  outside after the start. */
export interface ReplayedStart {
  readonly start: StartInput
  /** Whether the bots have the same accounts as in the recorded run; otherwise each has a backtest account. */
  readonly inOwnAccounts: boolean
  /** Yields the rows and inputs of the recorded start, in order. */
  readonly items: (mints: Mints) => Iterable<SegmentItem>
  /** Recorded inputs that the replay receives unchanged, by seq. */
  readonly told: ReadonlyMap<Seq, Input>
  readonly moments: Moments
  readonly hold: SegmentParts['hold']
  /** Creates the gateway for orders that the recorded run also made; undefined if all orders are simulated. */
  readonly orders: ((run: Pick<RecordedOrdersOptions, 'inner' | 'post' | 'executorOf'>) => RecordedOrders) | undefined
}

/** The recorded state of the bots' money, and the recorded inputs. In both, the accounts of the recorded run are
 *  replaced by the accounts that the bots have in the replay. */
export interface TakenOver {
  readonly money: RecoveredMoney
  readonly stopped: readonly StoppedBot[]
  readonly heard: (input: Input) => Input
  /** Fills that the recorded inputs report. The replay's paper wallet includes them from the beginning. */
  readonly fills: readonly Fill[]
}

/** Replaces the accounts in a recorded start by the accounts of `bots`. Each of these bots of the replay has the name
 *  of a bot of the recorded run. */
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
  const heard = (input: Input): Input =>
    input.kind !== 'report' || input.report.fill === undefined
      ? input
      : { ...input, report: { ...input.report, fill: moved(input.report.fill) } }
  return {
    money: {
      ...money,
      // If bots share an account in the recorded run but not in the replay, each of them gets the whole balance.
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
      ...(money.tokenStates && { tokenStates: money.tokenStates.map(moved) }),
    },
    stopped: start.stopped ?? [],
    heard,
    fills: [...told.values()].map(heard).flatMap((input) => (input.kind === 'report' && input.report.fill) || []),
  }
}

/** Creates the configuration of a backtest with the bots of a recorded start of a process. */
export async function configOf({ config, bots, plan, units, lists }: StartInput, modelOf: ModelOf): Promise<Config> {
  return {
    files: [],
    service: {
      ...{ kind: 'remote', baseUrl: '', wsUrl: '', host: bots[0]?.account.service ?? '' },
      ...{ plan, share: 1, lateMs: 0, units: { ...units, priceUpdate: 'auto', sell: 'auto' } },
    },
    chain: { rpc: [], secondOpinionLamports: lamports(0) },
    wallets: walletsOf(bots),
    journal: { path: '', keepTapeDays: 1, archive: false },
    desk: deskFrom(undefined, ''),
    bots: await Promise.all(bots.map((bot) => botOf(bot, modelOf(bot.name)))),
    lists: new Map(Object.entries(lists ?? {})),
    warnings: [],
    hash: config,
  }
}

/** The wallets of the bots by name. Older journals have neither names nor limits of wallets. */
function walletsOf(bots: readonly BotSettings[]): WalletConfig[] {
  const caps = { perTransaction: null, perHour: null, perDay: null }
  const limits = new Map(bots.map(({ wallet = '', walletLimits }) => [wallet, walletLimits ?? NO_LIMITS]))
  return [...limits].map(([name, own]) => ({ name, caps, limits: own }))
}

async function botOf(settings: BotSettings, model: FillModel): Promise<BotConfig> {
  const { account: _account, executor: _executor, paperLamports, seed, strategy, params, ...rest } = settings
  const { limits, filters } = rest
  return {
    ...rest,
    // Journals of older versions have no entries for newer limits and filters, which did not apply to those runs.
    ...{ limits: { ...NO_LIMITS, ...limits }, filters: filters ?? NO_FILTERS },
    ...{ strategy: await loadStrategy(strategy), params, mode: 'paper', executor: 'cloud' },
    paper: { ...model, lamports: paperLamports, seed },
    ...{ at: { file: '', line: 0, column: 0 }, exitSources: {}, overriddenExits: [] },
  }
}
