import { formatSol } from '../base/units.ts'
import type { Config } from '../config/config.ts'
import { WARMUP_SECONDS } from '../config/default-values.ts'
import { checkSource } from '../config/source-check.ts'
import { MOST_WARMUP_SECONDS } from '../config/strategies.ts'
import { isReal } from '../engine/account.ts'
import { secondsOfBars } from '../engine/bars/bar-plan.ts'
import { EXIT_PRICE } from '../engine/exits/exit-settings.ts'
import type { StartInput } from '../engine/messages.ts'
import { isOpen } from '../engine/order.ts'
import type { RecoveredMoney } from '../engine/recovered-money.ts'
import type { BotSettings, Plan } from '../engine/settings.ts'
import type { SourceValue } from '../engine/sources.ts'
import type { JournalReader } from '../journal/reader/reader.ts'
import type { Recovered } from '../journal/reader/recovery.ts'
import type { ServiceProof } from '../orders/service-facts.ts'

/** The parts of a `StartInput` that do not come from the configuration. */
export interface Beginning
  extends Pick<
    StartInput,
    'segment' | 'code' | 'bots' | 'plan' | 'money' | 'stopped' | 'sources' | 'warm' | 'warmGaps' | 'warmTo'
  > {
  /** Units of the service's amounts, if they were proved. */
  readonly proof?: ServiceProof | undefined
}

/** A warm-up without market rows. */
export const NOT_WARM: StartInput['warm'] = { from: 1, to: 0 }

/** Returns the input that starts the engine of a live run, of a backtest, or of a strategy's test. */
export function startInput({ hash, service, lists }: Config, beginning: Beginning): StartInput {
  const { segment, code, bots, plan, money, stopped, sources, warm, warmGaps = [], warmTo, proof } = beginning
  const { tradePrice, tradeAmount } = service.units
  return {
    ...{ kind: 'start', segment, config: hash, code, seed: 1, bots, plan },
    units: { tradePrice, tradeAmount: tradeAmount === 'auto' ? (proof?.tradeAmount ?? 'auto') : tradeAmount },
    exitPrice: EXIT_PRICE,
    money,
    ...(stopped !== undefined && { stopped }),
    ...(lists.size > 0 && { lists: Object.fromEntries(lists) }),
    ...(sources !== undefined && sources.length > 0 && { sources }),
    warm,
    ...(warmGaps.length > 0 && { warmGaps }),
    ...(warmTo !== undefined && { warmTo }),
  }
}

const MINTS_NAMED = 5

/** Returns the money of these bots' accounts only. Other accounts of the journal belong to other configurations. */
function ownMoney(money: RecoveredMoney, bots: readonly BotSettings[]): RecoveredMoney {
  const accounts = new Set(bots.map(({ account }) => account.id))
  const names = new Set(bots.map(({ name }) => name))
  const mine = (record: { account: string }): boolean => accounts.has(record.account)
  return {
    ...money,
    accounts: money.accounts.filter(mine),
    bots: money.bots.filter(mine),
    orders: money.orders.filter(({ order }) => mine(order)),
    positions: money.positions.filter(mine),
    // Timers of bars, and timers of strategies that are no longer configured, are included so that the engine can
    // cancel them.
    timers: money.timers.filter(({ bot, owner }) => names.has(bot) || owner !== 'exits'),
    conditionals: money.conditionals.filter(mine),
    fills: money.fills.filter(mine),
    spends: money.spends.filter(mine),
    daySpends: money.daySpends.filter(mine),
    ...(money.tokenStates && { tokenStates: money.tokenStates.filter(mine) }),
  }
}

/** Describes real money in the journal that no bot of this start manages, one line per account: positions without
 *  active exits, and open orders. */
export function unattended({ positions, orders }: RecoveredMoney, bots: readonly BotSettings[]): string[] {
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
      `no bot manages ${account}: ${own.length} positions at a cost of ${formatSol(cost)} SOL (${named.join(', ')}), ${openCount} open orders; ` +
      'its exits are inactive until a bot with its wallet, service and chain runs with --live'
    )
  })
}

/** Returns the seconds of tape with which the bots are warmed up. If a strategy does not set `warmup`, the warm-up
 *  covers at least the time of all bars that the strategy declares. */
export function warmupSeconds({ bots }: Pick<Config, 'bots'>): number {
  return Math.max(0, ...bots.map(secondsOf))
}

function secondsOf({ strategy: { strategy }, params }: Config['bots'][number]): number {
  return strategy.warmup ?? Math.min(MOST_WARMUP_SECONDS, Math.max(WARMUP_SECONDS, secondsOfBars(strategy, params)))
}

/** Parts from which `recoveredStart` builds a `StartInput`. */
export interface Recovery {
  readonly config: Config
  readonly bots: readonly BotSettings[]
  readonly plan: Plan
  /** Hash of the code that makes decisions. */
  readonly code: string
  readonly past: Recovered
  readonly reader: JournalReader
  readonly proof?: ServiceProof | undefined
}

/** Returns the input that starts an engine from recovered state: the money, and the range of the tape for the
 *  warm-up. */
export function recoveredStart({ config, bots, past, reader, ...more }: Recovery): StartInput {
  const warm = bots.length === 0 ? NOT_WARM : reader.warmupRange(warmupSeconds(config))
  const money = ownMoney(past.money, bots)
  const sources = declaredOnly(reader, config)
  const usesBars = config.bots.some(({ strategy }) => strategy.strategy.bars !== undefined)
  const seen =
    usesBars && warm.from <= warm.to ? { warmGaps: reader.gapsSince(warm.from), warmTo: reader.seenTo() } : {}
  return startInput(config, { ...more, segment: past.lastSegment + 1, bots, money, sources, warm, ...seen })
}

/** Returns the last value of each source that a bot of this start declares. A value that the source's schema no longer
 *  accepts is left out. */
function declaredOnly(reader: JournalReader, { bots }: Pick<Config, 'bots'>): SourceValue[] {
  if (bots.every(({ strategy }) => strategy.strategy.sources === undefined)) return []
  return reader.lastSources().flatMap((value) => {
    const declared = bots.find(({ name }) => name === value.bot)?.strategy.strategy.sources?.[value.name]
    const checked = declared && checkSource(declared.schema, value.data)
    return checked?.ok ? [{ ...value, data: checked.data }] : []
  })
}
