import type { Http } from '../../base/machine.ts'
import type { Limiter } from '../../orders/plan-limiter.ts'
import type { Journal, Slot } from '../../orders/ports.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { VenueRecord } from '../../venues/venue.ts'
import type { ServiceAccess } from '../service-access.ts'
import type { SkewFinding } from './machine.ts'

/** Answer of a read-only endpoint. */
export interface Asked {
  /** HTTP status; 0 without an answer. */
  readonly status: number
  readonly reason: string
  /** Value of the JSON in the body; undefined if the body is not JSON. */
  readonly value: unknown
  /** Difference of this machine's clock from the Date header of the answer; undefined without a valid header. */
  readonly skew: SkewFinding | undefined
}

export interface Asking extends Counting {
  readonly service: ServiceAccess
  readonly http: Http
}

/** Sends one request, which counts towards the plan's rate limit like the request of an order. */
export async function ask(
  { service, http, limiter, journal }: Asking,
  record: VenueRecord,
  key: string,
): Promise<Asked> {
  const found = await withSlot({ limiter, journal }, async () => {
    const sentAt = Date.now()
    const result = await http(service.venue.probe.request(record, key, service))
    return { result, sentAt, answeredAt: Date.now() }
  })
  if (found === undefined)
    return {
      status: 0,
      reason: 'the rate limit of the plan allowed no request within a minute',
      value: undefined,
      skew: undefined,
    }
  const { result, sentAt, answeredAt } = found
  if (result.kind !== 'answered') return { status: 0, reason: result.reason, value: undefined, skew: undefined }
  const { status, headers, body } = result
  return { status, reason: '', value: parse(body), skew: skewOf(headers.date, sentAt, answeredAt) }
}

/** Difference between this machine's clock and the Date header. The server writes the header after the request arrives
 *  and before it answers. The header's time is in whole seconds, and the server may have cached it for up to a
 *  second. */
function skewOf(date: string | undefined, sentAt: number, answeredAt: number): SkewFinding | undefined {
  const serverTime = date === undefined ? Number.NaN : Date.parse(date)
  if (!Number.isFinite(serverTime)) return undefined
  const skewMs = (sentAt + answeredAt) / 2 - (serverTime + 500)
  return { against: 'the service', skewMs, plusMinusMs: 1_000 + (answeredAt - sentAt) / 2 }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const MOST_FIELDS = 100
const DEEPEST = 6

/** List of all fields as `path type`, sorted; `[]` in a path means any element of a list. Returns [] for a value that
 *  is not an object. */
export function shapeOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = new Set<string>()
  walk(value, '', 0, (path, item) => fields.add(`${path} ${typeOf(item)}`))
  return [...fields].sort().slice(0, MOST_FIELDS)
}

/** Finds values that we know (the requested key and the balance) in a portfolio or a token's record. `stranger`:
 *  another wallet that the record names instead of ours; '' if there is none. */
export function knownIn(
  value: unknown,
  ours: { readonly key: string; readonly lamports: number | undefined },
): { knows: string[]; stranger: string } {
  const knows: string[] = []
  let hasOurs = false
  let stranger = ''
  walk(value, '', 0, (path, item) => {
    if (item === ours.key) hasOurs = true
    else if (/(^|\.)(publicKey|wallet|walletAddress|owner)$/i.test(path) && isPublicKey(item)) stranger ||= item
    const unit = ours.lamports === undefined ? undefined : unitOf(item, ours.lamports)
    if (unit !== undefined) knows.push(`${path} is the balance in ${unit}`)
  })
  if (hasOurs) knows.unshift('contains the requested key')
  return { knows, stranger: hasOurs ? '' : stranger }
}

function unitOf(item: unknown, lamports: number): string | undefined {
  const number = typeof item === 'string' && item !== '' ? Number(item) : item
  if (typeof number !== 'number' || lamports === 0) return undefined
  if (Math.abs(number * 1e9 - lamports) < 1) return 'SOL'
  return number === lamports ? 'lamports' : undefined
}

function walk(value: unknown, path: string, depth: number, see: (path: string, item: unknown) => void): void {
  if (depth > DEEPEST || typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    const name = Array.isArray(value) ? `${path}[]` : path === '' ? key.slice(0, 60) : `${path}.${key.slice(0, 60)}`
    see(name, item)
    walk(item, name, depth + 1, see)
  }
}

function typeOf(item: unknown): string {
  if (item === null) return 'null'
  return Array.isArray(item) ? 'list' : typeof item
}

/** The limiter and the journal, which count the requests to the service. */
export interface Counting {
  readonly limiter: Limiter
  readonly journal: Journal
}

/** Longest wait until the plan's rate limit permits a request. It is slightly longer than a minute, because Sluice
 *  waits a full minute if it does not know which requests were sent with the API key in the last minute. */
const SLOT_WITHIN_MS = 62000

/** Takes a request from the plan's budget, waits until the journal has recorded this durably, and then sends the
 *  request. Returns undefined and sends nothing if the budget allows no request within a minute. */
export async function withSlot<T>({ limiter, journal }: Counting, send: () => Promise<T>): Promise<T | undefined> {
  const slot = await slotOf(limiter)
  if (slot === undefined) return undefined
  await durable(journal)
  const result = await send()
  limiter.done(slot)
  await durable(journal)
  return result
}

function slotOf(limiter: Limiter): Promise<Slot | undefined> {
  return new Promise((resolve) => {
    const cancel = limiter.request('entry', resolve)
    if (cancel === undefined) return
    setTimeout(() => {
      cancel()
      resolve(undefined)
    }, SLOT_WITHIN_MS).unref()
  })
}

function durable(journal: Journal): Promise<void> {
  return new Promise((resolve) => journal.commit(resolve))
}
