import { z } from 'zod'
import type { Refusal } from '../../base/errors.ts'
import { formatInstant, formatSol, type Lamports, lamportsToSol, type Millis } from '../../base/units.ts'
import type { Launch } from '../../market/launches.ts'
import { poolSol } from '../../solana/pool-depth.ts'
import { LEAST_PERCENT, LEAST_SECONDS, LEAST_SOL, MOST_POOL_SOL } from '../setting-bounds.ts'
import { rowsOf, type SettingRow, settingsFrom } from './setting-rows.ts'

/** Rules for the tokens that a bot may buy. A list is the path of its file, as written in the configuration. null: the
 *  filter is not set. */
export interface EntryFilters {
  readonly denyMints: string | null
  readonly allowMints: string | null
  /** Decision about a token whose announcement was not seen. It is used if a list of creators is set. */
  readonly unknownCreators: 'refuse' | 'allow'
  readonly denyCreators: string | null
  readonly allowCreators: string | null
  /** Minimum age of a token, counted from its announcement or, if that was not seen, from the first time that the bot
   *  saw the token. */
  readonly minAgeMs: Millis | null
  /** Minimum SOL in the pool, estimated from the price. */
  readonly minLiquidityLamports: Lamports | null
  /** Largest size of a buy, as a percentage of the SOL in the pool. */
  readonly maxPoolSharePercent: number | null
}

/** Entries of the filter lists, by the path of their file. */
export type EntryLists = ReadonlyMap<string, ReadonlySet<string>>

/** A buy, and the facts about its token that filters use. */
export interface Candidate {
  readonly mint: string
  readonly amount: Lamports
  readonly now: Millis
  /** Robust price, SOL per token. */
  readonly price: number
  /** Creator of the token; '' if its announcement was not seen. */
  readonly creator: string
  readonly launch: Launch | undefined
  /** Time at which the bot first saw the token. */
  readonly seenAt: Millis
}

interface FilterRow<Value> extends SettingRow<Value, EntryFilters> {
  readonly refuse: (
    value: NonNullable<Value>,
    token: Candidate,
    lists: EntryLists,
    filters: EntryFilters,
  ) => Refusal | undefined
}

const file = z.string().min(1)

