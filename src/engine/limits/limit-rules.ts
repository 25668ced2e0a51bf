import { z } from 'zod'
import type { ErrorCode, Refusal } from '../../base/errors.ts'
import { endOfDay, formatInstant, type Lamports, type Millis, formatSol as sol } from '../../base/units.ts'
import { LEAST_SECONDS, LEAST_SLIPPAGE, LEAST_SOL, MOST_SLIPPAGE, MOST_SOL } from '../setting-bounds.ts'
import { rowsOf, type SettingRow, settingsFrom } from './setting-rows.ts'

// The table of all limits. The entry of a limit has its key in the YAML, its schema, unit, default and checks, its
// sentence for `sluice check`, and the function that refuses a buy with an error code.

/** Limits that a strategy cannot exceed; null means no limit, because JSON has no Infinity. */
export interface Limits {
  readonly maxLamportsPerOrder: Lamports | null
  /** Smallest allowed buy. Fees are a larger share of a small buy. */
  readonly minLamportsPerOrder: Lamports | null
  /** Largest slippage that a buy may accept. */
  readonly maxSlippagePercent: number | null
  /** Number of consecutive positions that closed at a loss, after fees and rent. When it is reached, entries pause for
   *  `streakPauseMs`. */
  readonly maxLosingStreak: number | null
  readonly streakPauseMs: Millis
  /** Largest sum of SOL requested by buys in any 60 minutes. Open buys and buys with an unknown outcome count too. */
  readonly maxLamportsPerHour: Lamports | null
  /** Largest sum of SOL requested by buys since 00:00 UTC. */
  readonly maxLamportsPerDay: Lamports | null
  readonly maxOpenPositions: number | null
  /** Most SOL at risk in one mint. At risk is the cost of the position, or its value if that is higher. */
  readonly maxLamportsPerMint: Lamports | null
  /** Most SOL at risk in the tokens of one creator, including open buys. All unknown creators count as one creator. */
  readonly maxLamportsPerCreator: Lamports | null
  /** Most SOL at risk in all tokens, including open buys. */
  readonly maxExposureLamports: Lamports | null
  /** Largest realized and unrealized loss since 00:00 UTC. An open position counts at its liquidation value. */
  readonly maxDailyLossLamports: Lamports | null
  /** Largest allowed drawdown: the highest realized result minus the current result. An open position counts at its
   *  liquidation value. */
  readonly maxDrawdownLamports: Lamports | null
}

export interface WalletLimits extends Limits {
  /** SOL that must remain in the wallet after a buy with its worst-case cost; null: the fees of one sale of every
   *  position. */
  readonly minBalanceLamports: Lamports | null
}

/** Losses of a bot or a wallet. */
export interface Losses {
  /** Section of the YAML that sets the limits. */
  readonly section: string
  readonly now: Millis
  /** Realized and unrealized result of the UTC day. Open positions count at liquidation value. */
  readonly resultLamports: number
  readonly drawdownLamports: number
  /** Number of open positions that count as worthless because their price is unknown. */
  readonly unknownPositions: () => number
  /** Number of open positions that count as worthless because their token is no longer traded. */
  readonly deadPositions: () => number
  readonly pausedUntil: Millis
}

/** A buy, and how much of each limit is already used. A figure is 0 if no limit uses it. */
export interface LimitUse extends Losses {
  readonly amount: Lamports
  /** Slippage that the buy accepts. */
  readonly slippagePercent: number
  readonly openPositions: number
  /** Whether the buy would open a position. */
  readonly newPosition: boolean
  /** SOL at risk in this mint. There is no other open buy of the mint, because this buy would then have been refused
   *  before (LANE_BUSY). */
  readonly mintLamports: number
  /** SOL at risk in tokens of the same creator as the token to buy, plus the SOL requested by buys of these tokens that
   *  are open or have an unknown outcome. */
  readonly creatorLamports: number
  /** SOL at risk in all tokens, plus the SOL requested by buys that are open or have an unknown outcome. */
  readonly exposureLamports: number
  /** SOL requested by the buys of the last 60 minutes. */
  readonly hourLamports: number
  /** SOL requested by the buys since 00:00 UTC. */
  readonly todayLamports: number
  /** Returns the time at which the hourly limit has room for the buy; undefined if it never will. */
  readonly hourFreesAt: () => Millis | undefined
}

/** Slippage of the buys that the limits apply to. */
interface Slippages {
  readonly slippagePercent: number
  readonly slippageLadder?: readonly number[]
}

/** A contradiction between limits. */
export interface LimitProblem {
  /** Key in the YAML. */
  readonly key: string
  readonly message: string
}

