import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJson } from '../src/base/json.ts'
import type { Input } from '../src/engine/messages.ts'
import { openForReading } from '../src/journal/database.ts'
import { isSettled } from '../test/e2e/books.ts'
import { openVenue, type Venue } from '../test/e2e/venue.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'

/** Duration of a Solana slot on the sandbox's chain, ms; the same as on mainnet. */
const SLOT_MS = 400
/** Default RPC rate of the YAML, calls per second. */
const REQUESTS_PER_SECOND = 8
/** Number of rounds. Each round buys three tokens once, and sells them in two, two and one orders. */
const ROUNDS = 10
const ORDERS_A_ROUND = 8
const LONGEST_MS = 240_000

/** Sends orders of up to three positions at a time through the whole live path to the sandbox. Measures the time from
 *  the commit of an attempt until the engine received its provisional fill (seen at `confirmed`) and its final fill.
 *  `smoke`: one round of three tokens. */
export async function benchSettling(smoke = false): Promise<Figure[]> {
  const closing: (() => Promise<void>)[] = []
  try {
    const bot = {
      ...({ name: 'trips', strategy: 'round-trips' } as const),
      ...{ params: { rounds: smoke ? 1 : ROUNDS }, limits: { maxOpenPositions: 3 } },
    }
    const venue = await openVenue({ bots: [bot], slotMs: SLOT_MS, speed: 4 }, (close) => void closing.push(close))
    const url = `file:${join(venue.folder, 'rpc')}`
    venue.configure({ chain: { rpc: [{ url, requestsPerSecond: REQUESTS_PER_SECOND }] as never } })
    const running = await venue.start()
    await settled(venue, ORDERS_A_ROUND * (smoke ? 1 : ROUNDS))
    await running.stop()
    return figuresOf(timesIn(venue.journal))
  } finally {
    for (const close of closing) await close()
  }
}

async function settled(venue: Venue, orders: number): Promise<void> {
  for (const until = performance.now() + LONGEST_MS; performance.now() < until; await sleep(500)) {
    const books = venue.books()
    if (books.orders.length >= orders && isSettled(books)) return
  }
  throw new Error(
    `the orders had no final outcome within ${LONGEST_MS / 1_000} s: ${venue.books().orders.length} of ${orders} orders were made`,
  )
}

/** Times, ms, from the commit of each filled attempt until the engine received the report of its fill. */
interface Times {
  readonly provisional: number[]
  readonly final: number[]
}

function timesIn(journal: string): Times {
  const db = openForReading(journal)
  const armed = db.prepare('SELECT id, armed_at FROM attempts').raw().all() as [string, number][]
  const rows = db.prepare("SELECT time, json FROM input WHERE kind = 'report' ORDER BY seq").raw().all()
  db.close()
  const armedAt = new Map(armed)
  const seen = new Set<string>()
  const times: Times = { provisional: [], final: [] }
  for (const [time, json] of rows as [number, string][]) {
    const { fill } = decodeJson<Extract<Input, { kind: 'report' }>>(json).report
    if (fill === undefined) continue
    const ms = time - (armedAt.get(fill.attemptId) as number)
    if (!seen.has(fill.attemptId)) times.provisional.push(ms)
    seen.add(fill.attemptId)
    if (fill.final) times.final.push(ms)
  }
  return times
}

function figuresOf({ provisional, final }: Times): Figure[] {
  const figure = (name: string, values: number[], goal: number): Figure[] => {
    const { median, min, max } = summarize(values)
    const p99 = [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)] as number
    return [
      { name: `${name}, of ${values.length} orders`, unit: 'ms', median, min, max },
      { name: `${name}, p99`, unit: 'ms', median: p99, min: p99, max: p99, goal, atMost: true },
    ]
  }
  return [...figure('provisional fill', provisional, 5_000), ...figure('final fill', final, 20_000)]
}

if (isMain(import.meta.url)) printFigures(await benchSettling())
