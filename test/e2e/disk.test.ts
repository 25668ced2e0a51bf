import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { sendCommand } from '../../src/live/control/client.ts'
import type { View } from '../../src/runtime/view/view.ts'
import { mountSmallDisk, onDisk } from '../support/small-disk.ts'
import { discrepancies } from './books.ts'
import { until } from './until.ts'
import { openVenue, type Venue } from './venue.ts'

// Tests with real disk failures: a full file system, and system calls that fail while a process runs.

const own = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
afterAll(() => rmSync(own, { recursive: true }))

const bots = [{ name: 'trips', strategy: 'round-trips', exits: { maxHoldSeconds: 3 } }] as const
const config = { service: { lateSeconds: 1 } }
const REASON =
  /the journal cannot be written: .*(disk I\/O error|disk is full)|cannot be opened: |cannot be used: EIO: i\/o error|disk I\/O error|disk is full|no space left/

/**
 * Checks a venue after a disk failure: no order was sent without its row in the journal, nothing is damaged, and the
 * next process completes all orders.
 */
async function recovered(venue: Venue, hasTape = true): Promise<void> {
  const last = await venue.start()
  // If only a lack of space had stopped entries, the bots buy again now. A halt stops them, so that no buy is open at
  // the end.
  if (!hasTape) {
    await until('an order', () => venue.books().orders.length > 0)
    await last.handle({ command: 'halt' })
  }
  const books = await venue.settled()
  await last.stop()
  // If the disk is nearly full, no tape is recorded, and there is nothing to replay.
  expect(hasTape ? await venue.complaints() : discrepancies(books, venue.chain())).toEqual([])
  expect(venue.requests.length).toBeLessThanOrEqual(venue.books().attempts.length)
  expect(venue.sandbox.ledger.transactionCount).toBeLessThanOrEqual(venue.requests.length)
}

const shim = join(own, 'failing-disk.so')
const source = fileURLToPath(new URL('./failing-disk.c', import.meta.url))
const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', shim, source, '-ldl'], { encoding: 'utf8' })
const canPreload = compiled.status === 0 && process.platform === 'linux'
if (!canPreload)
  console.log(
    `skipped: system calls cannot be made to fail on this machine: ${compiled.error?.message ?? compiled.stderr}`,
  )

describe.runIf(canPreload)('a system call fails or is slow while a process trades', () => {
  const { EIO, ENOSPC } = constants.errno
  test.concurrent.for([
    ['sync', EIO, 1],
    ['sync', EIO, 14],
    ['sync', EIO, 40],
    ['write', ENOSPC, 3],
  ] as const)(
    'if the system call %s fails with error %i from call number %i on, the process ends with 1 and reports the reason',
    async ([call, errno, after], { onTestFinished }) => {
      const venue = await openVenue({ bots, config }, onTestFinished)
      const faults = { LD_PRELOAD: shim, FAULT_CALL: call, FAULT_AFTER: `${after}`, FAULT_ERRNO: `${errno}` }
      const failing = venue.run(faults)
      expect([await failing.ended, failing.stderr]).toEqual([1, expect.stringMatching(REASON)])
      expect(failing.stderr).not.toMatch(/\n {4}at /) // no stack trace
      await recovered(venue)
    },
  )

  // The process makes write number 400 while it reserves space for exits, and number 10,000 while it trades.
  test.concurrent.for([400, 10_000])(
    'if every write from number %i on fails for lack of space, the process reports this, waits, and ends with 1 when it is stopped',
    async (after, { onTestFinished }) => {
      const venue = await openVenue({ bots, config }, onTestFinished)
      const faults = { FAULT_CALL: 'write', FAULT_AFTER: `${after}`, FAULT_ERRNO: `${ENOSPC}` }
      const full = venue.run({ LD_PRELOAD: shim, ...faults })
      await until('the warning in the log', () => /DISK_LOW: .*NOTHING CAN BE SOLD/.test(full.stderr))
      const status = (await until('its status', () =>
        sendCommand(venue.journal, { command: 'status' }).catch(() => false as const),
      )) as View
      expect(status.stops).toMatchObject([{ code: 'DISK_LOW' }])
      full.child.kill('SIGINT')
      expect([await full.ended, full.stderr]).toEqual([1, expect.stringMatching(REASON)])
      expect(full.stderr).not.toMatch(/\n {4}at /) // no stack trace
      await recovered(venue, false)
    },
  )

  test.concurrent('on a slow disk, orders wait for commits, but the feed does not', async ({ onTestFinished }) => {
    // On a slow disk, the strategy's sale in parts takes longer than 3 s. If an exit sold the position first, the
    // strategy would begin again with another token.
    const patient = [{ ...bots[0], exits: { maxHoldSeconds: 120 } }]
    const venue = await openVenue({ bots: patient, config }, onTestFinished)
    const slow = venue.run({ LD_PRELOAD: shim, FAULT_CALL: 'sync', FAULT_AFTER: '12', FAULT_MS: '700' })
    await until('sales', () => slow.stderr.includes('"running"') && venue.books().fills.length >= 4)
    const { inputs } = await venue.settled()
    expect(inputs.filter(({ json }) => /"status":"(stale|down)"/.test(json))).toEqual([])
    slow.child.kill('SIGINT')
    expect(await slow.ended).toBe(0)
    expect(await venue.complaints()).toEqual([])
  })
})

const disk = mountSmallDisk(300)
if (typeof disk === 'string') console.log(`skipped: this machine cannot mount a file system of a fixed size: ${disk}`)
else afterAll(() => disk.unmount())

describe.runIf(typeof disk !== 'string')('a full file system', () => {
  if (typeof disk === 'string') return
  test('on a full file system, a process stops entries, sells positions in the reserved space, loses nothing and can start again', async ({
    onTestFinished,
  }) => {
    const venue = await onDisk(disk, () => openVenue({ bots, config }, onTestFinished))
    const first = venue.run()
    await until('something to sell', () => first.stderr.includes('"running"') && venue.books().fills.length >= 2)
    disk.fillTo(0)
    await until('the journal to record the lack of space, after all earlier decisions', () =>
      venue.books().inputs.some(({ json }) => /"DISK_LOW"/.test(json)),
    )
    await until('the warning in the log', () => /DISK_LOW: .*Free some space there/.test(first.stderr))
    const buys = (): number => venue.books().orders.filter(({ side }) => side === 'buy').length
    const bought = buys()
    await until('all positions to be sold', () => {
      disk.fillTo(0)
      return venue.books().positions.every(({ state }) => state === 'closed')
    })
    expect(buys()).toBe(bought)
    first.child.kill('SIGKILL')
    await first.ended
    const second = venue.run()
    await until('the next process to run on the full disk, or to end', () => {
      disk.fillTo(0)
      return second.child.exitCode !== null || second.stderr.includes('"running"')
    })
    second.child.kill('SIGINT')
    expect([await second.ended, second.stderr]).toEqual([0, expect.stringMatching(/DISK_LOW/)])
    expect(buys()).toBe(bought)
    disk.empty()
    await recovered(venue, false)
  })
})
