import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Failpoint } from '../../src/base/failpoint.ts'
import { isOpen } from '../../src/engine/order.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { venueOf } from '../../src/venues/registry.ts'
import { type Books, discrepancies, readBooks } from './books.ts'
import { called } from './called.ts'
import { kill, launch, type Sluice } from './process.ts'
import { until } from './until.ts'
import { openVenue, replayComplaints } from './venue.ts'

/** True if the tests wait until the outcome of every lost answer is proved, which takes half a minute. */
const LONG = process.env.SLUICE_E2E_LONG === '1'
const DEMO_SECONDS = Number(process.env.SLUICE_E2E_DEMO_SECONDS ?? 8)
const DEMO_SOL = 10

describe.concurrent('a process is killed between two steps of an order', () => {
  // For each failpoint: the process is killed when it passes the failpoint for the n-th time. The bots make six buys.
  // For `accepted` and `armed`, n is above six, because on a busy disk all six buys may be accepted before the first
  // commit. A kill at that moment would leave an API key that was used but has no recorded requests. The next process
  // would then send no buy for 60 s.
  const steps: Record<Exclude<Failpoint, 'built' | 'signed' | 'sent' | 'sweep-pass' | `update-${string}`>, number> = {
    accepted: 8,
    armed: 8,
    'before-execute': 4,
    'after-execute': 4,
    'before-report': 10,
    'after-report': 10,
  }
  test.for(Object.entries(steps))(
    'after a kill at %s, no order is lost and none is executed twice',
    async ([step, times], { onTestFinished }) => {
      const bots = [
        { name: 'trips', strategy: 'round-trips', params: { rounds: 2 }, exits: { maxHoldSeconds: 3 } },
      ] as const
      const venue = await openVenue({ bots, config: { service: { lateSeconds: 1 } } }, onTestFinished)
      const first = venue.run({ SLUICE_FAILPOINT: `${step}:${times}` })
      expect(await first.ended).toBe(null)
      expect(first.child.signalCode).toBe('SIGKILL')
      const killed = venue.books()
      // Starting the bots inside this process takes a fifth of the time that a separate process would take.
      const second = await venue.start()
      await until('new orders, and the end of the orders that were open at the kill', () =>
        isTakenUp(killed, venue.books()),
      )
      if (LONG || step === 'before-execute') {
        await second.handle({ command: 'halt' })
        await venue.settled()
      }
      await second.stop()
      const books = venue.books()
      expect(await venue.complaints()).toEqual([])
      expect(books.segments.map(({ ended }) => ended !== null)).toEqual([false, true])
      expect(venue.requests.length).toBeLessThanOrEqual(books.attempts.length)
      expect(venue.sandbox.ledger.transactionCount).toBeLessThanOrEqual(venue.requests.length)
    },
  )
})

test.concurrent('after two kills, the demo continues with the same journal and chain, and leaves no process behind', async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const journal = join(folder, 'demo.db')
  const demo = (seconds: number): Sluice => {
    const one = launch(['demo', '--journal', journal, '--speed', '10', '--seconds', `${seconds}`, '--json'])
    onTestFinished(() => kill(one))
    return one
  }
  for (const share of [1, 2]) {
    const before = existsSync(journal) ? readBooks(journal).fills.length : 0
    const start = performance.now()
    const one = demo(3600)
    await until(`three fills after start number ${share}`, () => existsSync(journal) && fillsOf(journal) >= before + 3)
    await until('the planned running time to pass', () => performance.now() - start > (DEMO_SECONDS * 1_000) / 4)
    if (share === 2)
      await until(
        () => `fills of both executors; ${ordersIn(journal)}`,
        () => filledBy(journal).size === 2,
      )
    await kill(one) // and at once the next one
  }
  const last = demo(DEMO_SECONDS / 2)
  expect(await last.ended).toBe(0)
  const counters = JSON.parse(last.stdout) as Record<string, unknown>
  const books = readBooks(journal)
  expect(counters).toMatchObject({ orders: books.orders.length, fills: books.fills.length, journal })
  expect(books.segments.map(({ ended }) => ended !== null)).toEqual([false, false, true])
  expect(await replayComplaints(journal, 3)).toEqual([])
  await until('the end of every process', () => processesWith(folder).length === 0)
  const { ledger, wallet, close } = await startSandbox(venueOf({ kind: 'sandbox' }).served, {
    stateFile: `${journal}.chain`,
  })
  onTestFinished(close)
  expect(ledger.transactionCount).toBeGreaterThan(3)
  expect(discrepancies(books, { ledger, wallet, funds: DEMO_SOL * 1e9 })).toEqual([])
  // For both executors the command must report that every lamport of every audit is explained.
  const told = await called(['ledger', '--journal', journal])
  expect([told.code, told.stdout]).toEqual([
    0,
    expect.stringContaining('remainder 0 lamports: every lamport is accounted for\n'),
  ])
})

function fillsOf(journal: string): number {
  try {
    return readBooks(journal).fills.length
  } catch {
    return 0 // the file is just being created
  }
}

/** Returns the executors whose attempts were filled. */
function filledBy(journal: string): Set<string> {
  const { attempts, fills } = readBooks(journal)
  const filled = new Set(fills.map(({ attemptId }) => attemptId))
  return new Set(attempts.flatMap(({ id, executor }) => (filled.has(id) ? [executor] : [])))
}

/** Returns the number of orders by bot, state and code, as text. */
function ordersIn(journal: string): string {
  const kinds = Map.groupBy(readBooks(journal).orders, ({ bot, state, code }) => `${bot} ${state} ${code}`.trim())
  return [...kinds].map(([kind, { length }]) => `${length} ${kind}`).join(', ')
}

/** Returns whether the new process trades, and all orders of the earlier process have ended, except those that wait for
 *  proof. */
function isTakenUp(before: Books, { orders, fills }: Books): boolean {
  const old = orders.slice(0, before.orders.length)
  return (
    old.every(({ state, code }) => !isOpen(state) || code === 'ANSWER_LOST') && fills.length >= before.fills.length + 3
  )
}

/** Returns the command lines of processes that contain the name of this folder. */
function processesWith(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return '' // ended meanwhile
      }
    })
    .filter((line) => line.includes(folder))
}
