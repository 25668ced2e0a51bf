import { baseUnits, type Lamports, type Millis, solToLamports, wholeTokens } from '../base/units.ts'
import type { Position } from './accounting/position.ts'
import { readDefaultExits, readExits } from './exits/exit-request.ts'
import { describe } from './exits/exit-rows.ts'
import type { ExitRules } from './exits/exit-rules.ts'
import type { Veto } from './limits/order-bounds.ts'
import { MOST_BUY_STEPS, type Size } from './order.ts'
import type { OrderSettings } from './settings.ts'
import type { BuyOptions, SellOptions } from './strategy.ts'
import { MOST_TIMERS, SHORTEST_TIMER_MS } from './timers.ts'

// What strategies ask for, in the engine's units. A strategy is anybody's code: what it hands over may be any value at
// all.

export interface BuyRequest {
  readonly amount: Lamports
  /** `slippagePercent`: the highest of them, which the limits and the reservation count. */
  readonly orders: Pick<OrderSettings, 'slippagePercent' | 'priorityFeeLamports'>
  /** Of the first, second, ... try. */
  readonly slippagePercents: readonly number[]
  readonly ttlMs: Millis
  /** Those of the bot with those of the order. */
  readonly exits: ExitRules
  readonly scaleIn: boolean
  readonly reason: string
}

export interface SellRequest {
  readonly size: Size
  readonly reason: string
}

const LONGEST_TEXT = 500
const MOST_TTL_SECONDS = 86_400
const LONGEST_TIMER_SECONDS = 1e9
/** Beyond any plan's largest order; what is no amount at all is none, and so outside of every range. */
const MOST_SOL = 1e6

/** Amounts, slippage and fee are left to `checkRanges`. */
export function readBuy(options: BuyOptions, settings: OrderSettings, usual: ExitRules): BuyRequest | Veto {
  const named: unknown = options.exits ?? undefined
  const exits = named === undefined ? readDefaultExits(usual) : readExits(named, usual)
  const reason = readText(options.reason)
  const ttlMs = options.ttlSeconds === undefined ? settings.ttlMs : Math.round(options.ttlSeconds * 1000)
  if (reason === undefined) return invalid('reason is no text')
  if (!(ttlMs > 0 && ttlMs <= MOST_TTL_SECONDS * 1000)) return invalid(`ttlSeconds is ${options.ttlSeconds}`)
  if (typeof exits === 'string') return invalid(exits)
  const slippagePercents = readSlippages(options, settings)
  if (typeof slippagePercents === 'string') return invalid(slippagePercents)
  return {
    amount: lamportsOf(options.sol),
    slippagePercents,
    orders: {
      slippagePercent: slippagePercents.at(-1) as number,
      priorityFeeLamports:
        options.priorityFeeSol === undefined ? settings.priorityFeeLamports : lamportsOf(options.priorityFeeSol),
    },
    ttlMs,
    exits,
    scaleIn: options.scaleIn === true,
    reason,
  }
}

/** The order's own before the bot's; why not, where they are no ladder. A single one is left to `checkRanges`. */
function readSlippages(options: BuyOptions, settings: OrderSettings): readonly number[] | string {
  const { slippagePercent, slippageLadder: ladder } = options as { [K in keyof BuyOptions]: unknown }
  if (ladder === undefined) {
    if (slippagePercent !== undefined) return [slippagePercent as number]
    return settings.slippageLadder ?? [settings.slippagePercent]
  }
  if (slippagePercent !== undefined) return 'give one of slippagePercent and slippageLadder'
  const expected = `slippageLadder: expected 1 to ${MOST_BUY_STEPS} rising numbers from 0.1 on`
  if (!Array.isArray(ladder) || ladder.length === 0 || ladder.length > MOST_BUY_STEPS) return expected
  const steps = [...ladder] as unknown[]
  const isLadder = steps.every(
    (step, index) => typeof step === 'number' && step >= 0.1 && !(step <= Number(steps[index - 1])),
  )
  return isLadder ? (steps as number[]) : expected
}

export function readSell(options: SellOptions, position: Pick<Position, 'tokens' | 'decimals'>): SellRequest | Veto {
  const { all, percent, tokens, reason: text } = options as Partial<Record<string, unknown>>
  const reason = readText(text)
  if (reason === undefined) return invalid('reason is no text')
  if ([all, percent, tokens].filter((size) => size !== undefined).length !== 1)
    return invalid('give one of all, percent and tokens')
  if (all !== undefined) return all === true ? { size: { kind: 'all' }, reason } : invalid('all is not true')
  const size = percent === undefined ? sizeOfTokens(tokens, position) : sizeOfPercent(percent)
  return typeof size === 'string' ? invalid(size) : { size, reason }
}

/** Milliseconds of a strategy's timer; throws what no timer can be. One that is too short is for `timerRefusal`. */
export function readTimer(name: unknown, seconds: unknown): Millis {
  if (typeof name !== 'string' || name === '' || readText(name) !== name)
    throw new TypeError('the name of a timer is a text')
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= LONGEST_TIMER_SECONDS))
    throw new RangeError(`timer ${name}: ${seconds} seconds`)
  return Math.max(1, Math.round(seconds * 1000))
}

/** Why a strategy may not have a timer. `others`: how many it has beside. */
export function timerRefusal(name: string, ms: Millis, others: number): Veto | undefined {
  if (ms < SHORTEST_TIMER_MS)
    return {
      code: 'TIMER_TOO_SHORT',
      reason: `timer ${name}: ${ms / 1000} s is shorter than ${SHORTEST_TIMER_MS / 1000} s, so it is not set`,
    }
  if (others >= MOST_TIMERS)
    return { code: 'TIMERS_FULL', reason: `timer ${name}: the bot has ${MOST_TIMERS} timers already, so it is not set` }
  return undefined
}

/** Cut where it is too long for anybody to read; undefined for what is no text. */
export function readText(text: unknown, longest = LONGEST_TEXT): string | undefined {
  return typeof text === 'string' ? text.slice(0, longest) : undefined
}

function sizeOfPercent(percent: unknown): Size | string {
  const rounded = typeof percent === 'number' ? Math.floor(percent * 100) / 100 : Number.NaN
  if (!(rounded > 0)) return `percent is ${describe(percent)}`
  return rounded >= 100 ? { kind: 'all' } : { kind: 'percent', percent: rounded }
}

/** As many whole tokens as the strategy is shown are all, though a double may fall short of them by some base units. */
function sizeOfTokens(tokens: unknown, position: Pick<Position, 'tokens' | 'decimals'>): Size | string {
  if (!Number.isFinite(tokens)) return `tokens is ${describe(tokens)}`
  const { decimals } = position
  if ((tokens as number) >= wholeTokens(position.tokens, decimals)) return { kind: 'all' }
  const units = baseUnits(tokens as number, decimals)
  return units > 0n ? { kind: 'tokens', tokens: units, decimals } : `tokens is ${describe(tokens)}`
}

function lamportsOf(sol: unknown): Lamports {
  return solToLamports(Number.isFinite(sol) ? Math.min(Math.max(sol as number, 0), MOST_SOL) : 0)
}

function invalid(reason: string): Veto {
  return { code: 'REQUEST_INVALID', reason }
}
