import { formatSol } from '../../base/units.ts'
import type { Plan } from '../../engine/settings.ts'
import { type Check, counted, fail, ok, refused, seconds, warn } from './check.ts'

// What the service answers, and what is to be said about it.

/** What came of one connection with the key. */
export type SessionFinding =
  | { readonly kind: 'authenticated'; readonly ms: number; readonly plan: string; readonly connectMs: number }
  | { readonly kind: 'refused' | 'unanswered' | 'unread' | 'skipped'; readonly reason: string }

export function keyVerdict(host: string, session: SessionFinding, source: string): Check {
  switch (session.kind) {
    case 'authenticated':
      return ok('key', `${host} took it ${seconds(session.ms)} after connecting (${seconds(session.connectMs)})`)
    case 'refused':
      return refused(
        'key',
        `${host} refuses it: ${session.reason}`,
        `make one in the dashboard (API Keys), put it into ${source}`,
      )
    case 'unanswered':
      return fail(
        'key',
        `${host} does not answer: ${session.reason}`,
        'check service.wsUrl and the network, then ask again',
      )
    case 'unread':
      return fail('key', `not tried: ${session.reason}`, 'see secrets')
    case 'skipped':
      return warn('key', `not tried: ${session.reason}`, 'stop the other process to have it tried')
  }
}

export interface PlanFinding {
  /** As the service calls it; '' where it said nothing. */
  readonly told: string
  /** Its numbers, as far as they are known. */
  readonly known: Plan
  /** Why not all of them are; '' where they are. */
  readonly notice: string
  /** What the configuration says. */
  readonly configured: 'auto' | Plan
  readonly share: number
}

export function planVerdict({ told, known, notice, configured, share }: PlanFinding): Check {
  const part = share < 1 ? `; ${Math.round(share * 100)} % of it is ours` : ''
  const said = `${told}: ${numbersOf(known)}${part}`
  if (configured === 'auto') {
    if (notice === '') return ok('plan', said)
    return warn(
      'plan',
      `${notice}${part}`,
      'give its numbers: service.plan: { requestsPerMinute, connections, messagesPerSecond }',
    )
  }
  if (notice !== '') return ok('plan', `${told}, with the configured numbers: ${numbersOf(configured)}${part}`)
  if (isWithin(configured, known) && isWithin(known, configured)) return ok('plan', said)
  if (isWithin(configured, known))
    return warn(
      'plan',
      `${said}; configured is less: ${numbersOf(configured)}`,
      'service.plan: auto takes what is paid for',
    )
  return fail(
    'plan',
    `${said}; configured is more: ${numbersOf(configured)}`,
    'service.plan: auto; else the service answers 429',
  )
}

function numbersOf({ requestsPerMinute, connections, messagesPerSecond }: Plan): string {
  return `${requestsPerMinute} requests a minute, ${connections} connections, ${messagesPerSecond} messages a second`
}

function isWithin(one: Plan, other: Plan): boolean {
  return (
    one.requestsPerMinute <= other.requestsPerMinute &&
    one.connections <= other.connections &&
    one.messagesPerSecond <= other.messagesPerSecond
  )
}

/** What the bots of the configuration may ask of the service. */
export interface NeedFinding {
  readonly requestsPerMinute: number
  /** Of this process, and of the plan. */
  readonly sockets: number
  readonly connections: number
  /** Positions that may be open at once; null where nothing bounds them. */
  readonly positions: number | null
  readonly keys: number
  /** The largest buy that a bot may ask for where a limit names one, and the plan's. */
  readonly largestBuyLamports: number
  readonly maxBuyLamports: number
}

export function needsVerdict(need: NeedFinding): Check {
  const { requestsPerMinute, sockets, connections, positions, keys, largestBuyLamports, maxBuyLamports } = need
  const held = positions === null ? 'positions without a bound' : counted(positions, 'position')
  const said = `${counted(keys, 'key')} on ${sockets} of ${connections} connections; ${held} to sell at once, ${requestsPerMinute} requests a minute`
  if (largestBuyLamports > maxBuyLamports)
    return warn(
      'needs',
      `a bot may ask for ${formatSol(largestBuyLamports)} SOL, the plan takes ${formatSol(maxBuyLamports)}`,
      'lower limits.maxSolPerOrder, or have the maximum raised (Enterprise)',
    )
  if (positions !== null && positions > requestsPerMinute)
    return warn(
      'needs',
      said,
      `selling all takes ${Math.ceil(positions / requestsPerMinute)} minutes: lower limits.maxOpenPositions`,
    )
  return ok('needs', said)
}

/** What was seen of the feed. */
export interface FeedFinding {
  readonly state: string
  readonly seconds: number
  readonly rows: number
  /** Kinds of rows that came, as `trades 120`. */
  readonly kinds: string
  /** Frames that did not fit, by reason; unknown fields and types among them. */
  readonly misfits: readonly (readonly [why: string, count: number])[]
  readonly notices: readonly string[]
}

const DRIFT = new Set(['unknown field', 'unknown type'])

