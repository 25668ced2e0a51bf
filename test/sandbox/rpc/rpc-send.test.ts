import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Fault } from '../../../src/sandbox/faults.ts'
import { digest } from '../../../src/sandbox/keys.ts'
import { encodeBase58 } from '../../../src/solana/base58.ts'
import { type Answered, call, openRig, type Rig, rpc } from '../client.ts'

/** The wallet of the sandbox, from seed 1 and entropy `test`. */
const WALLET = Keypair.fromSeed(digest('wallet ', '1', 'test'))
const STRANGER = Keypair.fromSeed(new Uint8Array(32).fill(9)).publicKey
const CONFIRMED = { commitment: 'confirmed' }
const AMOUNT = 5_000_000

let rig: Rig
afterEach(() => rig.close())

interface Wanted {
  lamports?: number
  version?: 'legacy' | 0
  signed?: boolean
  blockhash?: string
}

/** Returns a transfer to another wallet, encoded by web3.js. */
async function transfer({ lamports = AMOUNT, version = 0, signed = true, blockhash }: Wanted = {}): Promise<{
  bytes: Buffer
  signature: string
}> {
  const latest = (await rpc(rig, 'getLatestBlockhash', CONFIRMED)).value
  const message = new TransactionMessage({
    payerKey: WALLET.publicKey,
    recentBlockhash: blockhash ?? latest.blockhash,
    instructions: [SystemProgram.transfer({ fromPubkey: WALLET.publicKey, toPubkey: STRANGER, lamports })],
  })
  const compiled = version === 0 ? message.compileToV0Message() : message.compileToLegacyMessage()
  const transaction = new VersionedTransaction(compiled)
  if (signed) transaction.sign([WALLET])
  return { bytes: Buffer.from(transaction.serialize()), signature: encodeBase58(transaction.signatures[0]!) }
}

const send = (bytes: Buffer, options: object = {}): Promise<Answered> =>
  rpc(rig, 'sendTransaction', bytes.toString('base64'), {
    encoding: 'base64',
    preflightCommitment: 'confirmed',
    ...options,
  })
const simulate = (bytes: Buffer, options: object = {}): Promise<Answered> =>
  rpc(rig, 'simulateTransaction', bytes.toString('base64'), { encoding: 'base64', ...CONFIRMED, ...options })
const received = async (): Promise<number> =>
  (await rpc(rig, 'getBalance', STRANGER.toBase58(), { commitment: 'processed' })).value

