import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { decodeLongBase58, encodeBase58 } from '../../../../src/solana/base58.ts'
import { decodeTransaction } from '../../../../src/solana/transaction.ts'
import { readBuiltReply } from '../../../../src/venues/token-service/wire/built-reply.ts'

const check = (bytes: Uint8Array) => {
  const decoded = decodeTransaction(bytes)
  return decoded.ok ? undefined : decoded
}

function transaction(lamports: number): Uint8Array {
  const payer = Keypair.fromSeed(new Uint8Array(32).fill(7)).publicKey
  const pays = SystemProgram.transfer({ fromPubkey: payer, toPubkey: payer, lamports })
  const blockhash = payer.toBase58()
  const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions: [pays] })
  return new VersionedTransaction(message.compileToV0Message()).serialize()
}

const bytes = transaction(1)
const other = transaction(2)
const base64 = Buffer.from(bytes).toString('base64')
const base64url = Buffer.from(bytes).toString('base64url')
const base58 = encodeBase58(bytes)
const read = (body: unknown) => {
  return readBuiltReply(
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    check,
  )
}

describe('the reader accepts', () => {
  test.each<[string, unknown, number | undefined]>([
    ['raw bytes', bytes, undefined],
    ['base64', base64, undefined],
    ['base64 and a line end', `${base64}\n`, undefined],
    ['base64 without padding', base64.replace(/=+$/, ''), undefined],
    ['base64 in the URL alphabet', base64url, undefined],
    ['base58', base58, undefined],
    ['a JSON text', JSON.stringify(base64), undefined],
    ['a field transaction', { transaction: base64 }, undefined],
    ['a block height', { transaction: base64, lastValidBlockHeight: 300_123_456 }, 300_123_456],
    ['a block height as text', { tx: base58, last_valid_block_height: '300123456' }, 300_123_456],
    [
      'two block heights that differ',
      { tx: base58, lastValidBlockHeight: 5, a: { lastValidBlockHeight: 6 } },
      undefined,
    ],
    ['an invalid block height', { tx: base58, lastValidBlockHeight: -5 }, undefined],
    ['an unknown field name', { swapTransaction: base64 }, undefined],
    [
      'a nested object',
      { success: true, data: { result: { serializedTransaction: base64 }, lastValidBlockHeight: 7 } },
      7,
    ],
    ['a list of one transaction', { transactions: [base64] }, undefined],
    ['the same transaction twice', { transaction: base64, transactionBase58: base58 }, undefined],
    ['a list of bytes', { transaction: [...bytes] }, undefined],
    ["JSON of Node's Buffer", { transaction: Buffer.from(bytes) }, undefined],
    ['JSON of a Uint8Array', { transaction: bytes }, undefined],
    ['other texts', { id: 'x'.repeat(300), signature: encodeBase58(bytes.subarray(0, 64)), tx: base64 }, undefined],
  ])('the reader of built transactions accepts %s', (_what, body, lastValidBlockHeight) => {
    const reply = read(body)
    expect(reply).toMatchObject({ ok: true, lastValidBlockHeight })
    expect(reply.ok && Buffer.compare(reply.bytes, bytes)).toBe(0)
  })
})

describe('the reader rejects', () => {
  test.each<[string, unknown, string]>([
    ['an empty body', '', 'REPLY_UNREADABLE'],
    ['an error', { error: 'SLIPPAGE_EXCEEDED' }, 'REPLY_UNREADABLE'],
    ['two transactions', { transactions: [base64, Buffer.from(other).toString('base64')] }, 'REPLY_UNREADABLE'],
    [
      'bytes after the end of a transaction in base64',
      Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64'),
      'TX_MALFORMED',
    ],
    ['bytes after the end of a raw transaction', Buffer.concat([bytes, Buffer.from([255])]), 'TX_MALFORMED'],
    [
      'a transaction with missing bytes',
      { transaction: Buffer.from(bytes.subarray(0, -1)).toString('base64') },
      'TX_MALFORMED',
    ],
    [
      'a transaction of version 1 in base64',
      { transaction: Buffer.from([129, ...bytes.subarray(1)]).toString('base64') },
      'TX_VERSION',
    ],
    ['a raw transaction of version 1', Uint8Array.from([129, ...bytes.subarray(1)]), 'TX_VERSION'],
    ['base64 with an invalid character', `${base64.slice(0, 40)}!${base64.slice(41)}`, 'REPLY_UNREADABLE'],
  ])('the reader of built transactions rejects %s', (_what, body, code) => {
    expect(read(body)).toMatchObject({ ok: false, code })
  })
})

test('JSON without an end from a builder is read up to a limit', () => {
  expect(read(`${'['.repeat(5_000)}"${base64}"${']'.repeat(5_000)}`)).toMatchObject({ ok: false })
})

test('base58 from a builder is decoded up to a limit, because decoding a megabyte would take many seconds', () => {
  const texts = Array.from({ length: 180 }, () => 'z'.repeat(5_500))
  expect(read([base58, ...texts])).toMatchObject({ ok: true })
  expect(read([...texts, base58])).toMatchObject({ ok: false })
  expect(read([...texts, base64])).toMatchObject({ ok: true })
})

test('a long base58 text from a builder is decoded correctly', () => {
  for (const length of [0, 1, 32, 64, 200, 1_232]) {
    const sample = Uint8Array.from({ length }, (_none, index) => (index < 3 ? 0 : (index * 37) % 256))
    expect(decodeLongBase58(encodeBase58(sample), 1_232)).toEqual(sample)
  }
  expect(decodeLongBase58('0OIl', 100)).toBeUndefined()
  expect(decodeLongBase58(encodeBase58(new Uint8Array(40).fill(9)), 39)).toBeUndefined()
})