interface LimitRow<Value> extends SettingRow<Value, Limits> {
  readonly schema: z.ZodNumber
  /** Returns the refusal of a buy that breaks the limit `bound`; undefined if the buy does not break it. `name` is the
   *  path of the limit in the YAML. */
  readonly refuse?: (bound: NonNullable<Value>, use: LimitUse, name: string) => Refusal | undefined
  /** Returns a refusal if the losses have reached the limit `bound`. Called for each buy, and again before each retry
   *  of an accepted buy. */
  readonly stop?: (bound: NonNullable<Value>, losses: Losses, name: string) => Refusal | undefined
  /** Finds a contradiction with another limit or with the slippage of the bot's buys. */
  readonly problem?: (
    bound: NonNullable<Value>,
    limits: Limits,
    name: string,
    orders: Slippages | undefined,
  ) => LimitProblem | undefined
}

/** Allowed values of a limit on the SOL of buys. The service accepts no buy below this range, so a lower limit would
 *  silently stop all entries. */
const buySol = z.number().min(0.001).max(MOST_SOL)
const lossSol = z.number().min(LEAST_SOL).max(MOST_SOL)

/** The limits, in the order in which they decide. */
export const LIMITS = {
  maxLamportsPerOrder: {
    about: 'Largest size of one buy.',
    absent: 'no limit',
    ...{ key: 'maxSolPerOrder', unit: 'sol', schema: buySol, default: null },
    text: (shown) => `at most ${shown} SOL per buy`,
    refuse: (bound, { amount }, name) =>
      refuseIf(amount > bound, 'ORDER_LIMIT', `${sol(amount)} SOL exceeds ${sol(bound)} SOL per buy (${name})`),
  },
  minLamportsPerOrder: {
    about: 'Smallest size of one buy. Fees are a larger share of a small buy.',
    absent: 'the minimum of the service, 0.001',
    ...{ key: 'minSolPerOrder', unit: 'sol', schema: buySol, default: null },
    text: (shown) => `at least ${shown} SOL per buy`,
    refuse: (bound, { amount }, name) =>
      refuseIf(amount < bound, 'ORDER_LIMIT', `${sol(amount)} SOL is below ${sol(bound)} SOL per buy (${name})`),
    problem: (bound, { maxLamportsPerOrder: most }) =>
      most !== null && bound > most
        ? { key: 'minSolPerOrder', message: `exceeds maxSolPerOrder (${sol(most)}): every buy would be refused` }
        : undefined,
  },
  maxSlippagePercent: {
    about: 'Largest slippage that a buy may accept.',
    absent: 'the maximum of the service, 50',
    ...{ key: 'maxSlippagePercent', unit: 'percent', default: null },
    schema: z.number().min(LEAST_SLIPPAGE).max(MOST_SLIPPAGE),
    text: (shown) => `slippage at most ${shown} %`,
    refuse: (bound, { slippagePercent }, name) =>
      refuseIf(slippagePercent > bound, 'SLIPPAGE_LIMIT', `slippage ${slippagePercent} % exceeds ${bound} % (${name})`),
    problem: (bound, _limits, _name, orders) => {
      const highest = orders?.slippageLadder?.at(-1) ?? orders?.slippagePercent ?? 0
      const key = orders?.slippageLadder === undefined ? 'slippagePercent' : 'slippageLadder'
      const message = `below the ${highest} % of orders.${key}: such buys would be refused; raise this limit, or lower orders.${key}`
      return highest > bound ? { key: 'maxSlippagePercent', message } : undefined
    },
  },
  maxLosingStreak: {
    about:
      'Entries pause for `streakPauseSeconds` if this many positions in a row close at a loss, after fees and rent.',
    absent: 'no limit',
    ...{ key: 'maxLosingStreak', unit: 'count', schema: z.int().min(1).max(1_000), default: null },
    text: (shown, { streakPauseMs }) => `a pause of ${streakPauseMs / 1000} s after ${shown} losses in a row`,
    stop: (_bound, { now, pausedUntil }, name) =>
      refuseIf(
        pausedUntil > now,
        'LOSING_STREAK',
        `too many losses in a row (${name}); entries resume at ${formatInstant(pausedUntil, now)}`,
      ),
  },
  streakPauseMs: {
    about: 'Length of the pause after `maxLosingStreak` losses in a row.',
    ...{ key: 'streakPauseSeconds', unit: 'seconds', default: 3_600_000 },
    schema: z
      .number()
      .min(LEAST_SECONDS)
      .max(30 * 86_400),
  },
  maxLamportsPerHour: {
    about: 'Largest sum of SOL requested by buys in any 60 minutes.',
    absent: 'no limit',
    ...{ key: 'maxSolPerHour', unit: 'sol', schema: buySol, default: null },
    text: (shown) => `${shown} SOL per hour`,
    refuse: (bound, { amount, hourLamports, hourFreesAt, now }, name) => {
      if (hourLamports + amount <= bound) return undefined
      const freesAt = hourFreesAt()
      const when = freesAt === undefined ? 'never fits' : `fits at ${formatInstant(freesAt, now)}`
      const reason = `${sol(hourLamports)} of ${sol(bound)} SOL per hour are used (${name}); a buy of ${sol(amount)} SOL ${when}`
      return { code: 'HOUR_LIMIT', reason }
    },
    problem: oneBuyFits,
  },
  maxLamportsPerDay: {
    about: 'Largest sum of SOL requested by buys since 00:00 UTC.',
    absent: 'no limit',
    ...{ key: 'maxSolPerDay', unit: 'sol', schema: buySol, default: null },
    text: (shown) => `${shown} SOL per day`,
    refuse: (bound, { amount, todayLamports, now }, name) =>
      refuseIf(
        todayLamports + amount > bound,
        'DAY_LIMIT',
        `${sol(todayLamports)} of ${sol(bound)} SOL per day are used (${name}); resets at ${resetOf(now)}`,
      ),
    problem: oneBuyFits,
  },
  maxOpenPositions: {
    about: 'Largest number of positions, including those that are being opened.',
    absent: 'no limit',
    ...{ key: 'maxOpenPositions', unit: 'count', schema: z.int().min(1).max(10_000), default: null },
    text: (shown) => `at most ${shown} position${shown === '1' ? '' : 's'}`,
    refuse: (bound, { newPosition, openPositions }, name) =>
      refuseIf(
        newPosition && openPositions >= bound,
        'POSITIONS_LIMIT',
        `${openPositions} of ${bound} positions are open (${name}); sell one first`,
      ),
  },
  maxLamportsPerMint: {
    about: 'Largest size of a position: the higher of its cost and its value.',
    absent: 'no limit',
    ...{ key: 'maxSolPerMint', unit: 'sol', schema: buySol, default: null },
    text: (shown) => `${shown} SOL per mint`,
    refuse: (bound, use, name) => exposed('MINT_LIMIT', use.mintLamports, bound, 'in this mint', use, name),
    problem: oneBuyFits,
  },
  maxLamportsPerCreator: {
    about:
      'Most SOL at risk in the tokens of one creator. All tokens of unknown creators count as tokens of one creator.',
    absent: 'no limit',
    ...{ key: 'maxSolPerCreator', unit: 'sol', schema: buySol, default: null, needsLaunches: true },
    text: (shown) => `${shown} SOL per creator`,
    refuse: (bound, use, name) =>
      exposed('CREATOR_LIMIT', use.creatorLamports, bound, 'in tokens of its creator', use, name),
    problem: oneBuyFits,
  },
  maxExposureLamports: {
    about: 'Most SOL at risk in all tokens together.',
    absent: 'no limit',
    ...{ key: 'maxExposureSol', unit: 'sol', schema: buySol, default: null },
    text: (shown) => `${shown} SOL at risk in all tokens together`,
    refuse: (bound, use, name) =>
      exposed('EXPOSURE_LIMIT', use.exposureLamports, bound, 'in tokens and open buys', use, name),
    problem: oneBuyFits,
  },
  maxDailyLossLamports: {
    about: 'Entries stop if the realized and unrealized loss since 00:00 UTC reaches this sum.',
    absent: 'no limit',
    ...{ key: 'maxDailyLossSol', unit: 'sol', schema: lossSol, default: null },
    text: (shown) => `a loss of ${shown} SOL per day`,
    stop: (bound, losses, name) => {
      const { resultLamports, now } = losses
      if (resultLamports > -bound) return undefined
      const reason = `today's result is ${sol(resultLamports)} SOL, the limit is a loss of ${sol(bound)} (${name}); resets at ${resetOf(now)}`
      return { code: 'LOSS_LIMIT', reason: reason + withoutPrice(losses) }
    },
  },
  maxDrawdownLamports: {
    about: 'Entries stop once the result is this much below the highest realized result.',
    absent: 'no limit',
    ...{ key: 'maxDrawdownSol', unit: 'sol', schema: lossSol, default: null },
    text: (shown) => `a drawdown of ${shown} SOL`,
    stop: (bound, losses, name) => {
      const { drawdownLamports } = losses
      if (drawdownLamports < bound) return undefined
      const reason = `the result is ${sol(drawdownLamports)} SOL below its highest realized value, the limit is ${sol(bound)} (${name}); entries resume when it recovers, or with \`sluice resume\``
      return { code: 'DRAWDOWN_LIMIT', reason: reason + withoutPrice(losses) }
    },
  },
} as const satisfies { readonly [F in keyof Limits]: LimitRow<Limits[F]> }