describe('sendTransaction', () => {
  test.each(['legacy', 0] as const)(
    'a transaction of version %s lands with the bytes that were sent',
    async (version) => {
      rig = await openRig()
      const { bytes, signature } = await transfer({ version })
      expect(await send(bytes)).toBe(signature)
      rig.advance(8)
      const shown = await rpc(rig, 'getTransaction', signature, {
        ...{ ...CONFIRMED, encoding: 'base64' },
        ...(version === 0 ? { maxSupportedTransactionVersion: 0 } : {}),
      })
      expect(Buffer.from(shown.transaction[0], 'base64').equals(bytes)).toBe(true)
      expect(shown).toMatchObject({ version, meta: { err: null, fee: 5_000 } })
      expect(await received()).toBe(AMOUNT)
    },
  )

  test('sendTransaction accepts base58, also without preflight', async () => {
    rig = await openRig()
    const { bytes, signature } = await transfer()
    expect(await rpc(rig, 'sendTransaction', encodeBase58(bytes), { skipPreflight: true, maxRetries: 0 })).toBe(
      signature,
    )
    rig.advance(8)
    expect(await received()).toBe(AMOUNT)
  })

  test('a transaction that is sent twice lands once, and the preflight check reports this', async () => {
    rig = await openRig()
    const { bytes, signature } = await transfer()
    await send(bytes)
    expect(await send(bytes)).toBe(signature)
    rig.advance(8)
    const again = await send(bytes)
    expect(again).toMatchObject({ code: -32002, data: { err: 'AlreadyProcessed' } })
    expect(again.message).toBe('Transaction simulation failed: This transaction has already been processed')
    expect(await send(bytes, { skipPreflight: true })).toBe(signature)
    rig.advance(8)
    expect(await received()).toBe(AMOUNT)
    expect(await rpc(rig, 'getSignaturesForAddress', rig.wallet, CONFIRMED)).toHaveLength(1)
  })

  test('a transaction that a fork reverts lands again', async () => {
    rig = await openRig()
    const { bytes, signature } = await transfer()
    await send(bytes)
    rig.advance(8)
    const second = await transfer({ lamports: 1_000_000 })
    await send(second.bytes)
    rig.advance(8)
    expect(await received()).toBe(AMOUNT + 1_000_000)
    expect(rig.ledger.fork(signature, 6)).toEqual([signature, second.signature])
    expect(await received()).toBe(0)
    expect((await rpc(rig, 'getBalance', rig.wallet, { commitment: 'processed' })).value).toBe(10_000_000_000)
    rig.advance(12)
    expect(await received()).toBe(AMOUNT + 1_000_000)
    expect((await rpc(rig, 'getSignatureStatuses', [signature])).value[0].err).toBeNull()
  })

  test('a transaction that was sent before the process ended lands in the next process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-sent-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const stateFile = join(folder, 'chain.db')
    rig = await openRig({ stateFile })
    const { bytes, signature } = await transfer()
    await send(bytes)
    await rig.close()
    rig = await openRig({ stateFile })
    rig.advance(8)
    expect(await received()).toBe(AMOUNT)
    expect(await send(bytes, { skipPreflight: true })).toBe(signature)
    rig.advance(8)
    expect(await received()).toBe(AMOUNT)
  })

  test('a transaction that has not landed after 150 blocks is unknown and can no longer land', async () => {
    rig = await openRig()
    const { bytes, signature } = await transfer()
    rig.advance(170)
    expect(await send(bytes)).toMatchObject({ code: -32002, data: { err: 'BlockhashNotFound' } })
    expect(await send(bytes, { skipPreflight: true })).toBe(signature)
    rig.advance(8)
    expect(await received()).toBe(0)
  })

  test('an unsigned transaction is refused, and never lands without preflight', async () => {
    rig = await openRig()
    const { bytes } = await transfer({ signed: false })
    expect(await send(bytes)).toMatchObject({ code: -32003, message: 'Transaction signature verification failure' })
    await send(bytes, { skipPreflight: true })
    rig.advance(8)
    expect(await received()).toBe(0)
  })

  test('sendTransaction reports a failing transaction with its logs; without preflight it lands and costs its fee', async () => {
    rig = await openRig()
    const { bytes, signature } = await transfer({ lamports: 20_000_000_000 })
    expect(await send(bytes)).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: { err: { InstructionError: [0, { Custom: 1 }] }, logs: expect.arrayContaining([expect.any(String)]) },
    })
    await send(bytes, { skipPreflight: true })
    rig.advance(8)
    const { value } = await rpc(rig, 'getSignatureStatuses', [signature])
    expect(value[0].err).toEqual({ InstructionError: [0, { Custom: 1 }] })
    expect((await rpc(rig, 'getBalance', rig.wallet, CONFIRMED)).value).toBe(10_000_000_000 - 5_000)
  })

  test.each<[what: string, params: unknown[], code: number]>([
    ['a number instead of text', [7], -32602],
    ['invalid base64', ['*', { encoding: 'base64' }], -32602],
    ['invalid base58', ['0OIl'], -32602],
    ['too many bytes', [Buffer.alloc(1_300).toString('base64'), { encoding: 'base64' }], -32602],
    ['bytes that are not a transaction', ['AQID', { encoding: 'base64' }], -32602],
    ['an unknown encoding', ['AQID', { encoding: 'hex' }], -32602],
    ['a minimum slot in the future', ['AQID', { encoding: 'base64', minContextSlot: 4e8 }], -32016],
  ])('sendTransaction refuses %s', async (_what, params, code) => {
    rig = await openRig()
    expect(await rpc(rig, 'sendTransaction', ...params)).toMatchObject({ code, message: expect.any(String) })
  })

  test('the small ledger reports that it cannot send transactions', async () => {
    rig = await openRig({ chain: 'small' })
    const { bytes } = await transfer()
    expect(await send(bytes)).toMatchObject({ code: -32601, message: expect.stringContaining('install litesvm') })
    expect(await simulate(bytes)).toMatchObject({ code: -32601 })
  })
})

