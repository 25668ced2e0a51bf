import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isOpen } from '../../src/engine/order.ts'
import { sendCommand } from '../../src/live/control/client.ts'
import type { View } from '../../src/runtime/view/view.ts'
import { mountSmallDisk, onDisk, type SmallDisk } from '../support/small-disk.ts'
import { discrepancies } from './books.ts'
import { until } from './until.ts'
import { openVenue, type Venue } from './venue.ts'

// Journal, log and control socket are on one disk. Another program fills this disk in steps to the last byte, and uses
// all space that becomes free. More runs: SLUICE_FULL_DISKS=20 npm test -- test/e2e/full-disk.test.ts;
// SLUICE_SMALL_DISK=ext4 for ext4 on a loop device.

const RUNS = Number(process.env.SLUICE_FULL_DISKS ?? 1)
const POSITIONS = 50
const DISK_MIB = 300
const MEBIBYTE = 2 ** 20
const STEPS_MIB = [96, 40, 12, 3, 1, 0]
const LONG_MS = 1_800_000
/** A transaction that never landed is proved absent after many blocks, which a busy machine produces slowly. */
const PROVED_WITHIN_MS = 900_000

const probe = mountSmallDisk(1)
if (typeof probe === 'string') console.log(`skipped, no small file system can be mounted here: ${probe}`)
else probe.unmount()

describe.runIf(typeof probe !== 'string')('while another program fills the disk', () => {
  test.for(Array.from({ length: RUNS }, (_, index) => index + 1))(
    'on a full disk with open positions, every exit is recorded and sent, and `resume` buys nothing (run %i)',
    { timeout: LONG_MS },
    async (_run, { onTestFinished }) => {
      const disk = mountSmallDisk(DISK_MIB) as SmallDisk
      onTestFinished(() => disk.unmount())
      const venue = await openOn(disk, onTestFinished)
      const log = openSync(join(disk.folder, 'log'), 'a')
      const bots = venue.run({}, log)
      closeSync(log)
      // If an answer times out on a busy machine, the command is sent again, so the process may report it twice.
      const send = (command: 'status' | 'resume' | 'flatten' | 'halt') =>
        until(`an answer to ${command}`, () => sendCommand(venue.journal, { command }).catch(() => false as const))
      const status = async () => (await send('status')) as View
      const codes = async () => (await status()).stops.map(({ code }) => code)
      const heldIn = ({ positions }: ReturnType<Venue['books']>) => positions.filter(({ state }) => state === 'open')
      await status()
      await until('positions', () => heldIn(venue.books()).length >= POSITIONS)

      disk.fillTo((STEPS_MIB[0] as number) * MEBIBYTE)
      await until('entries to stop', async () => (await codes()).includes('DISK_LOW'))
      await until('the end of every buy', () => venue.books().orders.every(({ state }) => !isOpen(state)))
      const { orders } = venue.books()
      const held = heldIn(venue.books()).length
      const eater = setInterval(() => disk.fillTo(left * MEBIBYTE), 20)
      onTestFinished(() => clearInterval(eater))
      let left = STEPS_MIB[0] as number
      for (const step of STEPS_MIB) {
        left = step
        const { text } = (await send('resume')) as { text: string }
        expect(text).toMatch(/^your halt is lifted, but entries are still stopped .*DISK_LOW .*Free some space there/)
        const { time } = await status()
        await until('a buy to be refused after the resume', async () => {
          const [bot] = (await status()).bots
          return bot?.last?.text.includes('DISK_LOW') === true && bot.last.time > time
        })
      }
      expect(venue.books().orders).toHaveLength(orders.length)

      await send('flatten')
      await until('all positions to be sold', () => venue.books().positions.every(({ state }) => state === 'closed'))
      await until(
        'the end of every sale',
        () => venue.books().orders.every(({ state }) => !isOpen(state)),
        PROVED_WITHIN_MS,
      )
      const sold = venue.books().orders.slice(orders.length)
      expect(new Set(sold.map(({ side }) => side))).toEqual(new Set(['sell']))
      expect(new Set(sold.map(({ mint }) => mint)).size).toBe(held)
      expect([disk.freeBytes(), bots.child.exitCode]).toEqual([0, null])
      expect(await codes()).toEqual(expect.arrayContaining(['DISK_LOW', 'HALTED']))

      clearInterval(eater)
      disk.empty()
      await until('DISK_LOW to end by itself', async () => !(await codes()).includes('DISK_LOW'))
      expect(await codes()).toContain('HALTED')
      expect(await send('resume')).not.toMatchObject({ text: expect.stringContaining('DISK_LOW') })
      await until('a buy', () => venue.books().orders.length > orders.length + sold.length)
      await send('halt')
      await venue.settled()
      bots.child.kill('SIGINT')
      expect(await bots.ended).toBe(0)
      expect(discrepancies(venue.books(), venue.chain())).toEqual([])
    },
  )
})

async function openOn(disk: SmallDisk, atEnd: Parameters<typeof openVenue>[1]): Promise<Venue> {
  const bots = [{ name: 'hoarder', strategy: 'hoarder', limits: { maxOpenPositions: POSITIONS } }] as const
  const options = { bots, config: { service: { lateSeconds: 1 } }, speed: 60 }
  const venue = await onDisk(disk, () => openVenue(options, atEnd))
  venue.giveKey(venue.sandbox.apiKeys.premium)
  return venue
}
