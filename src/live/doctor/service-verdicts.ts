import { counted } from '../../base/text.ts'
import { formatSol } from '../../base/units.ts'
import type { Plan } from '../../engine/settings.ts'
import { durationOf } from '../../runtime/time-text.ts'
import { type Check, fail, ok, refused, warn } from './check.ts'

/** Outcome of one attempt to connect with the API key. */
export type SessionFinding =
  | { readonly kind: 'authenticated'; readonly ms: number; readonly plan: string; readonly connectMs: number }
  | { readonly kind: 'refused' | 'unanswered' | 'unread' | 'skipped'; readonly reason: string }

export function keyVerdict(host: string, session: SessionFinding, source: string): Check {
  switch (session.kind) {
    case 'authenticated':
      return ok(
        'key',
        `accepted by ${host} in ${durationOf(session.ms)}, connected in ${durationOf(session.connectMs)}`,
      )
    case 'refused':
      return refused(
        'key',
        `refused by ${host}: ${session.reason}`,
        `create a key in the dashboard (API Keys) and put it into ${source}`,
      )
    case 'unanswered':
      return fail(
        'key',
        `${host} does not answer: ${session.reason}`,
        'check service.wsUrl and the network, then run doctor again',
      )
    case 'unread':
      return fail('key', `not tested: ${session.reason}`, 'see secrets')
    case 'skipped':
      return warn('key', `not tested: ${session.reason}`, 'stop the other process to test the key')
  }
}

export interface PlanFinding {
  /** Name of the plan that the service sent; '' if it sent none. */
  readonly planName: string
  /** Limits of the plan; `notice` names those that are unknown. */
  readonly known: Plan
  /** Reason why limits of the plan are unknown; '' if all are known. */
  readonly notice: string
  /** Value of service.plan in the configuration. */
  readonly configured: 'auto' | Plan
  readonly share: number
}

export function planVerdict({ planName, known, notice, configured, share }: PlanFinding): Check {
  const part = share < 1 ? `; service.share: ${Math.round(share * 100)} %` : ''
  const found = `${planName}: ${numbersOf(known)}${part}`
  if (configured === 'auto') {
    if (notice === '') return ok('plan', found)
    return warn(
      'plan',
      `${notice}${part}`,
      'set its limits: service.plan: { requestsPerMinute, connections, messagesPerSecond }',
    )
  }
  if (notice !== '') return ok('plan', `${planName}, with the configured limits: ${numbersOf(configured)}${part}`)
  if (isWithin(configured, known) && isWithin(known, configured)) return ok('plan', found)
  if (isWithin(configured, known))
    return warn(
      'plan',
      `${found}; the configuration allows less: ${numbersOf(configured)}`,
      'set service.plan: auto to use the whole plan',
    )
  return fail(
    'plan',
    `${found}; the configuration allows more: ${numbersOf(configured)}`,
    'set service.plan: auto; otherwise the service answers 429',
  )
}

function numbersOf({ requestsPerMinute, connections, messagesPerSecond }: Plan): string {
  return `${requestsPerMinute} requests per minute, ${connections} connections, ${messagesPerSecond} messages per second`
}

function isWithin(one: Plan, other: Plan): boolean {
  return (
    one.requestsPerMinute <= other.requestsPerMinute &&
    one.connections <= other.connections &&
    one.messagesPerSecond <= other.messagesPerSecond
  )
}

/** What the configured bots need from the service. */
export interface NeedFinding {
  readonly requestsPerMinute: number
  /** Number of connections that this process needs (`sockets`), and number that the plan permits (`connections`). */
  readonly sockets: number
  readonly connections: number
  /** Maximum number of open positions; null if unlimited. */
  readonly positions: number | null
  readonly keys: number
  /** Largest buy that the limits of any bot allow. `maxBuyLamports`: largest buy that the plan permits. */
  readonly largestBuyLamports: number
  readonly maxBuyLamports: number
}

