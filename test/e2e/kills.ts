import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Failpoint } from '../../src/base/failpoint.ts'
import { type Random, seededRandom } from '../../src/base/random.ts'
import { isOpen } from '../../src/engine/order.ts'
import { openForReading } from '../../src/journal/database.ts'
import { recover } from '../../src/journal/reader/recovery.ts'
import { sendCommand } from '../../src/live/control/client.ts'
import type { FaultKind } from '../../src/sandbox/faults.ts'
import { conditionalComplaints, conditionalFigures } from '../support/conditional-books.ts'
import { exitComplaints } from '../support/held-exits.ts'
import { discrepancies, isSettled } from './books.ts'
import { kill, type Sluice } from './process.ts'
import { until } from './until.ts'
import { openVenue, replayComplaints, type Venue } from './venue.ts'

export interface KillOptions {
  /** The number of processes to kill. */
  readonly count: number
  /** The number of processes that are killed on one journal; 5 by default. After these kills, all orders of the journal
   *  must end. */
  readonly perJournal?: number
  readonly seed: number
  /** The number of journals that are used at the same time. */
  readonly together: number
  readonly say: (line: string) => void
}

/**
 * The executors of the bots: the first journal has the first value, the second journal the second one, and so on. With
 * `both`, each executor has a wallet of its own.
 */
const EXECUTORS = ['cloud', 'local', 'both'] as const
type Executor = (typeof EXECUTORS)[number]

const FAILPOINTS = {
  cloud: ['accepted', 'armed', 'before-execute', 'after-execute', 'before-report', 'after-report'],
  local: ['signed', 'built', 'sent', 'armed', 'before-report', 'after-report'],
  both: ['accepted', 'armed', 'signed', 'sent', 'before-execute', 'after-execute', 'after-report'],
} as const satisfies Record<Executor, readonly Failpoint[]>
const MOST_PASSAGES = 8
/** The time after which a failpoint counts as unreachable. */
const UNREACHED_MS = 10_000
const LATEST_MS = 6_000
/** Faults that are active during the kills. */
const FAULTS = {
  cloud: ['dropBefore', 'dropAfter', 'reverted', 'rateLimit', 'fork'],
  local: ['dropBefore', 'dropAfter', 'sendDropped', 'rateLimit', 'fork'],
  both: ['dropBefore', 'dropAfter', 'reverted', 'sendDropped', 'rateLimit', 'fork'],
} as const satisfies Record<Executor, readonly FaultKind[]>
const FAULT_CHANCE = 0.3

/**
 * Kills trading processes, at every failpoint in turn and at random times in between, and starts new processes on their
 * journals. After each kill the journal must be intact, repeat its decisions in a replay, and equal the chain to the
 * lamport. Returns the problems.
 */
