import { describe, expect, test, vi } from 'vitest'
import type { Fault } from '../../src/sandbox/faults.ts'
import { openStage, orderIn, type Stage, tell } from './stage.ts'
import { until } from './until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Tests that wait for the service's own timeouts (30 and 40 s) run only on request. */
const testLong = test.runIf(process.env.SLUICE_E2E_LONG === '1')
const KINDS_OF_GARBAGE = 16

describe.concurrent('a faulty feed', () => {
  test.for<[what: string, fault: Fault, why: string[]]>([
    ['the feed sends events twice', { kind: 'duplicate', count: 10 }, []],
    ['the feed sends events in another order', { kind: 'reorder', count: 5 }, []],
    ['the feed sends random messages in between', { kind: 'garbage', count: KINDS_OF_GARBAGE }, ['binary', 'not JSON']],
  ])('if %s, every trade is on the tape once, and orders continue', async ([, fault, why], { onTestFinished }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    const before = running.model.rows
    stage.sandbox.faults.set(fault)
    const sent = stage.prints(40)
    await until('all of them', () => running.model.rows >= before + sent.length)
    await tell(running.handle, stage, 'buy')
    await stage.settled()
    const { misfits, counts } = running.world.feed
    await running.stop()
    expect(await stage.complaints()).toEqual([])
    expect(tapedOf(stage, sent)).toEqual([...sent].sort())
    expect(counts.duplicates).toBe(fault.kind === 'duplicate' ? 10 : 0)
    expect([...misfits.counts.keys()]).toEqual(expect.arrayContaining(why))
    expect(running.world.feed.counts.losses).toBe(1) // its end
    expect(stage.books().orders.map(({ state }) => state)).toEqual(['filled'])
  })

  test("if the feed's connection ends, the gap is recorded with its keys, and the feed reconnects", async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    const from = Date.now()
    stage.sandbox.faults.set({ kind: 'disconnect' })
    await until('the end', () => running.world.feed.state === 'waiting')
    expect((await tell(running.handle, stage, 'buy')).answer).toBe('FEED_DOWN')
    await until('its return', () => running.world.feed.state === 'live')
    const to = Date.now()
    const sent = stage.prints(5)
    await until('a price that is newer than the gap', async () => {
      // Prints that arrive before the gap is recorded give no price, because the gap deletes them. So prints are
      // sent until there is a price.
      sent.push(...stage.prints(1))
      return (await tell(running.handle, stage, 'buy')).answer === 'o1'
    })
    await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
    expect(tapedOf(stage, sent)).toEqual([...sent].sort())
    const gap = stage.books().gaps.find((one) => one.to >= from && one.to <= to)
    expect(gap?.from).toBeLessThan((gap?.to ?? 0) - 900)
    expect(gap?.keys).toEqual(expect.arrayContaining(['trades', 'newTokens', 'priceUpdates']))
  })

  test('a feed that is silent for a short time stays live', async ({ onTestFinished }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set({ kind: 'silence', ms: 1_000 })
    const { rows } = running.model
    const unheard = stage.prints(3)
    const sent = [...unheard]
    await until('the first print after the silence', () => {
      sent.push(...stage.prints(1))
      return running.model.rows > rows
    })
    const last = stage.prints(1)
    await until('the last print to be on the tape', () => stage.tape().includes(last[0] as string))
    await running.stop()
    const tape = stage.tape()
    const heard = [...sent, ...last].slice(unheard.length).filter((one) => tape.includes(one))
    expect(tapedOf(stage, [...sent, ...last])).toEqual([...sent, ...last].slice(-heard.length).sort())
    expect(stage.books().gaps).toHaveLength(2) // its start and its end
  })

  testLong(
    'a feed that is silent for 60 s becomes stale, reconnects, and records a gap',
    { timeout: 120_000 },
    async ({ onTestFinished }) => {
      const stage = await openStage({}, onTestFinished)
      const running = await stage.go()
      stage.sandbox.faults.set({ kind: 'silence', ms: 60_000 })
      await until('stale', () => running.world.feed.state === 'stale', 50_000)
      expect((await tell(running.handle, stage, 'buy')).answer).toBe('FEED_DOWN')
      await until('live', () => running.world.feed.state === 'live', 60_000)
      await running.stop()
      expect(stage.books().gaps.some(({ from, to }) => to - from > 30_000)).toBe(true)
    },
  )

  test('if the service reports too many connections, the process waits for the longest reconnect delay, and continues', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    stage.sandbox.faults.set({ kind: 'connectionLimit' })
    const running = await stage.start()
    await until('the refusal', () =>
      stage.log.some((line) => /too many connections; connecting again in 30000 ms/.test(line)),
    )
    expect(running.world.feed.state).toBe('waiting')
    expect((await tell(running.handle, stage, 'buy')).answer).toBe('FEED_DOWN')
    if (process.env.SLUICE_E2E_LONG === '1') await until('live', () => running.world.feed.state === 'live', 40_000)
  })
})

describe.concurrent('a refused key', () => {
  test('if the key is refused at the start, the run ends with 3', async ({ onTestFinished }) => {
    const stage = await openStage({}, onTestFinished)
    stage.giveKey('standard-wrong-key')
    const running = await stage.start()
    expect(await running.ended).toEqual({ exitCode: 3, message: expect.stringContaining('refuses the API key') })
  })

  test('if the service refuses the API key of a running process, entries are refused, and exits wait for a new key', {
    timeout: 90_000,
  }, async ({ onTestFinished }) => {
    const stage = await openStage({}, onTestFinished)
    let running = await stage.go()
    await tell(running.handle, stage, 'buy')
    await stage.settled()
    stage.sandbox.faults.set({ kind: 'keyRevoked' })
    await until('the refusal', () => running.world.feed.state === 'refused')
    expect((await tell(running.handle, stage, 'buy')).answer).toBe('KEY_REFUSED')
    expect((await tell(running.handle, stage, 'sell')).answer).toBe('o2')
    expect(await orderIn(stage, 'o2', () => true)).toMatchObject({ state: 'accepted' })
    expect(stage.requests.filter((request) => request.endsWith('/sell'))).toEqual([])
    stage.giveKey(stage.sandbox.apiKeys.standard)
    if (process.env.SLUICE_E2E_LONG === '1')
      await until('the new key', () => running.world.feed.state === 'live', 40_000)
    else {
      await running.stop()
      running = await stage.start()
    }
    await orderIn(stage, 'o2', ({ state }) => state === 'filled')
    await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
  })
})

/** Returns the signatures of the given trades that are on the tape, sorted, with repetitions. */
function tapedOf(stage: Stage, signatures: readonly string[]): string[] {
  return stage
    .tape()
    .filter((signature) => signatures.includes(signature))
    .sort()
}