describe('simulateTransaction', () => {
  test('simulateTransaction returns balances, the fee and the requested accounts, and changes nothing', async () => {
    rig = await openRig()
    const { bytes } = await transfer({ signed: false })
    const accounts = { encoding: 'base64', addresses: [rig.wallet, STRANGER.toBase58()] }
    const { context, value } = await simulate(bytes, { accounts, innerInstructions: true })
    expect(context.slot).toBe((await rpc(rig, 'getSlot', CONFIRMED)) as number)
    const left = 10_000_000_000 - AMOUNT - 5_000
    expect(value).toMatchObject({
      ...{ err: null, fee: 5_000, innerInstructions: [], replacementBlockhash: null, returnData: null },
      ...{ preBalances: [10_000_000_000, 0, 1], postBalances: [left, AMOUNT, 1], unitsConsumed: 150 },
      accounts: [{ lamports: left }, { lamports: AMOUNT, owner: SystemProgram.programId.toBase58(), space: 0 }],
    })
    expect(await received()).toBe(0)
    expect((await rpc(rig, 'getBalance', rig.wallet, CONFIRMED)).value).toBe(10_000_000_000)
  })

  test('simulateTransaction returns logs and no accounts for a transaction that fails', async () => {
    rig = await openRig()
    const { bytes } = await transfer({ lamports: 20_000_000_000 })
    const { value } = await simulate(bytes, { accounts: { encoding: 'base64', addresses: [rig.wallet] } })
    expect(value).toMatchObject({ err: { InstructionError: [0, { Custom: 1 }] }, accounts: [null] })
    expect(value.logs.at(-1)).toContain('custom program error: 0x1')
  })

  test('simulateTransaction checks the signatures and the blockhash on request', async () => {
    rig = await openRig()
    const blockhash = PublicKey.default.toBase58()
    const { bytes } = await transfer({ signed: false, blockhash })
    expect((await simulate(bytes)).value.err).toBe('BlockhashNotFound')
    expect(await simulate(bytes, { sigVerify: true })).toMatchObject({ code: -32003 })
    expect(await simulate(bytes, { sigVerify: true, replaceRecentBlockhash: true })).toMatchObject({ code: -32602 })
    const { value } = await simulate(bytes, { replaceRecentBlockhash: true })
    expect(value).toMatchObject({ err: null, replacementBlockhash: { blockhash: expect.any(String) } })
  })
})

describe('a node with faults', () => {
  const many = (fault: Omit<Fault, 'count'>): void => rig.faults.set({ ...fault, count: 1_000_000 })

  test('a transaction that is resent while nine of ten sends are dropped lands once', async () => {
    rig = await openRig()
    many({ kind: 'sendDropped', probability: 0.9 })
    const { bytes, signature } = await transfer()
    let sends = 0
    while ((await rpc(rig, 'getSignatureStatuses', [signature])).value[0] === null && sends < 100) {
      await send(bytes, { skipPreflight: true })
      sends++
      rig.advance(1)
    }
    expect(sends).toBeGreaterThan(1)
    rig.advance(8)
    expect(await received()).toBe(AMOUNT)
  })

  test('with the fault of a lagging node, the RPC returns the slot and balances of the past', async () => {
    rig = await openRig()
    await send((await transfer()).bytes)
    rig.advance(10)
    const slot = await rpc(rig, 'getSlot', { commitment: 'processed' })
    many({ kind: 'rpcLag', slots: 12 })
    expect(await rpc(rig, 'getSlot', { commitment: 'processed' })).toBeLessThanOrEqual(slot - 12)
    expect(await received()).toBe(0)
  })

  test('faults of the RPC can give an expired blockhash, another genesis hash, or a 429', async () => {
    rig = await openRig()
    rig.advance(300)
    rig.faults.set({ kind: 'staleBlockhash' })
    const { bytes } = await transfer()
    expect(await send(bytes)).toMatchObject({ code: -32002, data: { err: 'BlockhashNotFound' } })
    rig.faults.set({ kind: 'otherCluster' })
    expect(await rpc(rig, 'getGenesisHash')).toBe('5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d')
    expect(await rpc(rig, 'getGenesisHash')).toBe(rig.genesisHash)
    rig.faults.set({ kind: 'rpcError', status: 429 })
    const limited = await call(rig.rpcUrl, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"getSlot"}' })
    expect(limited).toMatchObject({ status: 429, body: { error: { code: 429 } } })
    expect(limited.headers.get('retry-after')).toBe('1')
  })
})