export async function killMany({ count, seed, perJournal = 5, together, say }: KillOptions): Promise<string[]> {
  const firsts = Array.from({ length: Math.ceil(count / perJournal) }, (_, index) => index * perJournal)
  const complaints: string[] = []
  const work = async (): Promise<void> => {
    for (let first = firsts.shift(); first !== undefined; first = firsts.shift()) {
      const closing: (() => Promise<void>)[] = []
      try {
        const kills = Math.min(perJournal, count - first)
        const executor = EXECUTORS[(first / perJournal) % EXECUTORS.length] as Executor
        const found = await killsOfOne({ kills, first, executor, seed, say }, (close) => closing.push(close))
        complaints.push(...found.map((text) => `from kill ${first as number} on: ${text}`))
      } finally {
        for (const close of closing) await close()
      }
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  return complaints
}

interface JournalOfKills extends Pick<KillOptions, 'seed' | 'say'> {
  readonly kills: number
  readonly first: number
  readonly executor: Executor
}

async function killsOfOne(
  { kills, first, executor, seed, say }: JournalOfKills,
  atEnd: Parameters<typeof openVenue>[1],
): Promise<string[]> {
  const random = seededRandom(seed * 1_000_003 + first)
  const trips = { name: 'trips', strategy: 'round-trips', exits: { maxHoldSeconds: 3 } } as const
  const waits = { name: 'waits', strategy: 'standing-orders', exits: { maxHoldSeconds: 4 } } as const
  const bots =
    executor === 'both'
      ? [
          { ...trips, executor: 'cloud', wallet: 'main' },
          { ...waits, executor: 'local', wallet: 'side' },
        ]
      : [trips, waits].map((bot) => ({ ...bot, executor }))
  const venue = await openVenue(
    {
      ...{ bots, speed: 10, seed: seed + first, config: { service: { lateSeconds: 1 } } },
      ...(executor === 'both' && { wallets: ['main', 'side'] }),
    },
    atEnd,
  )
  const { keypair, policy, wallet } = venue.sandbox
  if (executor === 'local')
    venue.configure({
      service: { lateSeconds: 1, builderPolicy: policy },
      wallet: { publicKey: wallet, keypair: `file:${keypair}` },
    })
  const [faults, failpoints] = [FAULTS[executor], FAILPOINTS[executor]]
  const complaints: string[] = []
  for (let number = first; number < first + kills; number++) {
    const fault = random.next() < FAULT_CHANCE ? faults[random.integer(faults.length)] : undefined
    if (fault !== undefined) venue.sandbox.faults.set({ kind: fault, ...(fault === 'fork' && { slots: 20 }) })
    const how = await (number % 2 === 0
      ? atFailpoint(venue, random, failpoints[(number / 2) % failpoints.length] as Failpoint)
      : atRandom(venue, random))
    const found = complaintsOf(venue, await verified(venue))
    say(
      `kill ${number + 1}, ${executor}: ${how}${fault === undefined ? '' : `, ${fault}`}; ${stateOf(venue)}; ${found.length} complaints`,
    )
    complaints.push(...found.map((text) => `after ${how}: ${text}`))
  }
  const last = venue.run()
  await until('the last process to run', () => last.stderr.includes('"running"'))
  await until('an order', () => venue.books().orders.length > 0)
  await sendCommand(venue.journal, { command: 'halt' })
  const settled = await venue.settled()
  last.child.kill('SIGINT')
  if ((await last.ended) !== 0)
    complaints.push(`the last process ended with ${last.child.exitCode}: ${last.stderr.slice(-500)}`)
  if (!isSettled(settled)) complaints.push('an order, an attempt or a fill was left undecided at the end')
  complaints.push(...complaintsOf(venue, await venue.complaints()))
  say(`the journal of kill ${first + 1} and later kills is settled: ${stateOf(venue)}; ${complaints.length} complaints`)
  return complaints
}

async function atFailpoint(venue: Venue, random: Random, step: Failpoint): Promise<string> {
  const setting = `${step}:${1 + random.integer(MOST_PASSAGES)}`
  const one = venue.run({ SLUICE_FAILPOINT: setting })
  const isReached = await endsWithin(one, UNREACHED_MS)
  if (!isReached) await kill(one)
  return isReached ? setting : `${setting}, which was not reached within ${UNREACHED_MS / 1_000} s`
}

async function atRandom(venue: Venue, random: Random): Promise<string> {
  const one = venue.run()
  const ms = random.integer(LATEST_MS)
  await endsWithin(one, ms)
  await kill(one)
  return `${ms} ms`
}

async function endsWithin(one: Sluice, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), ms)
  const ended = await Promise.race([one.ended.then(() => true), late.promise])
  clearTimeout(timer)
  return ended
}

/**
 * Returns the differences of the journal from the chain and from its replay; none if the process was killed before it
 * created the journal.
 */
async function verified({ journal, books, chains }: Venue): Promise<string[]> {
  if (!isMade(journal)) return []
  const read = books()
  if (read.segments.length === 0) return []
  const found = chains().flatMap((chain) => discrepancies(read, chain))
  return [...found, ...(await replayComplaints(journal, read.segments.length))]
}

function isMade(journal: string): boolean {
  if (!existsSync(journal)) return false
  const db = new Database(journal, { readonly: true })
  try {
    return db.prepare('SELECT count(*) FROM sqlite_master').pluck().get() !== 0
  } finally {
    db.close()
  }
}

function complaintsOf({ journal, books, requests, sandbox }: Venue, others: readonly string[]): string[] {
  if (!isMade(journal)) return []
  const { attempts } = books()
  const db = openForReading(journal)
  const check = db.pragma('integrity_check', { simple: true })
  const standing = standingComplaints(db)
  db.close()
  return [
    ...others,
    ...standing,
    ...(check === 'ok' ? [] : [`the journal is damaged: ${check}`]),
    ...(requests.length > attempts.length
      ? [`the service received ${requests.length} requests for only ${attempts.length} attempts`]
      : []),
    ...(sandbox.ledger.transactionCount > requests.length
      ? ['the chain has more executions than the service received requests']
      : []),
  ]
}

/**
 * Returns problems in the state that the next process restores: conditional orders that break their rules, and
 * positions without the timers and orders of their exits.
 */
function standingComplaints(db: Database.Database): string[] {
  const fills = db.prepare('SELECT count(*) FROM fill WHERE reversed = 0 AND order_id = ?').pluck()
  const { positions, orders, timers } = recover(db).money
  const open = orders.flatMap(({ order, state }) => (isOpen(state) ? [order] : []))
  const names = new Set(timers.map(({ bot, name }) => `${bot} ${name}`))
  return [
    ...conditionalComplaints(db, (orderId) => fills.get(orderId) as number),
    ...positions.flatMap((position) => exitComplaints(position, open, (bot, name) => names.has(`${bot} ${name}`))),
  ]
}

function stateOf({ journal, books }: Venue): string {
  if (!isMade(journal)) return 'no journal yet'
  const { segments, orders, fills } = books()
  const db = openForReading(journal)
  const { conditionals, triggered, cancelled, standing } = conditionalFigures(db)
  db.close()
  const waiting = `${conditionals} conditional orders (${triggered} triggered, ${cancelled} cancelled, ${standing} still open)`
  return `${segments.length} starts, ${waiting}, ${orders.length} orders, ${fills.length} fills`
}
