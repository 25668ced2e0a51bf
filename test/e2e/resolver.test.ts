import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/machine.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { TRADE_PROGRAM, type TradeData } from '../../src/sandbox/chain/trade-program.ts'
import { systemClock } from '../../src/sandbox/sandbox.ts'
import { MINT } from '../sandbox/still-market.ts'
import { called } from './called.ts'
import { openStage, orderIn, type Stage, tell } from './stage.ts'
import { until } from './until.ts'

/** The real chain has a Solana slot every 400 ms. */
const REAL = { slotMs: 400 } as const
const isFilled = ({ state }: { state: string }): boolean => state === 'filled'

describe.concurrent('lost orders at real slot times', () => {
  test('if an order executed and its answer was lost, the fill is found on the chain, without the feed', async ({
    onTestFinished,
  }) => {
    const stage = await openStage(REAL, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set({ kind: 'dropAfter', target: '/trade/buy' })
    // Simulates that later messages of the feed do not arrive.
    stage.sandbox.faults.set({ kind: 'silence', ms: 3_600_000 })
    await tell(running.handle, stage, 'buy')
    await orderIn(stage, 'o1', isFilled)
    const { fills } = await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
    expect(stage.tape()).not.toContain(fills[0]?.signature)
  })
})

describe.concurrent('proof', () => {
  test.for([
    ['an RPC that gives no block time', { kind: 'noBlockTime' }],
    ['an RPC that gives no block time for its newest 20 slots', { kind: 'noBlockTime', slots: 20 }],
    ['an RPC that gives block times that are 15 s too old', { kind: 'oldBlockTime' }],
  ] as const)('%s still proves that a lost order can no longer execute', async ([, fault], { onTestFinished }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set({ ...fault, count: 1e9 })
    stage.sandbox.faults.set({ kind: 'notLanded' })
    await tell(running.handle, stage, 'buy')
    await until('its end', () => stage.books().orders[0]?.state === 'not_executed')
    await running.stop()
    expect(await stage.complaints()).toEqual([])
  })

  test('an order that the network lost is proved dead by block heights, and its token can be bought again', async ({
    onTestFinished,
  }) => {
    // While `stoodAt` is set, the clock of the sandbox stands still. No block is made, so the order stays undecided.
    let stoodAt: number | undefined
    const clock: Clock = { now: () => stoodAt ?? systemClock.now(), after: systemClock.after }
    const stage = await openStage({ clock }, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set({ kind: 'notLanded' })
    stoodAt = clock.now()
    await tell(running.handle, stage, 'buy')
    await until('the progress', () =>
      /^acknowledged; .* after \d+ blocks, \d+ have passed$/.test(reasonOf(stage.journal, 'o1')),
    )
    expect((await tell(running.handle, stage, 'buy')).answer).toBe('LANE_BUSY')
    // The command shows what the order waits for, and why there was no second order.
    const waiting = await why(stage, 'o1')
    expect(waiting.steps.at(-1)).toMatchObject({
      what: 'waits',
      text: expect.stringMatching(
        /^o1\.1 has a signature and waits .*; progress: acknowledged; .* after \d+ blocks, \d+ have passed$/,
      ),
    })
    const { bots } = await why(stage, MINT, '--at', String(Date.now()))
    const lines = expect.arrayContaining(['no decision: a buy was already in progress'])
    expect(bots).toMatchObject([{ bot: 'puppet', verdict: 'held', lines }])
    stoodAt = undefined
    await until('its end', () => stage.books().orders[0]?.state === 'not_executed')
    stage.prints(3)
    await tell(running.handle, stage, 'buy')
    await orderIn(stage, 'o2', isFilled)
    await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
  })

  test('if the process that sent an order dies, the next process finds the fill', async ({ onTestFinished }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set({ kind: 'dropAfter', target: '/trade/buy' })
    await tell(running.handle, stage, 'buy')
    await until('the order to be executed', () => stage.sandbox.ledger.transactionCount === 1)
    await running.stop()
    const again = await stage.go()
    await orderIn(stage, 'o1', isFilled)
    await stage.settled()
    await again.stop()
    expect(await stage.complaints()).toEqual([])
  })
})

describe.concurrent('a wallet that another program also uses', () => {
  test('after a foreign transaction, entries stop until it is accepted, and a token that it brought can be adopted', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const before = await stage.go()
    await before.stop()
    const { ledger, wallet } = stage.sandbox
    const data: TradeData = {
      ...{ side: 'buy', wallet, mint: MINT, exact: 'in', lamports: 5e8, tokens: 0n, serviceFeeBps: 0 },
      ...{ slippagePercent: 10, priorityFeeSol: 0, opens: true, closes: false, fails: false },
    }
    const instruction = { program: TRADE_PROGRAM, data }
    const signature = ledger.submit({ payer: wallet, instruction, priorityFeeLamports: 0 })
    const { slot } = ledger.head('processed')
    await until('the block of the foreign transaction to be final', () => ledger.head('finalized').slot > slot)
    const running = await stage.go() // which reads the wallet at once
    await until('the foreign one', () => stage.books().inputs.some(({ kind }) => kind === 'foreign'))
    expect((await tell(running.handle, stage, 'buy')).answer).toBe('FOREIGN_TX')
    expect(await running.handle({ command: 'adopt', mint: MINT, bot: 'puppet' })).toMatchObject({
      text: expect.stringMatching(/^puppet now holds [\d.]+ of /),
    })
    const held = await until('the position', () => stage.books().positions[0])
    expect(held).toMatchObject({ bot: 'puppet', mint: MINT, state: 'open' })
    const twice = async () => running.handle({ command: 'adopt', mint: MINT, bot: 'puppet' })
    await expect(twice).rejects.toThrow('puppet already has a position in this mint')
    await tell(running.handle, stage, 'sell')
    await orderIn(stage, 'o1', isFilled)
    await running.handle({ command: 'accept', signature })
    await stage.settled()
    stage.prints(1)
    await until(
      'the outcome of the exit to be proved',
      async () => (await tell(running.handle, stage, 'buy')).answer === 'o2',
    )
    await orderIn(stage, 'o2', isFilled)
    await running.stop()
  })

  test('`resolve` shows the evidence about an order, and a user may end only a held order', async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const running = await stage.go()
    stage.sandbox.faults.set({ kind: 'dropBefore', target: '/trade/buy' })
    await tell(running.handle, stage, 'buy')
    await orderIn(stage, 'o1', ({ code }) => code === 'ANSWER_LOST')
    const shown = (await running.handle({ command: 'resolve', order: 'o1', verdict: 'show' })) as { text: string }
    expect(shown.text).toContain(`order o1: buy 0.1 SOL of ${MINT}`)
    expect(shown.text).toContain('its outcome is being proved')
    await expect(async () =>
      running.handle({ command: 'resolve', order: 'o1', verdict: 'not-executed' }),
    ).rejects.toThrow(/o1 is not held/)
    await expect(async () => running.handle({ command: 'resolve', order: 'o9', verdict: 'show' })).rejects.toThrow(
      /o9 needs no decision/,
    )
    await running.stop()
  })
})

interface Answer {
  readonly steps: readonly { readonly what: string; readonly text: string }[]
  readonly bots: readonly unknown[]
}

/** Returns the output of `sluice why`, run in a separate process. */
async function why({ journal }: Stage, ...args: readonly string[]): Promise<Answer> {
  const { code, stdout, stderr } = await called(['why', ...args, '--journal', journal, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Answer
}

function reasonOf(path: string, id: string): string {
  const reader = openReader(path)
  try {
    return reader.orders().find((order) => order.id === id)?.reason ?? ''
  } finally {
    reader.close()
  }
}
