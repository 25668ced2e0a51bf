import { formatInstant, formatSol, type Lamports, lamportsToSol, type Millis } from '../../base/units.ts'
import type { Launch } from '../../market/launches.ts'
import { poolSol } from '../../solana/pool-depth.ts'
import type { EntryFilters } from '../settings.ts'
import type { Veto } from './order-bounds.ts'

/** Lists by the path of their file. */
export type EntryLists = ReadonlyMap<string, ReadonlySet<string>>

/** A token as far as filters ask, and the buy of it. */
export interface Candidate {
  readonly mint: string
  readonly amount: Lamports
  readonly now: Millis
  /** Robust, SOL a token. */
  readonly price: number
  /** '' where nobody knows. */
  readonly creator: string
  readonly launch: Launch | undefined
  /** When the bot was first shown it. */
  readonly seenAt: Millis
}

/** Whether a bot with these filters asks anything of a token. */
export function isChoosy(filters: EntryFilters): boolean {
  const { minLiquidityLamports, minAgeMs, maxPoolSharePercent } = filters
  const { allowMints, denyMints, allowCreators, denyCreators } = filters
  return (
    (minLiquidityLamports ?? minAgeMs ?? maxPoolSharePercent ?? null) !== null ||
    (allowMints ?? denyMints ?? allowCreators ?? denyCreators ?? null) !== null
  )
}

/** Why a bot with these filters does not buy it. */
export function filterVeto(filters: EntryFilters, lists: EntryLists, token: Candidate): Veto | undefined {
  return listVeto(filters, lists, token) ?? youngVeto(filters, token) ?? poolVeto(filters, token)
}

function listVeto(filters: EntryFilters, lists: EntryLists, { mint, creator }: Candidate): Veto | undefined {
  const { allowMints, denyMints, allowCreators, denyCreators, unknownCreators } = filters
  const unread = [denyMints, allowMints, denyCreators, allowCreators].find((list) => list !== null && !lists.has(list))
  if (unread !== undefined) return { code: 'LIST_UNREAD', reason: `${unread} was never read` }
  const has = (list: string, key: string): boolean => lists.get(list)?.has(key) === true
  if (denyMints !== null && has(denyMints, mint)) return { code: 'MINT_LISTED', reason: `${denyMints} names it` }
  if (allowMints !== null && !has(allowMints, mint))
    return { code: 'MINT_UNLISTED', reason: `${allowMints} does not name it` }
  if (allowCreators === null && denyCreators === null) return undefined
  if (creator === '')
    return unknownCreators === 'allow'
      ? undefined
      : {
          code: 'CREATOR_UNKNOWN',
          reason: 'nobody saw it announced, so its creator is not known (filters.unknownCreators)',
        }
  if (denyCreators !== null && has(denyCreators, creator))
    return { code: 'CREATOR_LISTED', reason: `${denyCreators} names its creator ${creator}` }
  if (allowCreators !== null && !has(allowCreators, creator))
    return { code: 'CREATOR_UNLISTED', reason: `${allowCreators} does not name its creator ${creator}` }
  return undefined
}

function youngVeto({ minAgeMs }: EntryFilters, { launch, seenAt, now }: Candidate): Veto | undefined {
  if (minAgeMs === null) return undefined
  const since = launch?.time ?? seenAt
  if (now - since >= minAgeMs) return undefined
  const known = launch === undefined ? 'seen for the first time' : 'announced'
  const age = `${known} ${Math.floor((now - since) / 1000)} s ago`
  return {
    code: 'TOKEN_YOUNG',
    reason: `${age}, it has to be ${minAgeMs / 1000} s old (filters.minAgeSeconds); it is at ${formatInstant(since + minAgeMs, now)}`,
  }
}

function poolVeto(filters: EntryFilters, { price, amount }: Candidate): Veto | undefined {
  const { minLiquidityLamports, maxPoolSharePercent } = filters
  if (minLiquidityLamports === null && maxPoolSharePercent === null) return undefined
  const sol = poolSol(price)
  const there = `about ${sol.toFixed(2)} SOL are in its pool`
  if (minLiquidityLamports !== null && sol < lamportsToSol(minLiquidityLamports))
    return {
      code: 'LIQUIDITY_LOW',
      reason: `${there}, ${formatSol(minLiquidityLamports)} are asked for (filters.minLiquiditySol)`,
    }
  const share = (lamportsToSol(amount) / sol) * 100
  if (maxPoolSharePercent !== null && !(share <= maxPoolSharePercent))
    return {
      code: 'POOL_SHARE',
      reason: `${there}: the order would be more than ${maxPoolSharePercent} % of it (filters.maxPoolSharePercent)`,
    }
  return undefined
}
