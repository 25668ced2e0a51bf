import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Answered, openRig, post, type Rig, rpc } from '../client.ts'
import { MINT } from '../still-market.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-open-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function trade(rig: Rig, side: 'buy' | 'sell', terms: object): Promise<Answered> {
  const { signature } = (await post(rig, `/trade/${side}`, { publicKey: rig.wallet, mint: MINT, ...terms })).body
  rig.advance(12)
  return rpc(rig, 'getTransaction', signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 })
}

test('a chain that began on the small ledger continues on the Solana runtime, and never returns to the small ledger', async () => {
  const stateFile = join(folder, 'grown.db')
  const small = await openRig({ stateFile, chain: 'small' })
  expect(small.chain).toBe('small')
  expect((await trade(small, 'buy', { amount: 0.5 })).meta.err).toBeNull()
  const balance = await rpc(small, 'getBalance', small.wallet, { commitment: 'confirmed' })
  await small.close()

  const runtime = await openRig({ stateFile })
  expect([runtime.chain, runtime.wallet, runtime.genesisHash]).toEqual(['runtime', small.wallet, small.genesisHash])
  runtime.advance(8) // the rig's clock starts over
  expect((await rpc(runtime, 'getBalance', runtime.wallet, { commitment: 'confirmed' })).value).toBe(balance.value)
  expect(await rpc(runtime, 'getSignaturesForAddress', runtime.wallet, { commitment: 'confirmed' })).toHaveLength(1)
  const sold = await trade(runtime, 'sell', { amount: '100%', sellAll: true })
  expect(sold.meta.err).toBeNull()
  expect(sold.meta.innerInstructions).not.toEqual([])
  await runtime.close()

  await expect(openRig({ stateFile, chain: 'small' })).rejects.toThrow(/install litesvm/)
})

test.each(['token', 'token2022', 'both'] as const)(
  'tokens of %s are bought and sold across a restart',
  async (tokenProgram) => {
    const stateFile = join(folder, `${tokenProgram}.db`)
    const first = await openRig({ stateFile, dialect: { tokenProgram } })
    const bought = await trade(first, 'buy', { amount: 0.5 })
    expect(bought.meta.err).toBeNull()
    await first.close()
    const second = await openRig({ stateFile })
    const sold = await trade(second, 'sell', { amount: '100%', sellAll: true })
    expect(sold.meta.err).toBeNull()
    const programs = [bought, sold].map(({ meta }) => meta.postTokenBalances[0].programId)
    expect(programs[0]).toBe(programs[1])
    await second.close()
  },
)
