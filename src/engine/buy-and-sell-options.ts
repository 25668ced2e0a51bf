import { baseUnits, type Lamports, type Millis, solToLamports, wholeTokens } from '../base/units.ts'
import type { Position } from './accounting/position.ts'
import { readDefaultExits, readExits } from './exits/exit-request.ts'
import { describe } from './exits/exit-rules.ts'
import type { ExitRules } from './exits/exit-settings.ts'
import type { Veto } from './limits/order-bounds.ts'
import { MOST_BUY_STEPS, type Size } from './order.ts'
import type { OrderSettings } from './settings.ts'
import type { BuyOptions, SellOptions } from './strategy.ts'

// These functions convert the requests of strategies to the engine's units. A strategy is arbitrary code, so every
// field may have any value.

export interface BuyRequest {
  readonly amount: Lamports
  /** `slippagePercent` is the highest of `slippagePercents`, because limits and the reservation use it. */
  readonly orders: Pick<OrderSettings, 'slippagePercent' | 'priorityFeeLamports'>
  /** Slippage of the first, second, ... attempt. */
  readonly slippagePercents: readonly number[]
  readonly ttlMs: Millis
  /** The exits of the bot, overridden by the exits of the order. */
  readonly exits: ExitRules
  readonly scaleIn: boolean
  readonly reason: string
  readonly tag: string | undefined
}

/** The cause of an order: its reason and its tag. */
export interface Cause {
  readonly reason: string
  readonly tag?: string | undefined
}

export interface SellRequest extends Cause {
  readonly size: Size
}

const LONGEST_TEXT = 500
const LONGEST_TAG = 50
const MOST_TTL_SECONDS = 86_400
/** An amount above the maximum of every plan. It replaces larger amounts, and `checkRanges` then refuses it. */
const MOST_SOL = 1e6

/** Reads a buy. `checkRanges` checks its amount, slippage and fee later. */
export function readBuy(options: BuyOptions, settings: OrderSettings, defaults: ExitRules): BuyRequest | Veto {
  const named: unknown = options.exits ?? undefined
  const exits = named === undefined ? readDefaultExits(defaults) : readExits(named, defaults)
  const reason = readText(options.reason)
  const tag = readTag(options)
  const ttlMs = options.ttlSeconds === undefined ? settings.ttlMs : Math.round(options.ttlSeconds * 1000)
  if (reason === undefined) return invalid('reason is required and must be a string')
  if (!(ttlMs > 0 && ttlMs <= MOST_TTL_SECONDS * 1000))
    return invalid(`ttlSeconds must be above 0 and at most ${MOST_TTL_SECONDS}, got ${options.ttlSeconds}`)
  if (typeof exits === 'string') return invalid(exits)
  if (typeof tag === 'object') return tag
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
    tag,
  }
}

/** Returns the slippage of each attempt. If the order sets a ladder or a single value, it is used; otherwise that of
 *  the bot. Returns a text if the ladder is invalid. `checkRanges` checks a single value later. */
function readSlippages(options: BuyOptions, settings: OrderSettings): readonly number[] | string {
  const { slippagePercent, slippageLadder: ladder } = options as { [K in keyof BuyOptions]: unknown }
  if (ladder === undefined) {
    if (slippagePercent !== undefined) return [slippagePercent as number]
    return settings.slippageLadder ?? [settings.slippagePercent]
  }
  if (slippagePercent !== undefined) return 'set slippagePercent or slippageLadder, not both'
  const expected = `slippageLadder: expected 1 to ${MOST_BUY_STEPS} rising numbers of at least 0.1`
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
  const tag = readTag(options)
  if (reason === undefined) return invalid('reason is required and must be a string')
  if (typeof tag === 'object') return tag
  if ([all, percent, tokens].filter((size) => size !== undefined).length !== 1)
    return invalid('set exactly one of all, percent and tokens')
  if (all !== undefined) return all === true ? { size: { kind: 'all' }, reason, tag } : invalid('all must be true')
  const size = percent === undefined ? sizeOfTokens(tokens, position) : sizeOfPercent(percent)
  return typeof size === 'string' ? invalid(size) : { size, reason, tag }
}

/** Returns a text cut to `longest` characters; undefined if the value is not a string. */
export function readText(text: unknown, longest = LONGEST_TEXT): string | undefined {
  return typeof text === 'string' ? text.slice(0, longest) : undefined
}

/** Returns the tag of an order; undefined if it has none. A tag that is too long is refused instead of cut, because
 *  cutting could make two different tags equal. */
function readTag({ tag }: { readonly tag?: unknown }): string | undefined | Veto {
  if (tag === undefined || tag === '') return undefined
  if (typeof tag === 'string' && tag.length <= LONGEST_TAG) return tag
  return invalid(`tag: expected text of at most ${LONGEST_TAG} characters`)
}

function sizeOfPercent(percent: unknown): Size | string {
  const rounded = typeof percent === 'number' ? Math.floor(percent * 100) / 100 : Number.NaN
  if (!(rounded > 0)) return `percent must be above 0, got ${describe(percent)}`
  return rounded >= 100 ? { kind: 'all' } : { kind: 'percent', percent: rounded }
}

/** Reads an amount of whole tokens. If it is at least the holding that the strategy sees, everything is sold: the
 *  strategy sees the holding as a double, whose rounding may differ by some base units. */
function sizeOfTokens(tokens: unknown, position: Pick<Position, 'tokens' | 'decimals'>): Size | string {
  if (!Number.isFinite(tokens)) return `tokens must be a positive number, got ${describe(tokens)}`
  const { decimals } = position
  if ((tokens as number) >= wholeTokens(position.tokens, decimals)) return { kind: 'all' }
  const units = baseUnits(tokens as number, decimals)
  return units > 0n
    ? { kind: 'tokens', tokens: units, decimals }
    : `tokens must be a positive number, got ${describe(tokens)}`
}

function lamportsOf(sol: unknown): Lamports {
  return solToLamports(Number.isFinite(sol) ? Math.min(Math.max(sol as number, 0), MOST_SOL) : 0)
}

function invalid(reason: string): Veto {
  return { code: 'REQUEST_INVALID', reason }
}