/** The filters, in the order in which they decide. */
export const FILTERS = {
  denyMints: {
    about: 'Path of a file with one mint a line. The bot buys none of these mints.',
    absent: 'no such list',
    ...{ key: 'denyMints', unit: 'file', schema: file, default: null },
    text: (shown) => `no mint of ${shown}`,
    refuse: (path, { mint }, lists) =>
      lists.get(path)?.has(mint) === true ? { code: 'MINT_LISTED', reason: `${path} lists the mint` } : undefined,
  },
  allowMints: {
    about: 'Path of a file with one mint a line. The bot buys only these mints.',
    absent: 'no such list',
    ...{ key: 'allowMints', unit: 'file', schema: file, default: null },
    text: (shown) => `only mints of ${shown}`,
    refuse: (path, { mint }, lists) =>
      lists.get(path)?.has(mint) === true
        ? undefined
        : { code: 'MINT_UNLISTED', reason: `${path} does not list the mint` },
  },
  unknownCreators: {
    about: 'Whether to refuse a token whose creator is unknown, if `allowCreators` or `denyCreators` is set.',
    ...{ key: 'unknownCreators', unit: 'choice', schema: z.enum(['refuse', 'allow']), default: 'refuse' },
    refuse: (policy, { creator }, _lists, { allowCreators, denyCreators }) =>
      policy === 'allow' || creator !== '' || (allowCreators === null && denyCreators === null)
        ? undefined
        : {
            code: 'CREATOR_UNKNOWN',
            reason: 'the creator is unknown: the announcement of the token was not seen (filters.unknownCreators)',
          },
  },
  denyCreators: {
    about: 'Path of a file with one public key a line. The bot buys no token of these creators.',
    absent: 'no such list',
    ...{ key: 'denyCreators', unit: 'file', schema: file, default: null, needsLaunches: true },
    text: (shown) => `no creator of ${shown}`,
    refuse: (path, { creator }, lists) =>
      creator !== '' && lists.get(path)?.has(creator) === true
        ? { code: 'CREATOR_LISTED', reason: `${path} lists the creator ${creator}` }
        : undefined,
  },
  allowCreators: {
    about: 'Path of a file with one public key a line. The bot buys only tokens of these creators.',
    absent: 'no such list',
    ...{ key: 'allowCreators', unit: 'file', schema: file, default: null, needsLaunches: true },
    text: (shown) => `only creators of ${shown}`,
    refuse: (path, { creator }, lists) =>
      creator === '' || lists.get(path)?.has(creator) === true
        ? undefined
        : { code: 'CREATOR_UNLISTED', reason: `${path} does not list the creator ${creator}` },
  },
  minAgeMs: {
    about:
      'Minimum age of a token. It counts from the announcement of the token or, if that was not seen, from the first time that the bot saw the token.',
    absent: 'no such filter',
    ...{ key: 'minAgeSeconds', unit: 'seconds', default: null, needsLaunches: true },
    schema: z.number().min(LEAST_SECONDS).max(86_400),
    text: (shown) => `at least ${shown} s old`,
    refuse: (minAgeMs, { launch, seenAt, now }) => {
      const since = launch?.time ?? seenAt
      if (now - since >= minAgeMs) return undefined
      const event = launch === undefined ? 'first seen' : 'announced'
      const age = `${event} ${Math.floor((now - since) / 1000)} s ago`
      const eligible = formatInstant(since + minAgeMs, now)
      const reason = `${age}, younger than ${minAgeMs / 1000} s (filters.minAgeSeconds); eligible at ${eligible}`
      return { code: 'TOKEN_YOUNG', reason }
    },
  },
  minLiquidityLamports: {
    about: 'Minimum liquidity of a pool, estimated from the price.',
    absent: 'no such filter',
    ...{ key: 'minLiquiditySol', unit: 'sol', default: null },
    schema: z.number().min(LEAST_SOL).max(MOST_POOL_SOL),
    text: (shown) => `at least ${shown} SOL in the pool`,
    refuse: (least, { price }) => {
      const inPool = poolSol(price)
      const isLow = inPool < lamportsToSol(least)
      if (!isLow) return undefined
      const reason = `the pool holds about ${inPool.toFixed(2)} SOL, less than ${formatSol(least)} (filters.minLiquiditySol)`
      return { code: 'LIQUIDITY_LOW', reason }
    },
  },
  maxPoolSharePercent: {
    about: 'Largest size of a buy, as a percentage of the liquidity of the pool.',
    absent: 'no such filter',
    ...{ key: 'maxPoolSharePercent', unit: 'percent', default: null },
    schema: z.number().min(LEAST_PERCENT).max(100),
    text: (shown) => `a buy at most ${shown} % of the pool`,
    refuse: (most, { price, amount }) => {
      const inPool = poolSol(price)
      const share = (lamportsToSol(amount) / inPool) * 100
      if (share <= most) return undefined
      const reason = `the pool holds about ${inPool.toFixed(2)} SOL; the buy exceeds ${most} % of that (filters.maxPoolSharePercent)`
      return { code: 'POOL_SHARE', reason }
    },
  },
} as const satisfies { readonly [F in keyof EntryFilters]: FilterRow<EntryFilters[F]> }

export const NO_FILTERS: EntryFilters = settingsFrom<EntryFilters>(FILTERS, {})

/** Filters whose value is the path of a list. */
export const LIST_FILTERS = ['denyMints', 'allowMints', 'denyCreators', 'allowCreators'] as const

const ROWS = rowsOf<{ readonly [F in keyof EntryFilters]: FilterRow<EntryFilters[F]> }>(FILTERS) as [
  keyof EntryFilters,
  FilterRow<unknown>,
][]

/** Whether any filter is set. */
export function hasFilters(filters: EntryFilters): boolean {
  return ROWS.some(([field]) => field !== 'unknownCreators' && filters[field] !== null)
}

/** Returns the refusal of the first filter that the buy does not pass; undefined if it passes all. */
export function checkFilters(filters: EntryFilters, lists: EntryLists, token: Candidate): Refusal | undefined {
  const paths = LIST_FILTERS.map((field) => filters[field])
  const unread = paths.find((path) => path !== null && !lists.has(path))
  if (unread !== undefined) return { code: 'LIST_UNREAD', reason: `the list ${unread} is not loaded` }
  for (const [field, { refuse }] of ROWS) {
    const value = filters[field]
    const refusal = value === null ? undefined : refuse(value, token, lists, filters)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
