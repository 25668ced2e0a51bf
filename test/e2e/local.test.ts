import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { Failpoint } from '../../src/base/failpoint.ts'
import { THIEF } from '../../src/sandbox/chain/hostile-program.ts'
import { POOL_PROGRAM } from '../../src/sandbox/chain/pool-program.ts'
import { BUILD_ATTACKS } from '../../src/sandbox/service/hostile-build.ts'
import { isWalked, readBooks, requestedIn } from './books.ts'
import { called } from './called.ts'
import { kill, launch } from './process.ts'
import { until } from './until.ts'
import { openVenue, type Venue } from './venue.ts'

type AtEnd = (close: () => Promise<void>) => void

/**
 * A signed transaction can land for 150 slots. With slots of 100 ms this is long enough for a busy machine, on which
 * the checks before sending take seconds.
 */
const SLOT_MS = 100

/** Bots with the local executor, on the sandbox's Solana runtime. */
async function openLocal(rounds: number, atEnd: AtEnd, maxHoldSeconds = 3): Promise<Venue> {
  const bot = { name: 'trips', strategy: 'round-trips', params: { rounds }, executor: 'local' } as const
  const venue = await openVenue({ bots: [{ ...bot, exits: { maxHoldSeconds } }], slotMs: SLOT_MS }, atEnd)
  const { keypair, policy: file, wallet } = venue.sandbox
  venue.configure({
    service: { builderPolicy: file },
    wallet: { publicKey: wallet, keypair: `file:${keypair}` },
  })
  return venue
}

const requestsFor = ({ requests }: Venue, path: string): number =>
  requests.filter((request) => request === `POST /api/transaction/${path}`).length

/** Closes the token accounts that sales have emptied. The ledger of the next run must explain the returned rent. */
async function expectRentBack(venue: Venue): Promise<void> {
  const balance = (): number => venue.sandbox.ledger.account(venue.sandbox.wallet, 'processed')?.lamports ?? 0
  const before = balance()
  const told = await called(['close-accounts', venue.configFile, '--yes', '--json'])
  expect(told.code, told.stderr).toBe(0)
  const { accounts } = JSON.parse(told.stdout) as { accounts: { closed: boolean; rentSol: number; reason: string }[] }
  const closed = accounts.filter((one) => one.closed)
  expect(closed.length).toBeGreaterThanOrEqual(3)
  const rent = closed.reduce((sum, { rentSol }) => sum + Math.round(rentSol * 1e9), 0)
  expect(balance() - before).toBe(rent - 5_000)
  const left = venue.sandbox.ledger.tokenAccounts(venue.sandbox.wallet, 'processed')
  expect(left.length).toBe(accounts.length - closed.length)
  const again = await venue.start()
  const line = (): number => {
    const db = new Database(venue.journal, { readonly: true })
    const sum = db
      .prepare("SELECT sum(lamports) FROM ledger WHERE line = 'rent_returned' AND kind = 'housekeeping'")
      .pluck()
    const found = sum.get() as number | null
    db.close()
    return found ?? 0
  }
  await until('the audit to include the returned rent', () => line() === -rent)
  await again.stop()
  expect(venue.books().ledger.complaints).toEqual([])
}

