import { expect, test } from 'vitest'
import { calibrationOf } from '../../src/backtest/calibration.ts'
import { lamports, ZERO } from '../../src/base/units.ts'
import { loadConfig } from '../../src/config/load.ts'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import { NO_COSTS } from '../../src/engine/accounting/fill-costs.ts'
import { openTape } from '../../src/journal/tape-files.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { buyAttempt } from '../support/attempts.ts'
import { journalPath, NO_LIMITS } from '../support/journal-samples.ts'
import { feed, noisyMarket, type Recording, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const MINT = 'Azphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'
const folder = temporaryFolder()

/** Records a run whose attempts were filled two seconds after they were sent, and returns its journal. */
async function recorded(executor: Attempt['executor'], count: number, tape?: readonly Recording[]): Promise<string> {
  const path = journalPath()
  await writeTape(path, tape ?? [{ time: T0, items: noisyMarket(2_000, 3, T0) }])
  const journal = openJournal(path, {
    space: NO_LIMITS,
    onFailure: (error) => {
      throw error
    },
  })
  for (let at = 1; at <= count; at++) {
    const armedAt = T0 + 60_000 + at * 3_001
    const attempt = buyAttempt(MINT, 0.1, { id: `o${at}.1`, orderId: `o${at}`, armedAt, state: 'filled', executor })
    journal.write({ kind: 'attempt', attempt })
    journal.write({
      kind: 'fill',
      fill: {
        ...{
          signature: `s${at}`,
          orderId: attempt.orderId,
          attemptId: attempt.id,
          account: attempt.account,
          bot: 'bot',
        },
        ...{ mint: MINT, side: 'buy', slot: at, time: armedAt + 2_000, tokens: 600_000_000_000n, decimals: 6 },
        ...{ tradeLamports: lamports(100_000_000), feeLamports: lamports(105_000), rentLamports: ZERO },
        ...{ walletLamports: lamports(-100_105_000), final: true },
        costs: { ...NO_COSTS, tradeLamports: lamports(98_000_000), venueFeeLamports: lamports(980_000) },
      },
    })
  }
  journal.commit(() => {})
  await journal.close()
  return path
}

async function calibrate(...paths: string[]) {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', exits: { maxHoldSeconds: 60 } }]
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const tape = openTape(paths)
  try {
    return calibrationOf(loaded.config, tape.market, tape.executions())
  } finally {
    tape.close()
  }
}

test("a journal's real fills calibrate the model and are compared with it", async () => {
  const { report, model } = await calibrate(await recorded('cloud', 25))
  expect(report.measured).toMatchObject({
    ...{ fills: 25, decided: 25, latencyMs: { p50: 2_000, p95: 2_000 }, landingFailurePercent: null },
    ...{ autoPriorityFeeLamports: 100_000, serviceFeePercent: 0 },
  })
  expect(report.compared).toBe(25)
  expect(report.p10ErrorPercent).toBeLessThan(report.p90ErrorPercent as number)
  const found = model(DEFAULT_FILL_MODEL)
  expect(found).toMatchObject({ latencyMs: { p50: 2_000, p95: 2_000 }, serviceFeePercent: 0, landingFailurePercent: 3 })
  expect(found.venueFeePercent).toBeCloseTo(1, 9)
})

test('fills during a gap of the feed or between two recordings are counted but not compared', async () => {
  const rows = noisyMarket(2_000, 3, T0)
  const before = (time: number) => rows.filter((row) => row.time < time)
  const between = (from: number, to: number) => rows.filter(({ time }) => time >= from && time < to)
  // One attempt is sent every 3 s from 63 s on. The feed is down from 80 s to 90 s, and no process records from 110 s
  // to 125 s.
  const [down, up, end, again] = [80_000, 90_000, 110_000, 125_000].map((ms) => T0 + ms) as [
    number,
    number,
    number,
    number,
  ]
  const gap = { kind: 'gap', from: down, to: up, keys: ['trades'] } as const
  const { report } = await calibrate(
    await recorded('cloud', 25, [
      {
        time: T0,
        items: [
          ...before(down),
          { time: up, input: gap },
          { time: up, input: feed('live', ['trades']) },
          ...between(up, end),
        ],
      },
      { time: again, items: between(again, T0 + 200_000) },
    ]),
  )
  expect(report.compared).toBeLessThan(17)
  expect(report.compared).toBeGreaterThan(10)
  // An attempt lands two seconds after it is sent. The attempts that are sent at the seconds 78, 81, 84 and 87 land
  // during the gap of the feed. Those that are sent at 108, 111, 114, 117, 120 and 123 land between the recordings.
  expect(report.unheard).toBe(10)
})

test('simulated fills cannot calibrate the model', async () => {
  await expect(calibrate(await recorded('paper', 25))).rejects.toMatchObject({
    message: expect.stringContaining('the journal has no real fill'),
    exitCode: 2,
  })
})