export function needsVerdict(need: NeedFinding): Check {
  const { requestsPerMinute, sockets, connections, positions, keys, largestBuyLamports, maxBuyLamports } = need
  const held = positions === null ? 'an unlimited number of positions' : counted(positions, 'position')
  const found = `${counted(keys, 'subscription')} on ${sockets} of ${connections} connections; up to ${held} to sell together with ${requestsPerMinute} requests per minute`
  if (largestBuyLamports > maxBuyLamports)
    return warn(
      'needs',
      `a bot may buy for ${formatSol(largestBuyLamports)} SOL, but the plan allows ${formatSol(maxBuyLamports)} SOL`,
      'lower limits.maxSolPerOrder, or ask the service for a higher maximum (Enterprise)',
    )
  if (positions !== null && positions > requestsPerMinute)
    return warn(
      'needs',
      found,
      `selling all positions takes ${Math.ceil(positions / requestsPerMinute)} minutes: lower limits.maxOpenPositions`,
    )
  return ok('needs', found)
}

/** Observations of the feed over some seconds. */
export interface FeedFinding {
  readonly state: string
  readonly seconds: number
  readonly rows: number
  /** Text with the kinds of rows and their counts, such as `trades 120`. */
  readonly kinds: string
  /** Counts of frames that did not match the expected format, by reason. Unknown fields and types are included. */
  readonly misfits: readonly (readonly [why: string, count: number])[]
  readonly notices: readonly string[]
}

const DRIFT = new Set(['unknown field', 'unknown type'])

export function feedVerdict({ state, seconds: looked, rows, kinds, misfits, notices }: FeedFinding): Check {
  const drift = misfits.filter(([why]) => DRIFT.has(why))
  const broken = misfits.filter(([why]) => !DRIFT.has(why))
  const list = (some: typeof misfits): string => some.map(([why, count]) => `${why} ${count}`).join(', ')
  const found = `${rows} rows in ${looked.toFixed(1)} s (${kinds || 'none'})`
  if (state !== 'live' && rows === 0)
    return fail(
      'feed',
      `${state}: ${notices.at(-1) ?? 'the subscriptions are not confirmed'}`,
      'run doctor again; the service may be down',
    )
  if (broken.length > 0)
    return warn(
      'feed',
      `${found}; invalid frames: ${list(broken)}`,
      'Sluice drops and counts such frames; please report them',
    )
  if (rows === 0)
    return warn(
      'feed',
      `live, but no market row in ${looked.toFixed(1)} s`,
      'run doctor again when the market is active',
    )
  return ok('feed', drift.length === 0 ? found : `${found}; ignored as unknown: ${list(drift)}`)
}

export interface UnitFinding {
  /** How the unit of the feed's amounts is known; `open` if it is not proved. */
  readonly amount: 'configured' | 'probed' | 'seen' | 'open'
  /** The price that the feed quotes, divided by the price in SOL that follows from the amounts; NaN if there were too
   *  few prints. */
  readonly quotedPerSol: number
  /** Number of prints whose quoted prices and amounts were compared. */
  readonly prints: number
}

export function unitsVerdict({ amount, quotedPerSol, prints }: UnitFinding): Check {
  const times = quotedPerSol.toPrecision(3)
  const isSol = Math.abs(quotedPerSol - 1) < 0.03
  const quoted = !Number.isFinite(quotedPerSol)
    ? ''
    : isSol
      ? '; the price is in SOL too'
      : `; the quoted price is ${times} times the price in SOL, so it is in another currency`
  const by = {
    probed: 'a probe on the chain',
    seen: counted(prints, 'print'),
    configured: 'service.units.tradeAmount',
  }
  if (amount !== 'open')
    return ok('units', `amount / tokensTraded is SOL per token, according to ${by[amount]}${quoted}`)
  return warn(
    'units',
    `amount / tokensTraded is not proved to be SOL per token (${counted(prints, 'print')} seen)${quoted}; no bot buys before the unit is proved`,
    'run doctor again on a busy market, or set service.units.tradeAmount: sol',
  )
}

export interface SellNumberFinding {
  readonly unit: 'tokens' | 'baseUnits' | null
  readonly by: 'configuration' | 'probe' | ''
  /** Whether a probe proved a unit other than the configured one. */
  readonly contradicts: boolean
  /** Whether at least one bot trades live. */
  readonly live: boolean
}

