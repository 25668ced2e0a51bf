import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../src/orders/attempt.ts'
import { signatureOf } from './landed.ts'
import { WalletRig } from './wallet-rig.ts'

const open = async (): Promise<WalletRig> => new WalletRig().ready()
const local = { executor: 'local', state: 'verified' } as const
/** The number of blocks until a transaction that was signed now can no longer land. */
const VALID = 158

/** Registers a signed attempt as the local executor does. `signature` is that of the sent transaction. */
function signAndSend(rig: WalletRig, attempt: Attempt, signature: string): void {
  const resolution = rig.send(attempt)
  resolution.signed(signature, rig.ledger.head('processed').height + VALID, 'AQ==')
  resolution.sent()
}

describe('locally signed attempts', () => {
  test('the fill of an attempt is provisional soon after its transaction lands, and final once the transaction is finalized', async () => {
    const rig = await open()
    const one = rig.buy(0.1, local)
    signAndSend(rig, one, rig.trade())
    await rig.pass(5_000)
    expect(rig.kinds(one)).toBe('signed sent filled?')
    await rig.slots(40)
    expect(rig.kinds(one)).toBe('signed sent filled? filled!')
    expect(rig.standIns).toEqual([])
  })

  test('an attempt ends as reverted, with its fee, if its transaction fails', async () => {
    const rig = await open()
    const one = rig.buy(0.1, local)
    signAndSend(rig, one, rig.trade('buy', { fails: true }))
    await rig.slots(45)
    expect(rig.kinds(one)).toBe('signed sent reverted? reverted!')
  })

  test('an attempt expires when the chain is final past its last valid block, and not one block earlier', async () => {
    const rig = await open()
    const one = rig.buy(0.1, local)
    signAndSend(rig, one, signatureOf(9))
    const bound = rig.ledger.head('processed').height + VALID
    await rig.until(() => rig.kinds(one) === 'signed sent absent', VALID + 150)
    expect(rig.ledger.head('finalized').height).toBeGreaterThan(bound)
    const watch = rig.past().watches.find(({ attempt }) => attempt.id === one.id)
    expect(watch?.attempt.state).toBe('expired')
    expect(watch?.bytes).toBeUndefined()
  })

  test('an attempt is never matched with another transaction of the same token and side', async () => {
    const rig = await open()
    const one = rig.buy(0.1, local)
    signAndSend(rig, one, signatureOf(9))
    const byHand = rig.trade()
    await rig.until(() => rig.kinds(one) === 'signed sent absent', VALID + 150)
    expect(rig.classes()[byHand]).toBe('foreign')
    expect(rig.late).toEqual([])
  })

  test('two attempts of one order end independently of each other', async () => {
    const rig = await open()
    rig.trade()
    await rig.slots(4)
    const first = rig.sell(local)
    const second = { ...rig.sell(local), id: `${first.orderId}.2`, orderId: first.orderId }
    signAndSend(rig, first, signatureOf(9))
    signAndSend(rig, second, rig.trade('sell'))
    await rig.until(() => rig.kinds(first) === 'signed sent absent', VALID + 150)
    expect(rig.kinds(second)).toBe('signed sent filled? filled!')
    expect(rig.standIns).toEqual([])
  })

  test('the fill of an attempt is final after a fork removed the transaction and it landed again', async () => {
    const rig = await open()
    const one = rig.buy(0.1, local)
    const signature = rig.trade()
    signAndSend(rig, one, signature)
    await rig.until(() => rig.kinds(one) === 'signed sent filled?', 20)
    rig.ledger.fork(signature, 20)
    await rig.slots(90)
    expect(rig.kinds(one)).toBe('signed sent filled? unknown filled? filled!')
  })

  test.each(['signed', 'sent'] as const)(
    'an attempt that was %s before a crash is found by its signature in the next process',
    async (state) => {
      const rig = await open()
      const one = rig.buy(0.1, local)
      const signature = rig.trade('buy', {}, 6)
      signAndSend(rig, one, signature)
      await rig.crash({ ...one, state, signature })
      expect(rig.wallet.resolver.signedBytes(one.id)).toBe('AQ==')
      await rig.slots(45)
      expect(rig.kinds(one)).toBe('signed sent filled? filled!')
      expect(rig.foreign).toEqual([])
    },
  )

  test('after a crash, an attempt keeps the last valid block that the journal recorded', async () => {
    const rig = await open()
    const one = rig.buy(0.1, local)
    signAndSend(rig, one, signatureOf(9))
    const bound = rig.ledger.head('processed').height + VALID
    await rig.slots(100)
    await rig.crash({ ...one, state: 'sent', signature: signatureOf(9) })
    await rig.until(() => rig.kinds(one) === 'signed sent absent', 200)
    expect(rig.ledger.head('finalized').height).toBeGreaterThan(bound)
    expect(rig.ledger.head('finalized').height).toBeLessThan(bound + 60)
  })
})
