import type { Http } from '../../base/machine.ts'
import type { ServiceAccess } from '../../live/service-access.ts'
import type { Limiter } from '../../orders/limiter.ts'
import type { Journal, Slot } from '../../orders/ports.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { VenueRecord } from '../../venues/venue.ts'
import type { SkewFinding } from './machine.ts'

// The service's endpoints that read. Each request takes a slot of the plan, as an order does.

export interface Asked {
  /** 0 where there was no answer. */
  readonly status: number
  readonly reason: string
  /** undefined where the body is no JSON. */
  readonly value: unknown
  /** By the answer's Date. */
  readonly skew: SkewFinding | undefined
}

export interface Asking extends Counting {
  readonly service: ServiceAccess
  readonly http: Http
}

/** One GET, once there is a slot for it and that is durable; without one within a minute it is not sent. */
export async function ask(
  { service, http, limiter, journal }: Asking,
  record: VenueRecord,
  key: string,
): Promise<Asked> {
  const found = await counted({ limiter, journal }, async () => {
    const sentAt = Date.now()
    const result = await http(service.venue.probe.request(record, key, service))
    return { result, sentAt, heardAt: Date.now() }
  })
  if (found === undefined)
    return { status: 0, reason: 'no free request under the plan', value: undefined, skew: undefined }
  const { result, sentAt, heardAt } = found
  if (result.kind !== 'answered') return { status: 0, reason: result.reason, value: undefined, skew: undefined }
  const { status, headers, body } = result
  return { status, reason: '', value: parse(body), skew: skewOf(headers.date, sentAt, heardAt) }
}

/** The header counts whole seconds, is of some moment between sending and hearing, and servers write it once a
 *  second. */
function skewOf(date: string | undefined, sentAt: number, heardAt: number): SkewFinding | undefined {
  const told = date === undefined ? Number.NaN : Date.parse(date)
  if (!Number.isFinite(told)) return undefined
  const skewMs = (sentAt + heardAt) / 2 - (told + 500)
  return { against: 'the service', skewMs, plusMinusMs: 1_000 + (heardAt - sentAt) / 2 }
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

/** Every field as `path type`, sorted; `[]` stands for any item of a list. [] where it is no object. */
export function shapeOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = new Set<string>()
  walk(value, '', 0, (path, item) => fields.add(`${path} ${typeOf(item)}`))
  return [...fields].sort().slice(0, MOST_FIELDS)
}

/** What of ours stands in a portfolio or a token's record, and a wallet in place of ours. */
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
    if (unit !== undefined) knows.push(`${path} is its balance in ${unit}`)
  })
  if (hasOurs) knows.unshift('names it')
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

/** What a request of the service is counted by. */
export interface Counting {
  readonly limiter: Limiter
  readonly journal: Journal
}

/** A minute, where what this key sent in the last one is not known: another journal counted it. */
const SLOT_WITHIN_MS = 62000

/** Sends one request once there is a slot of the plan for it and that is durable; undefined where there is none within
 *  a minute, and nothing was sent. */
export async function counted<T>({ limiter, journal }: Counting, send: () => Promise<T>): Promise<T | undefined> {
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
