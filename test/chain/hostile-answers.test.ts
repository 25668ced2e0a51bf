import { describe, expect, test } from 'vitest'
import { LocalRig } from './local-rig.ts'

// Numbers and shapes that nobody means: they may cost the order, and never the process.

const MOST_U64 = 2n ** 64n - 1n
/** Where JSON is made into a text, there is none. */
const NO_TEXT = { toString: 1, valueOf: 1 }

describe('the builder', () => {
  test.each(['buy', 'sell'] as const)('asks for more than there can be: a %s is refused', async (side) => {
    const rig = await LocalRig.open()
    rig.execute(rig.buy())
    await rig.slots(40)
    rig.steps.length = 0
    const most = (at: number) => (attempt: Parameters<LocalRig['built']>[0]) =>
      rig.built(attempt, {
        calls: (calls) =>
          calls.map((call, index) => {
            if (index < calls.length - 1) return call
            const data = Buffer.from(call.data)
            data.writeBigUInt64LE(MOST_U64, at)
            return { ...call, data }
          }),
      })
    rig.build = async (attempt) => most(16)(attempt)
    const one = side === 'buy' ? rig.buy() : rig.sell()
    rig.execute(one)
    await rig.slots(2)
    expect(rig.kinds(one)).toBe('refused')
    expect(rig.steps).toEqual([])
  })
})

describe('a node', () => {
  const answers: [what: string, value: object][] = [
    ['a program without a number', { innerInstructions: [{ instructions: [{ programIdIndex: NO_TEXT }] }] }],
    ['an error without a text', { err: NO_TEXT }],
    ['accounts that are none', { accounts: NO_TEXT }],
    ['an end that is none', { innerInstructions: [NO_TEXT] }],
  ]
  test.each(answers)('simulates with %s: nothing is signed', async (_what, changed) => {
    const rig = await LocalRig.open()
    rig.fault = (method, _params, honest) => {
      const answer = honest() as { context: object; value: Record<string, unknown> }
      if (method !== 'simulateTransaction') return answer
      return { ...answer, value: { ...answer.value, ...changed } }
    }
    const one = rig.buy()
    rig.execute(one)
    await rig.slots(2)
    expect(rig.kinds(one)).toBe('refused')
    expect(rig.steps).toEqual([])
  })

  test('answers a send with what has no text: it lands all the same', async () => {
    const rig = await LocalRig.open()
    rig.fault = (method, _params, honest) => {
      const answer = honest()
      return method === 'sendTransaction' ? NO_TEXT : answer
    }
    const one = rig.buy()
    rig.execute(one)
    await rig.slots(45)
    expect(rig.kinds(one)).toBe('verified signed sent filled? filled!')
    expect(rig.alarms).toHaveLength(1)
  })
})
