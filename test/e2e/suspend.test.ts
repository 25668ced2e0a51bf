import { expect, test } from 'vitest'
import { sendCommand } from '../../src/live/control/client.ts'
import { until } from './until.ts'
import { openVenue } from './venue.ts'

test('a process that is suspended while it trades, and then continued, loses no order and repeats none', async ({
  onTestFinished,
}) => {
  const bots = [{ name: 'trips', strategy: 'round-trips', exits: { maxHoldSeconds: 3 } }] as const
  const config = { service: { lateSeconds: 1 } }
  const venue = await openVenue({ bots, config }, onTestFinished)
  const one = venue.run()
  // Answers are pending while the process is stopped, as when a machine is suspended.
  venue.sandbox.faults.set({ kind: 'delay', ms: 1_500, count: 3, target: '/trade/' })
  venue.sandbox.faults.set({ kind: 'dropAfter', target: '/trade/sell' })
  await until('requests', () => venue.requests.length >= 2)
  one.child.kill('SIGSTOP')
  const { slot } = venue.sandbox.ledger.head('processed')
  await until('time to pass on the chain', () => venue.sandbox.ledger.head('processed').slot > slot + 150)
  one.child.kill('SIGCONT')
  await until(
    'fills after the process was continued',
    () => one.stderr.includes('"running"') && venue.books().fills.length >= 3,
  )
  await sendCommand(venue.journal, { command: 'halt' })
  await venue.settled()
  one.child.kill('SIGINT')
  expect(await one.ended).toBe(0)
  expect(await venue.complaints()).toEqual([])
  expect(venue.requests.length).toBeLessThanOrEqual(venue.books().attempts.length)
})
