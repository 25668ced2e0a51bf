import { expect, test } from 'vitest'
import type { Rpc, RpcResult } from '../../src/chain/rpc/rpc.ts'
import { Sender } from '../../src/chain/sender.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { settled } from './scripted-chain.ts'

interface Sent {
  readonly at: number
  readonly bytes: unknown
  readonly provider: number
}

/** Opens a sender. `answersMs`: for each RPC provider, the time until it answers, ms; undefined: it never answers. */
function rig(answersMs: readonly (number | undefined)[]) {
  const clock = new SimulatedClock(0)
  const sent: Sent[] = []
  const alarms: string[] = []
  const providers = answersMs.map((ms, provider): Rpc => {
    return (_method, [bytes]) => {
      sent.push({ at: clock.now(), bytes, provider })
      return new Promise<RpcResult>((resolve) => {
        if (ms !== undefined) clock.after(ms, () => resolve({ ok: true, value: 'x' }))
      })
    }
  })
  const pass = async (ms: number): Promise<void> => {
    for (let at = clock.now() + 50, end = clock.now() + ms; at <= end; at += 50) {
      clock.advanceTo(at)
      await settled()
    }
  }
  return { sent, pass, alarms, sender: new Sender({ providers, clock, alarm: (text) => alarms.push(text) }) }
}

test('a transaction is sent to every provider at once, then again to one provider after another, after 0.5, 1, 2 and 2 s', async () => {
  const { sent, pass, sender } = rig([10, 10])
  sender.send('bytes', 'x')
  await pass(8_000)
  expect(sent.map(({ at, provider }) => [at, provider])).toEqual([
    ...[
      [0, 0],
      [0, 1],
      [500, 0],
      [1_500, 1],
      [3_500, 0],
      [5_500, 1],
      [7_500, 0],
    ],
  ])
})

test('a transaction is not sent again after the caller has stopped it, or after the sender was stopped', async () => {
  const { sent, pass, sender } = rig([10])
  const stop = sender.send('one', 'x')
  sender.send('two', 'x')
  stop()
  await pass(600)
  sender.stop()
  await pass(5_000)
  expect(sent.map(({ at, bytes }) => `${at} ${bytes}`)).toEqual(['0 one', '0 two', '500 two'])
})

test('a provider that has not answered yet gets the transaction at most once more', async () => {
  const { sent, pass, sender } = rig([undefined])
  for (let order = 0; order < 20; order++) sender.send(`order ${order}`, 'x')
  await pass(10_000)
  expect(sent.filter(({ at }) => at === 0)).toHaveLength(20)
  expect(sent.filter(({ at }) => at > 0)).toHaveLength(1)
})

test('if a node answers with another signature, this is reported once, and our own signature remains valid', async () => {
  const { alarms, pass, sender } = rig([10, 10])
  sender.send('bytes', 'another')
  await pass(3_000)
  expect(alarms).toEqual(['an RPC node received transaction another but answered with the signature x'])
})
