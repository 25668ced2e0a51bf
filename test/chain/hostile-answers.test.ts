import { describe, expect, test } from 'vitest'
import { LocalRig } from './local-rig.ts'

// Absurd numbers and data in the answers of a node may end an order, but must never end the process.

const MOST_U64 = 2n ** 64n - 1n
/** A value that cannot be converted to a string. */
const NO_TEXT = { toString: 1, valueOf: 1 }

describe('a hostile builder', () => {
  test.each(['buy', 'sell'] as const)(
    'a built %s with an amount above every possible supply is refused',
    async (side) => {
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
    },
  )
})

describe('a hostile node', () => {
  const answers: [what: string, value: object][] = [
    [
      'a simulation result with a program index that is not a number',
      { innerInstructions: [{ instructions: [{ programIdIndex: NO_TEXT }] }] },
    ],
    ['a simulation error that cannot be printed', { err: NO_TEXT }],
    ['a simulation result with invalid accounts', { accounts: NO_TEXT }],
    ['a simulation result with an invalid inner instruction', { innerInstructions: [NO_TEXT] }],
  ]
  test.each(answers)('a transaction is not signed if the node answers with %s', async (_what, changed) => {
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

  test('an order lands even if the answer to its send cannot be printed', async () => {
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
