import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { namedAddress, tokenAccountAddress } from '../../../src/sandbox/keys.ts'
import { isPublicKey } from '../../../src/solana/base58.ts'
import { CLOCK_SYSVAR, PROGRAMS } from '../../../src/solana/programs.ts'
import { type Answered, call, openRig, post, type Rig, rpc } from '../client.ts'
import { MINT } from '../still-market.ts'

const CONFIRMED = { commitment: 'confirmed' }

describe('RPC', () => {
  let rig: Rig
  let signature: string
  beforeAll(async () => {
    rig = await openRig()
    signature = (await post(rig, '/trade/buy', { publicKey: rig.wallet, mint: MINT, amount: 0.5 })).body.signature
    rig.advance(12)
  })
  afterAll(() => rig.close())

  test.each<[method: string, params: unknown[], expected: unknown]>([
    ['getHealth', [], 'ok'],
    ['getVersion', [], expect.objectContaining({ 'solana-core': expect.any(String) })],
    ['getIdentity', [], { identity: expect.any(String) }],
    ['getSlot', [], expect.any(Number)],
    ['getSlot', [CONFIRMED], expect.any(Number)],
    ['getBlockHeight', [CONFIRMED], expect.any(Number)],
    ['getFirstAvailableBlock', [], 300_000_000],
    ['getTransactionCount', [], 1],
    ['getMinimumBalanceForRentExemption', [165], 2_039_280],
    ['getMinimumBalanceForRentExemption', [-1], expect.objectContaining({ code: -32602 })],
    [
      'getEpochInfo',
      [CONFIRMED],
      expect.objectContaining({
        absoluteSlot: expect.any(Number),
        blockHeight: expect.any(Number),
        slotsInEpoch: 432_000,
      }),
    ],
    ['getRecentPerformanceSamples', [1], [expect.objectContaining({ numSlots: 150, samplePeriodSecs: 60 })]],
    [
      'getLatestBlockhash',
      [CONFIRMED],
      {
        context: expect.anything(),
        value: { blockhash: expect.any(String), lastValidBlockHeight: expect.any(Number) },
      },
    ],
    ['getBalance', [namedAddress('nobody')], { context: expect.anything(), value: 0 }],
    ['getBalance', ['nonsense'], expect.objectContaining({ code: -32602 })],
    ['getAccountInfo', [namedAddress('nobody')], { context: expect.anything(), value: null }],
    ['getSlot', [{ commitment: 'someday' }], expect.objectContaining({ code: -32602 })],
    [
      'getSlot',
      [{ commitment: 'confirmed', minContextSlot: 999_999_999 }],
      expect.objectContaining({ code: -32016, data: { contextSlot: expect.any(Number) } }),
    ],
    [
      'getBalance',
      [namedAddress('nobody'), { minContextSlot: 999_999_999 }],
      expect.objectContaining({ code: -32016 }),
    ],
    [
      'getSignaturesForAddress',
      [namedAddress('nobody'), { commitment: 'confirmed', minContextSlot: 999_999_999 }],
      expect.objectContaining({ code: -32016 }),
    ],
    [
      'getSignaturesForAddress',
      [namedAddress('nobody'), { commitment: 'processed' }],
      expect.objectContaining({ code: -32602 }),
    ],
    ['getSignaturesForAddress', [namedAddress('nobody'), CONFIRMED], []],
    ['getTokenAccountBalance', [namedAddress('nobody')], expect.objectContaining({ code: -32602 })],
    ['getTokenAccountsByOwner', [namedAddress('nobody'), {}], expect.objectContaining({ code: -32602 })],
    ['getBlockTime', [1], expect.objectContaining({ code: -32007 })],
    ['requestAirdrop', [], { code: -32601, message: 'Method not found' }],
    ['toString', [], expect.objectContaining({ code: -32601 })],
  ])('the RPC method %s with %j has its documented result', async (method, params, expected) => {
    expect(await rpc(rig, method, ...params)).toEqual(expected)
  })

  test('getTransaction shows a landed buy in every encoding', async () => {
    const shown = (encoding: string): Promise<Answered> =>
      rpc(rig, 'getTransaction', signature, { ...CONFIRMED, encoding, maxSupportedTransactionVersion: 1 })
    const parsed = await shown('jsonParsed')
    expect(parsed).toMatchObject({ version: 0, blockTime: expect.any(Number), slot: expect.any(Number) })
    expect(parsed.transaction.signatures).toEqual([signature])
    const { meta } = parsed
    const keys = parsed.transaction.message.accountKeys
    expect(keys.map(({ pubkey }: Answered) => pubkey).every(isPublicKey)).toBe(true)
    expect([meta.preBalances.length, meta.postBalances.length]).toEqual([keys.length, keys.length])
    expect([...meta.preBalances, ...meta.postBalances, meta.fee].every(Number.isSafeInteger)).toBe(true)
    expect(meta.preTokenBalances.some(({ owner }: Answered) => owner === rig.wallet)).toBe(false)
    const after = meta.postTokenBalances.find(({ owner }: Answered) => owner === rig.wallet)
    expect(after).toMatchObject({ mint: MINT, uiTokenAmount: { amount: expect.stringMatching(/^\d+$/), decimals: 6 } })
    expect(keys[after.accountIndex].pubkey).toBe(tokenAccountAddress(rig.wallet, MINT))

    const plain = await shown('json')
    const { accountKeys, instructions, header } = plain.transaction.message
    const loaded = plain.meta.loadedAddresses
    expect([...accountKeys, ...loaded.writable, ...loaded.readonly]).toEqual(keys.map(({ pubkey }: Answered) => pubkey))
    expect(loaded.readonly).toContain(PROGRAMS.token)
    expect(meta.innerInstructions).not.toEqual([])
    expect(header.numRequiredSignatures).toBe(1)
    expect(instructions.every((instruction: Answered) => instruction.programIdIndex < accountKeys.length)).toBe(true)

    const { VersionedTransaction } = await import('@solana/web3.js')
    const bytes = Buffer.from((await shown('base64')).transaction[0], 'base64')
    const { message } = VersionedTransaction.deserialize(bytes)
    expect(message.staticAccountKeys.map(String)).toEqual(accountKeys)
    expect(message.recentBlockhash).toBe(plain.transaction.message.recentBlockhash)
    expect(message.compiledInstructions.map(({ programIdIndex }) => programIdIndex)).toEqual(
      instructions.map((instruction: Answered) => instruction.programIdIndex),
    )
  })

  test('getTransaction refuses the parameters that a real node refuses', async () => {
    expect(await rpc(rig, 'getTransaction', signature, CONFIRMED)).toMatchObject({ code: -32015 })
    expect(
      await rpc(rig, 'getTransaction', signature, { commitment: 'processed', maxSupportedTransactionVersion: 0 }),
    ).toMatchObject({ code: -32602 })
    expect(
      await rpc(rig, 'getTransaction', signature, { commitment: 'finalized', maxSupportedTransactionVersion: 0 }),
    ).toBeNull()
    expect(await rpc(rig, 'getTransaction', 'x')).toMatchObject({ code: -32602 })
  })

  test('the status of a transaction goes from unknown to finalized, and from the cache to the history', async () => {
    const own = await openRig()
    const sent = (await post(own, '/trade/buy', { publicKey: own.wallet, mint: MINT, amount: 0.1 })).body.signature
    const status = async (history = false): Promise<Answered> =>
      (await rpc(own, 'getSignatureStatuses', [sent], { searchTransactionHistory: history })).value[0]
    const seen: unknown[] = ['nothing yet']
    for (let slot = 0; slot < 50; slot++) {
      const now = (await status())?.confirmationStatus ?? 'nothing yet'
      if (seen.at(-1) !== now) seen.push(now)
      own.advance(1)
    }
    expect(seen).toEqual(['nothing yet', 'processed', 'confirmed', 'finalized'])
    expect(await status()).toMatchObject({ confirmations: null, err: null, status: { Ok: null } })
    own.advance(300)
    expect(await status()).toBeNull()
    expect(await status(true)).toMatchObject({ confirmationStatus: 'finalized' })
    await own.close()
  })

  test('getAccountInfo returns the wallet, its token account and the mint', async () => {
    const info = async (key: string, encoding: string): Promise<Answered> =>
      (await rpc(rig, 'getAccountInfo', key, { ...CONFIRMED, encoding })).value
    expect(await info(rig.wallet, 'base64')).toMatchObject({
      owner: '11111111111111111111111111111111',
      space: 0,
      data: ['', 'base64'],
    })
    const mint = await info(MINT, 'jsonParsed')
    expect(mint.data.parsed).toMatchObject({
      type: 'mint',
      info: { decimals: 6, freezeAuthority: null, supply: '1000000000000000' },
    })
    const address = tokenAccountAddress(rig.wallet, MINT)
    const raw = await info(address, 'base64')
    expect(Buffer.from(raw.data[0], 'base64')).toHaveLength(165)
    expect(raw.lamports).toBe(2_039_280)
    const [only] = (
      await rpc(
        rig,
        'getTokenAccountsByOwner',
        rig.wallet,
        { programId: raw.owner },
        { ...CONFIRMED, encoding: 'jsonParsed' },
      )
    ).value
    expect(only.pubkey).toBe(address)
    const balance = (await rpc(rig, 'getTokenAccountBalance', address, CONFIRMED)).value
    expect(balance).toEqual(only.account.data.parsed.info.tokenAmount)
    expect((await rpc(rig, 'getMultipleAccounts', [MINT, namedAddress('nobody')], CONFIRMED)).value).toEqual([
      expect.anything(),
      null,
    ])
    const rows = await rpc(rig, 'getSignaturesForAddress', rig.wallet, CONFIRMED)
    expect(rows).toEqual([
      expect.objectContaining({ signature, err: null, memo: null, confirmationStatus: 'confirmed' }),
    ])
    const { blockhash } = (await rpc(rig, 'getLatestBlockhash', CONFIRMED)).value
    expect((await rpc(rig, 'isBlockhashValid', blockhash, CONFIRMED)).value).toBe(true)
    expect(await rpc(rig, 'getBlockTime', rows[0].slot)).toBe(rows[0].blockTime)
    expect(await rpc(rig, 'getGenesisHash')).toBe(rig.genesisHash)
  })

  test('faults of the RPC can make block times missing or old', async () => {
    const slot = (await rpc(rig, 'getSlot', CONFIRMED)) - 3
    const time = await rpc(rig, 'getBlockTime', slot)
    rig.faults.set({ kind: 'noBlockTime', slots: 2 })
    expect(await rpc(rig, 'getBlockTime', slot)).toBe(time)
    rig.faults.set({ kind: 'noBlockTime', slots: 100, count: 2 })
    expect(await rpc(rig, 'getBlockTime', slot)).toMatchObject({ code: -32004 })
    expect((await rpc(rig, 'getMultipleAccounts', [CLOCK_SYSVAR], CONFIRMED)).value).toEqual([expect.anything()])
    rig.faults.set({ kind: 'noBlockTime', count: 2 })
    expect(await rpc(rig, 'getBlockTime', slot)).toMatchObject({ code: -32004 })
    expect((await rpc(rig, 'getMultipleAccounts', [CLOCK_SYSVAR], CONFIRMED)).value).toEqual([null])
    rig.faults.set({ kind: 'oldBlockTime' })
    expect(await rpc(rig, 'getBlockTime', slot)).toBe(time - 15)
  })

  test('the RPC answers batches, and gives errors for invalid calls', async () => {
    const send = async (body: string): Promise<Answered> => (await call(rig.rpcUrl, { method: 'POST', body })).body
    const answers = await send(
      '[{"jsonrpc":"2.0","id":"a","method":"getHealth"},{"jsonrpc":"2.0","id":2,"method":"nothing"},7]',
    )
    expect(answers).toMatchObject([
      { id: 'a', result: 'ok' },
      { id: 2, error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
    ])
    expect(await send('{')).toMatchObject({ error: { code: -32700 } })
    expect(await send('[]')).toMatchObject({ error: { code: -32600 } })
    expect((await call(rig.rpcUrl)).status).toBe(405)
  })
})