describe.concurrent('bots with the local executor', () => {
  test('bots with the local executor buy, sell a part and sell the rest, the journal equals the chain, and the service executes nothing', async ({
    onTestFinished,
  }) => {
    const venue = await openLocal(1, onTestFinished, 3_600)
    const running = await venue.start()
    const books = await until('three tokens to be bought, and each to be sold in a different way', () => {
      const books = venue.books()
      return isWalked(books) && books
    })
    await running.handle({ command: 'halt' })
    await venue.settled()
    await running.stop()
    expect(await venue.complaints()).toEqual([])
    expect(new Set(books.attempts.map(({ executor }) => executor))).toEqual(new Set(['local']))
    // The price may move between the simulation and the block. In that case the order is retried.
    expect(books.attempts.filter(({ state }) => state === 'filled').length).toBeGreaterThanOrEqual(8)
    // On a busy machine, a request may time out before the service reads it.
    const [requests, asked] = [requestsFor(venue, 'buy') + requestsFor(venue, 'sell'), requestedIn(venue.books())]
    const answered = asked.filter(({ code }) => code !== 'BUILDER_SILENT')
    expect(requests).toBeLessThanOrEqual(asked.length)
    expect(requests).toBeGreaterThanOrEqual(answered.length)
    expect(venue.requests.some((request) => request.startsWith('POST /api/trade/'))).toBe(false)
    expect(venue.log.join('\n')).toContain('the signer is ready')
    await expectRentBack(venue)
  })

  test('while nine of ten sends of a transaction are lost, each order lands once or is proved expired', async ({
    onTestFinished,
  }) => {
    const venue = await openLocal(1, onTestFinished)
    venue.sandbox.faults.set({ kind: 'sendDropped', count: 30, probability: 0.9 })
    const running = await venue.start()
    await until('a sale of everything', () => {
      const { positions, fills } = venue.books()
      return fills.some(
        ({ side, mint }) => side === 'sell' && positions.some((one) => one.mint === mint && one.state === 'closed'),
      )
    })
    venue.sandbox.faults.clear()
    await running.handle({ command: 'halt' })
    await venue.settled()
    await running.stop()
    expect(await venue.complaints()).toEqual([])
  })

  test('a transaction from a hostile builder is never signed', async ({ onTestFinished }) => {
    const venue = await openLocal(BUILD_ATTACKS.length, onTestFinished)
    const stolen = () => venue.sandbox.ledger.account(THIEF, 'processed')?.lamports
    const before = stolen()
    for (const attack of BUILD_ATTACKS) venue.sandbox.faults.set({ kind: 'builtHostile', attack })
    const running = await venue.start()
    await until('all attacks', () => venue.sandbox.faults.active.length === 0)
    await until(
      'their refusals',
      () => venue.books().attempts.filter(({ state }) => state === 'refused').length >= BUILD_ATTACKS.length,
    )
    await running.stop()
    const refused = venue.books().attempts.filter(({ state }) => state === 'refused')
    expect(refused.map(({ signature }) => signature)).toEqual(refused.map(() => ''))
    // Every execution must be a fill of an order, to the lamport, and the addresses of the attacks must have received
    // nothing.
    expect(await venue.complaints()).toEqual([])
    expect(stolen()).toBe(before)
  })

  test.for(['built', 'signed', 'sent'] satisfies Failpoint[])(
    'after a kill at the third %s transaction, no order is lost and none is executed twice',
    async (step, { onTestFinished }) => {
      const venue = await openLocal(2, onTestFinished)
      const first = venue.run({ SLUICE_FAILPOINT: `${step}:3` })
      expect(await first.ended).toBe(null)
      const killed = venue.books()
      const second = await venue.start()
      await until('further orders, and the end of the orders that were open at the kill', () => {
        const now = venue.books()
        const old = now.attempts.slice(0, killed.attempts.length)
        const isOver = old.every(({ state }) =>
          ['filled', 'landed', 'reverted', 'expired', 'refused', 'unsent'].includes(state),
        )
        return isOver && now.fills.length >= killed.fills.length + 2
      })
      await second.stop()
      expect(await venue.complaints()).toEqual([])
    },
  )

  test('a policy with which a token could be bought but never sold is refused with exit code 4', async ({
    onTestFinished,
  }) => {
    const venue = await openLocal(1, onTestFinished)
    const oneWay = join(venue.folder, 'one-way.yaml')
    const opaque = { id: POOL_PROGRAM, decode: 'opaque', buy: ['38fc74089edfcd5f'], mintIndex: 2, userIndex: 6 }
    writeFileSync(oneWay, JSON.stringify({ programs: [opaque] }))
    const { keypair, wallet } = venue.sandbox
    venue.configure({ service: { builderPolicy: oneWay }, wallet: { publicKey: wallet, keypair: `file:${keypair}` } })
    const run = venue.run()
    expect(await run.ended).toBe(4)
    expect(run.stderr).toMatch(/could buy through .* but never sell/)
  })

  test('a live run without a policy exits with code 4 and names the remedy', async ({ onTestFinished }) => {
    const venue = await openLocal(1, onTestFinished)
    venue.configure({ wallet: { keypair: `file:${venue.sandbox.keypair}` } })
    const run = venue.run()
    expect(await run.ended).toBe(4)
    expect(run.stderr).toMatch(/executor: local, but no policy.*set service\.builderPolicy/s)
  })

  test('on a sandbox without litesvm, one line names the bots that cannot run, and the other bots trade', async ({
    onTestFinished,
  }) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-small-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const journal = join(folder, 'demo.db')
    const args = ['demo', '--journal', journal, '--speed', '10', '--seconds', '6', '--json']
    const demo = launch(args, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WITHOUT_LITESVM)}` })
    onTestFinished(() => kill(demo))
    expect(await demo.ended).toBe(0)
    const said = demo.stderr.split('\n').filter((line) => line.includes('litesvm'))
    expect(said).toEqual([expect.stringMatching(/left out.*dips-signed/)])
    expect(readBooks(journal).attempts.map(({ bot }) => bot)).not.toContain('dips-signed')
  })
})

const WITHOUT_LITESVM = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith('litesvm')) return next(specifier, context)
      throw Object.assign(new Error('not installed'), { code: 'ERR_MODULE_NOT_FOUND' })
    },
  })`