export function feedVerdict({ state, seconds: looked, rows, kinds, misfits, notices }: FeedFinding): Check {
  const drift = misfits.filter(([why]) => DRIFT.has(why))
  const broken = misfits.filter(([why]) => !DRIFT.has(why))
  const list = (some: typeof misfits): string => some.map(([why, count]) => `${why} ${count}`).join(', ')
  const said = `${rows} rows in ${looked.toFixed(1)} s (${kinds || 'nothing'})`
  if (state !== 'live' && rows === 0)
    return fail(
      'feed',
      `${state}: ${notices.at(-1) ?? 'the keys are not confirmed'}`,
      'ask again; the service may be down',
    )
  if (broken.length > 0)
    return warn('feed', `${said}; did not fit: ${list(broken)}`, 'such frames are dropped and counted; report them')
  if (rows === 0)
    return warn('feed', `live, and nothing in ${looked.toFixed(1)} s`, 'ask again later: a quiet market proves nothing')
  return ok('feed', drift.length === 0 ? said : `${said}; new to us, and left out: ${list(drift)}`)
}

export interface UnitFinding {
  /** By the configuration, a probe, the feed just now; `open` where not. */
  readonly amount: 'configured' | 'probed' | 'seen' | 'open'
  /** What the feed quotes as a price, over SOL; NaN where too little was seen. */
  readonly quotedPerSol: number
  /** Prints that were compared. */
  readonly prints: number
}

export function unitsVerdict({ amount, quotedPerSol, prints }: UnitFinding): Check {
  const times = quotedPerSol.toPrecision(3)
  const isSol = Math.abs(quotedPerSol - 1) < 0.03
  const quoted = !Number.isFinite(quotedPerSol)
    ? ''
    : isSol
      ? '; price too'
      : `; price is ${times} times that: another currency`
  const by = {
    probed: 'a probe on the chain',
    seen: counted(prints, 'print'),
    configured: 'service.units.tradeAmount',
  }
  if (amount !== 'open') return ok('units', `amount / tokensTraded is SOL a token, by ${by[amount]}${quoted}`)
  return warn(
    'units',
    `amount / tokensTraded is not proved to be SOL a token (${counted(prints, 'print')} seen)${quoted}; until it is nothing is bought`,
    'ask again on a busy market, or set service.units.tradeAmount: sol',
  )
}

export interface SellNumberFinding {
  readonly unit: 'tokens' | 'baseUnits' | null
  readonly by: 'configuration' | 'probe' | ''
  /** The configuration's word where a probe has shown another. */
  readonly contradicts: boolean
  /** Whether anybody trades. */
  readonly live: boolean
}

export function sellNumberVerdict({ unit, by, contradicts, live }: SellNumberFinding): Check {
  const name = 'sell number'
  const counts = unit === 'tokens' ? 'whole tokens' : 'base units'
  if (contradicts)
    return fail(name, `service.units.sell is not what a probe has proved: ${counts}`, `set service.units.sell: ${unit}`)
  if (unit !== null)
    return ok(name, `counts ${counts}, ${by === 'probe' ? 'proved by a probe' : 'says service.units.sell'}`)
  const said = 'what it counts is not known; parts are sold by percent, to two decimals'
  return live ? warn(name, said, 'sluice doctor FILE --probe-live 0.003 --mint MINT proves it') : ok(name, said)
}

/** What an endpoint that reads answered. */
export interface RecordFinding {
  readonly name: 'portfolio' | 'token info'
  /** HTTP status; 0 where there was no answer. */
  readonly status: number
  /** Where there was none, or why it was not asked. */
  readonly reason: string
  /** `path type` of every field, sorted; [] for what is no JSON object. */
  readonly shape: readonly string[]
  /** That of the last look; undefined where there was none. */
  readonly before: readonly string[] | undefined
  /** What of ours was found in it, as `the wallet, its SOL`. */
  readonly knows: readonly string[]
  /** A wallet that it names in place of ours; ''. */
  readonly stranger: string
}

export function recordVerdict(record: RecordFinding): Check {
  const { name, status, reason, shape, before, knows, stranger } = record
  if (status === 0) return warn(name, reason, 'ask again in a minute')
  if (status === 401) return refused(name, `401: the key is refused ${reason}`.trim(), 'see key')
  if (status === 402 || status === 403)
    return refused(name, `${status}: not in this plan ${reason}`.trim(), 'have it added to the plan')
  if (status === 429)
    return warn(
      name,
      '429 although a request was free',
      'somebody else uses the key: service.share says how much is ours',
    )
  if (status !== 200) return warn(name, `${status} ${reason}`.trim(), 'Sluice trades without it; ask the service')
  if (shape.length === 0) return warn(name, '200, but no JSON object', 'Sluice trades without it; ask the service')
  if (stranger !== '')
    return fail(name, `it is about another wallet: ${stranger}`, 'wallet.publicKey has to be the wallet of this key')
  const changes = before === undefined ? [] : driftOf(before, shape)
  const said = `${counted(shape.length, 'field')}${knows.length > 0 ? `; ${knows.join(', ')}` : ''}`
  if (changes.length > 0) return warn(name, `${said}; changed: ${changes.join(' ')}`, 'nothing: no money depends on it')
  return ok(name, before === undefined ? said : `${said}; as at the last look`)
}

/** Fields that are new (+) or gone (-). What a list holds says nothing while one of the two is empty. */
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
  const said = `${held} of ${allowed} requests of the last minute are used${waiting > 0 ? `, ${waiting} wait` : ''}`
  return held < allowed ? ok('requests', said) : warn('requests', said, 'wait a minute; orders wait for it too')
}
