import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { sendCommand } from '../../src/live/control/client.ts'
import { MINT } from '../sandbox/still-market.ts'
import { knowsWallet, segmentsOf } from './books.ts'
import { called } from './called.ts'
import type { Sluice } from './process.ts'
import { openStage, orderIn, type Send, type Stage, tell } from './stage.ts'
import { until } from './until.ts'

vi.setConfig({ testTimeout: 120_000 })

const STOP = '{"kind":"command","command":{"name":"stop"}}'
const WRONG_MINT = 'SysvarC1ock11111111111111111111111111111111'

type Status = Readonly<{ feed: string; rows: number }>

/** Starts a process that trades on the venue of `stage`, and waits until its bot may buy. */
async function running(stage: Stage): Promise<{ one: Sluice; send: Send }> {
  const segment = segmentsOf(stage.journal) + 1
  const one = stage.run()
  await until('its start', () => /"msg":"running"/.test(one.stderr))
  await until('the wallet', () => knowsWallet(stage.books(), segment))
  const send: Send = (command) => sendCommand(stage.journal, command)
  const status = async (): Promise<Status> => (await sendCommand(stage.journal, { command: 'status' })) as Status
  await until('the feed', async () => (await status()).feed === 'live')
  const { rows } = await status()
  stage.prints(3)
  await until('a price', async () => (await status()).rows >= rows + 3)
  return { one, send }
}

describe.concurrent('the end of a process', () => {
  test.for(['SIGINT', 'SIGTERM'] as const)(
    'the signal %s stops the process in an orderly way with exit code 0, and the journal records this',
    async (signal, { onTestFinished }) => {
      const stage = await openStage({}, onTestFinished)
      const { one, send } = await running(stage)
      await tell(send, stage, 'buy')
      await orderIn(stage, 'o1', ({ state }) => state === 'filled')
      one.child.kill(signal)
      expect(await one.ended).toBe(0)
      expect(JSON.parse(one.stdout)).toMatchObject({ orders: 1, fills: 1, positions: 1, journal: stage.journal })
      expect(stage.books().segments).toEqual([{ number: 1, ended: expect.any(Number) }])
      expect(stage.books().inputs.some(({ json }) => json === STOP)).toBe(true)
      expect(await stage.complaints()).toEqual([])
    },
  )

  test('after SIGINT while an answer is pending, the process waits for the answer, so that no outcome stays unknown', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const { one, send } = await running(stage)
    stage.sandbox.faults.set({ kind: 'delay', ms: 700 })
    expect((await tell(send, stage, 'buy')).answer).toBe('o1')
    one.child.kill('SIGINT')
    expect(await one.ended).toBe(0)
    expect(stage.books().attempts).toEqual([
      expect.objectContaining({ id: 'o1.1', signature: expect.stringMatching(/^\w{80,}$/) }),
    ])
    const next = stage.run()
    await stage.settled()
    next.child.kill('SIGINT')
    expect(await next.ended).toBe(0)
    expect(await stage.complaints()).toEqual([])
    expect(stage.requests).toHaveLength(1)
  })

  test('an orderly stop waits at most 8 s for an answer, and the next process finds the outcome on the chain', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const { one, send } = await running(stage)
    stage.sandbox.faults.set({ kind: 'delay', ms: 120_000 })
    await tell(send, stage, 'buy')
    await until('the request', () => stage.requests.length === 1)
    const start = performance.now()
    one.child.kill('SIGINT')
    expect(await one.ended).toBe(0)
    // This is far less than the delay. It is more than 8 s, because a busy machine takes long for the other steps.
    expect((performance.now() - start) / 1000).toBeLessThan(60)
    const next = stage.run()
    await orderIn(stage, 'o1', ({ state }) => state === 'filled')
    next.child.kill('SIGINT')
    expect(await next.ended).toBe(0)
    expect(stage.requests).toHaveLength(1)
  })

  test('a second SIGINT ends the process at once with code 130, and the next start reports that the end was not orderly', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const { one, send } = await running(stage)
    stage.sandbox.faults.set({ kind: 'delay', ms: 60_000 }) // a pending answer delays an orderly stop
    await tell(send, stage, 'buy')
    await until('the request', () => stage.requests.length === 1)
    one.child.kill('SIGINT')
    await until('the first one', () => stage.books().inputs.some(({ json }) => json === STOP))
    one.child.kill('SIGINT')
    expect(await one.ended).toBe(130)
    expect(stage.books().segments).toEqual([{ number: 1, ended: null }])
    const next = stage.run()
    await until('what it says', () => /"endedInOrder":false/.test(next.stderr))
    // The journal may first record that the answer is lost, or that the transaction of the order was found on the
    // chain.
    await orderIn(
      stage,
      'o1',
      ({ state, code }) => state === 'filled' || (state === 'working' && code === 'ANSWER_LOST'),
    )
    expect(stage.requests).toHaveLength(1)
  })

  test('an API key that is refused at the start ends the process with code 3 and one line', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    stage.giveKey('standard-nobody-knows-me')
    const one = stage.run()
    expect(await one.ended).toBe(3)
    expect(one.stderr).toMatch(/^sluice: the token service refuses the API key/m)
    expect(one.stderr).not.toContain('nobody-knows-me')
  })
})