/** The limits of the section `wallet.limits`. `minBalanceLamports` has no function that decides, because
 *  `balance-check.ts` decides on it. */
export const WALLET_LIMITS = {
  ...LIMITS,
  minBalanceLamports: {
    about: 'A buy is refused if, at its highest possible cost, it would leave less SOL than this in the wallet.',
    absent: 'the fees of one sale of every position',
    ...{ key: 'minBalanceSol', unit: 'sol', schema: z.number().min(0).max(MOST_SOL), default: null },
    text: (shown) => `at least ${shown} SOL left in the wallet`,
  },
} as const satisfies { readonly [F in keyof WalletLimits]: LimitRow<WalletLimits[F]> }

export const NO_LIMITS: WalletLimits = settingsFrom<WalletLimits>(WALLET_LIMITS, {})

const DECIDING = rowsOf<{ readonly [F in keyof Limits]: LimitRow<Limits[F]> }>(LIMITS).filter(
  ([, { refuse, stop }]) => refuse !== undefined || stop !== undefined,
) as [keyof Limits, LimitRow<number>][]

/** Whether any limit can refuse a buy. */
export function isBound(limits: Limits): boolean {
  return DECIDING.some(([field]) => limits[field] !== null)
}

/** Returns the refusal of the first limit that the buy would break; undefined if it breaks none. */
export function checkLimits(limits: Limits, use: LimitUse): Refusal | undefined {
  for (const [field, { key, refuse, stop }] of DECIDING) {
    const bound = limits[field]
    if (bound === null) continue
    const name = `${use.section}.${key}`
    const refusal = refuse?.(bound, use, name) ?? stop?.(bound, use, name)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Returns the refusal of the first limit on losses that is reached. Called before the retry of a buy that was accepted
 *  earlier. */
export function checkLosses(limits: Limits, losses: Losses): Refusal | undefined {
  for (const [field, { key, stop }] of DECIDING) {
    const bound = limits[field]
    const refusal = bound === null ? undefined : stop?.(bound, losses, `${losses.section}.${key}`)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Returns the contradictions among the limits of one section. `orders`: the slippage of the bot's buys, if the section
 *  belongs to a bot. */
export function limitProblems(limits: Limits, section: string, orders?: Slippages): LimitProblem[] {
  return (Object.entries(LIMITS) as [keyof Limits, LimitRow<number>][]).flatMap(([field, { key, problem }]) => {
    const bound = limits[field]
    return bound === null ? [] : (problem?.(bound, limits, `${section}.${key}`, orders) ?? [])
  })
}

function refuseIf(isBroken: boolean, code: ErrorCode, reason: string): Refusal | undefined {
  return isBroken ? { code, reason } : undefined
}

function exposed(
  code: ErrorCode,
  used: number,
  bound: Lamports,
  where: string,
  { amount }: LimitUse,
  name: string,
): Refusal | undefined {
  if (used + amount <= bound) return undefined
  const reason = `${sol(used)} of ${sol(bound)} SOL are at risk ${where} (${name}), so a buy of ${sol(amount)} SOL does not fit; sell first`
  return { code, reason }
}

/** Returns a problem if a limit is lower than the largest allowed buy, because that buy would always be refused. */
function oneBuyFits(bound: Lamports, { maxLamportsPerOrder: buy }: Limits, name: string): LimitProblem | undefined {
  if (buy === null || buy <= bound) return undefined
  const message = `exceeds ${name} (${sol(bound)}): a buy of ${sol(buy)} SOL would always be refused`
  return { key: 'maxSolPerOrder', message }
}

function resetOf(now: Millis): string {
  return formatInstant(endOfDay(now), now)
}

/** Returns a text about positions that count as worthless: how many have no price since the start or a gap, and how
 *  many have tokens that are not traded. Returns '' if there are none. */
function withoutPrice({ unknownPositions, deadPositions }: Losses): string {
  const [unknown, dead] = [unknownPositions(), deadPositions()]
  const tokens = (count: number): string => `; ${count} held token${count === 1 ? ' has' : 's have'}`
  const asNothing = (count: number): string => `and count${count === 1 ? 's' : ''} as worthless`
  return [
    unknown === 0 ? '' : `${tokens(unknown)} no price since the start or a gap ${asNothing(unknown)}`,
    dead === 0 ? '' : `${tokens(dead)} no trades ${asNothing(dead)} every day until sold (\`sluice sell\`)`,
  ].join('')
}
