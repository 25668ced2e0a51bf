import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import type { RunningBots } from '../../src/bot.ts'
import { liveTable } from '../../src/commands/live-table.ts'
import { newPosition, type Position } from '../../src/core/position.ts'
import { lamports, ZERO } from '../../src/core/units.ts'
import { Tally } from '../../src/wiring/live/tally.ts'
import { MINT } from '../support/engine-rig.ts'

/** What stands behind the token of one held position. */
function lineOf(more: Partial<Position>, price: number | undefined): string | undefined {
  const tally = new Tally()
  const held = { tokens: 100_000_000_000n, costLamports: lamports(100_000_000), state: 'open' } as const
  tally.restore([{ ...newPosition({ account: 'w', bot: 'dips', mint: MINT }, 0, {}), ...held, ...more }])
  const world = {
    feed: { state: 'live', counts: { losses: 0 } },
    limiter: { status: () => ({ held: 0, allowed: 100, waiting: 0 }) },
    decisionTime: { p50: () => 1, p99: () => 2 },
    priceOf: () => price,
    lists: { broken: new Map([['deny.txt', 'deny.txt:2 is no key \u001b[2J']]) },
  }
  const running = { world, tally, bots: [], startedAt: 0 } as unknown as RunningBots
  const lines = liveTable(running, 'test', 0, 60_000, 200).map(stripVTControlCharacters)
  expect(lines).toContain('deny.txt:2 is no key \\u001b[2J')
  return lines.find((line) => line.startsWith(MINT.slice(0, 8)))?.replace(/ +/g, ' ')
}

const exiting = { state: 'closing', exiting: 'stop-loss: -21 %' } as const

test.each<[what: string, more: Partial<Position>, price: number | undefined, line: string]>([
  ['held', {}, 1e-6, 'dips 0.1000 0.0987 -1.3 % 01:00 open'],
  ['without a price', {}, undefined, 'dips 0.1000 no price 01:00 open'],
  ['being opened', { tokens: 0n, costLamports: ZERO, state: 'opening' }, 1e-6, 'dips 0.0000 - 01:00 opening'],
  ['being sold', { ...exiting, exitTries: 1 }, 1e-6, 'dips 0.1000 0.0987 -1.3 % 01:00 selling: stop-loss: -21 %'],
  [
    'what cannot be sold, though it has a price',
    { ...exiting, exitTries: 5 },
    1e-6,
    'dips 0.1000 0.0000 -100.0 % 01:00 cannot be sold, tried 5 times: stop-loss: -21 %',
  ],
])('%s', (_what, more, price, line) => {
  expect(lineOf(more, price)).toBe(`${MINT.slice(0, 8)} ${line}`)
})