export function sellNumberVerdict({ unit, by, contradicts, live }: SellNumberFinding): Check {
  const name = 'sell number'
  const counts = unit === 'tokens' ? 'whole tokens' : 'base units'
  if (contradicts)
    return fail(
      name,
      `service.units.sell contradicts a probe, which proved ${counts}`,
      `set service.units.sell: ${unit}`,
    )
  if (unit !== null)
    return ok(
      name,
      `the service reads the number as ${counts}, according to ${by === 'probe' ? 'a probe' : 'service.units.sell'}`,
    )
  const found = 'unit unknown; partial sales are sent as a percentage with two decimals'
  return live
    ? warn(name, found, 'run `sluice doctor FILE --probe-live 0.003 --mint MINT` to prove it')
    : ok(name, found)
}

/** Findings about the answer of a read-only endpoint. */
export interface RecordFinding {
  readonly name: 'portfolio' | 'token info'
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** Reason why there was no answer or no request; '' otherwise. */
  readonly reason: string
  /** All fields of the answer as `path type`, sorted; [] if the body is not a JSON object. */
  readonly shape: readonly string[]
  /** Fields of the previous examination's answer; undefined at the first examination. */
  readonly before: readonly string[] | undefined
  /** Texts about recognized values in the answer, such as the wallet and its balance. */
  readonly knows: readonly string[]
  /** Another wallet that the answer names instead of ours; '' if there is none. */
  readonly stranger: string
}

export function recordVerdict(record: RecordFinding): Check {
  const { name, status, reason, shape, before, knows, stranger } = record
  if (status === 0) return warn(name, reason, 'run doctor again in a minute')
  if (status === 401) return refused(name, `401: the key is refused ${reason}`.trim(), 'see key')
  if (status === 402 || status === 403)
    return refused(
      name,
      `${status}: not included in this plan ${reason}`.trim(),
      'ask the service to add it to the plan',
    )
  if (status === 429)
    return warn(
      name,
      '429, although the plan allows another request',
      'another program uses the key: set service.share to the part of the plan for this process',
    )
  if (status !== 200)
    return warn(name, `${status} ${reason}`.trim(), 'trading does not need this endpoint; ask the service why it fails')
  if (shape.length === 0)
    return warn(name, '200, but not a JSON object', 'trading does not need this endpoint; ask the service why it fails')
  if (stranger !== '')
    return fail(
      name,
      `the answer names another wallet: ${stranger}`,
      'set wallet.publicKey to the wallet that belongs to the API key',
    )
  const changes = before === undefined ? [] : driftOf(before, shape)
  const found = `${counted(shape.length, 'field')}${knows.length > 0 ? `; ${knows.join(', ')}` : ''}`
  if (changes.length > 0)
    return warn(name, `${found}; changed: ${changes.join(' ')}`, 'nothing to do: trading does not use these fields')
  return ok(name, before === undefined ? found : `${found}; unchanged`)
}

/** Fields that the answer has gained (+) or lost (-). Fields inside the elements of a list count only if the list had
 *  elements in both answers. */
export function driftOf(before: readonly string[], now: readonly string[]): string[] {
  const isListEmpty = (field: string, shape: readonly string[]): boolean => {
    const end = field.lastIndexOf('[]')
    return end >= 0 && !shape.some((other) => other.startsWith(field.slice(0, end + 2)))
  }
  const missing = (from: readonly string[], to: readonly string[]): string[] =>
    from.filter((field) => !to.includes(field) && !isListEmpty(field, to))
  return [...missing(before, now).map((field) => `-${field}`), ...missing(now, before).map((field) => `+${field}`)]
}

export interface BudgetFinding {
  readonly held: number
  readonly allowed: number
  readonly waiting: number
}

export function budgetVerdict({ held, allowed, waiting }: BudgetFinding): Check {
  const found = `${held} of ${allowed} requests of the last minute used${waiting > 0 ? `, ${waiting} waiting` : ''}`
  return held < allowed ? ok('requests', found) : warn('requests', found, 'wait a minute; orders would wait too')
}