test('a process that starts after a process that never traded sends an entry at once', async ({ onTestFinished }) => {
  const stage = await openStage({}, onTestFinished)
  await (await stage.go()).stop()
  const again = await stage.go()
  expect((await tell(again.handle, stage, 'buy')).answer).toBe('o1')
  await orderIn(stage, 'o1', ({ state }) => state === 'filled' || state === 'refused')
  expect(stage.books().orders).toMatchObject([{ state: 'filled' }])
  await again.stop()
})

test('only one process can use a journal, a key or a wallet, and the message to a second process names the first', async ({
  onTestFinished,
}) => {
  const stage = await openStage({}, onTestFinished)
  const { one } = await running(stage)
  const other = { journal: { path: join(stage.folder, 'other.db') } }
  const premium = join(stage.folder, 'premium')
  writeFileSync(premium, stage.sandbox.apiKeys.premium, { mode: 0o600 })
  for (const [over, what] of [
    [{}, `the journal ${stage.journal}`],
    [other, 'the API key'],
    [{ ...other, service: { apiKey: `file:${premium}` } }, 'the wallet'],
  ] as const) {
    stage.configure(over)
    const second = stage.run()
    expect(await second.ended).toBe(4)
    expect(second.stderr).toContain(`sluice: ${what} is in use by process ${one.pid}, started `)
    expect(second.stderr).not.toMatch(/\n\s+at /)
  }
  expect(one.child.exitCode).toBe(null)
})

test('the commands halt, resume, sell and flatten, the file HALT and the signal SIGUSR2 work', async ({
  onTestFinished,
}) => {
  const stage = await openStage({}, onTestFinished)
  let { one, send } = await running(stage)
  const cli = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await called([...args, '--journal', stage.journal])
    return `${code} ${stdout}${stderr}`.trim()
  }
  const ordered = async (signal: 'buy' | 'sell'): Promise<string> => (await tell(send, stage, signal)).answer
  const bought = async (id: string): Promise<void> => {
    const answer = until('the proof of the outcome of the earlier exit', async () => {
      const said = await ordered('buy')
      return said !== 'EXIT_UNPROVED' && said
    })
    expect(await answer).toBe(id)
    await orderIn(stage, id, ({ state }) => state === 'filled')
  }
  const sold = (id: string): Promise<unknown> =>
    orderIn(stage, id, ({ side, state }) => side === 'sell' && state === 'filled')

  await bought('o1')
  expect(await cli('sell', WRONG_MINT)).toBe(`1 sluice: no bot holds ${WRONG_MINT}`)
  expect(await cli('sell', MINT)).toMatch(/^0 selling .*, bought for 0\.1\d* SOL$/)
  await sold('o2')

  expect(await cli('halt')).toMatch(/^0 entries are halted/)
  expect(await ordered('buy')).toBe('HALTED')
  one.child.kill('SIGINT')
  await one.ended
  ;({ one, send } = await running(stage))
  await until('what it says', () => /"msg":"HALTED: entries are halted/.test(one.stderr))
  expect(await cli('status')).toMatch(/^0 .*\nHALTED since before this start: /)
  expect(await ordered('buy')).toBe('HALTED')
  expect(await cli('resume')).toBe('0 entries continue')
  await bought('o3')

  expect(await cli('flatten')).toBe('0 entries are halted; selling 1 position')
  await sold('o4')
  expect(await ordered('buy')).toBe('HALTED')
  await cli('resume')

  const haltFile = join(stage.folder, 'HALT')
  writeFileSync(haltFile, '')
  await until('its effect', () => /halted by the file HALT/.test(one.stderr))
  expect(await ordered('buy')).toBe('HALTED')
  expect(await cli('resume')).toMatch(/^4 sluice: the file .*HALT exists: remove it first$/)
  rmSync(haltFile)
  expect(await cli('resume')).toBe('0 entries continue')

  one.child.kill('SIGUSR2')
  await until('its effect', () => /halted by SIGUSR2/.test(one.stderr))
  expect(await ordered('buy')).toBe('HALTED')
  await stage.settled()
  one.child.kill('SIGINT')
  expect(await one.ended).toBe(0)
  expect(await stage.complaints()).toEqual([])
  expect(stage.books().orders.map(({ side, state }) => `${side} ${state}`)).toEqual([
    'buy filled',
    'sell filled',
    'buy filled',
    'sell filled',
  ])
})
