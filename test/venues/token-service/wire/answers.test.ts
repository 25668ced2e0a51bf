import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAnswer } from '../../../../src/venues/token-service/wire/answers.ts'
import { keyOf, signatureOf } from './samples.ts'

const S = signatureOf(3)
const T = signatureOf(4)

test.each<[string, unknown, string]>([
  ['found in the field signature', { signature: S }, S],
  ['found in the field txSignature', { txSignature: S }, S],
  ['found in the field transactionSignature', { transactionSignature: S }, S],
  ['found in the field txid', { txid: S }, S],
  ['found in the field tx_hash', { tx_hash: S }, S],
  ['found in the field hash', { hash: S }, S],
  ['found in the field transaction', { transaction: S }, S],
  ['found in the field result', { jsonrpc: '2.0', result: S }, S],
  ['found in a nested field', { success: true, data: { transaction: { signature: S } } }, S],
  ['found in a list', { signatures: [S] }, S],
  ['found twice in the answer', { signature: S, data: { txid: S } }, S],
  ['found in an unknown field', { ok: true, landedAs: S }, S],
  ['found in a link', { explorer: `https://solscan.io/tx/${S}?cluster=mainnet` }, S],
  ['found as the whole body', S, S],
  ['found in a known field, with another signature in an unknown field', { signature: S, previous: T }, S],
  ['not unique if two known fields contain different signatures', { signature: S, txid: T }, ''],
  ['not unique if two unknown fields contain different signatures', { a: S, b: T }, ''],
  ['not found in a key of 32 bytes', { signature: keyOf(1) }, ''],
  ['not found in the base64 of a transaction', { transaction: `${'A'.repeat(80)}==` }, ''],
  ['not found as a part of a longer text', { blob: `${S}${S}` }, ''],
  ['not found in a number', { signature: 5 }, ''],
  ['not found in an empty answer', {}, ''],
])('the signature in an answer is %s', (_name, body, expected) => {
  expect(readAnswer(JSON.stringify(body)).signature).toBe(expected)
  if (typeof body === 'string') expect(readAnswer(body)).toMatchObject({ signature: expected, isJson: false })
})

test.each<[unknown, string]>([
  [{ code: 'INVALID_MINT' }, 'INVALID_MINT'],
  [{ error: 'SLIPPAGE_EXCEEDED' }, 'SLIPPAGE_EXCEEDED'],
  [{ errorCode: 'RATE_LIMIT', message: 'slow down' }, 'RATE_LIMIT'],
  [{ error: { code: 'INSUFFICIENT_BALANCE', message: 'm' } }, 'INSUFFICIENT_BALANCE'],
  [{ errors: [{ code: 'INVALID_MINT' }] }, 'INVALID_MINT'],
  [{ errors: { INVALID_MINT: ['no such token'] } }, 'INVALID_MINT'],
  [{ message: 'SLIPPAGE_EXCEEDED: the price moved' }, 'SLIPPAGE_EXCEEDED'],
  [{ error: 'slippage-exceeded' }, 'SLIPPAGE_EXCEEDED'],
  [{ error: 'slippageExceeded' }, 'SLIPPAGE_EXCEEDED'],
  [{ error: 'Rate limit' }, 'RATE_LIMIT'],
  [{ code: 'INVALID_MINT', error: 'INVALID_MINT' }, 'INVALID_MINT'],
  [{ code: 'INVALID_MINT', error: 'RATE_LIMIT' }, ''],
  [{ code: 'RATE_LIMIT_EXCEEDED' }, ''],
  [{ message: 'this is not about the rate limit at all' }, ''],
  [{ code: 'SOMETHING_ELSE' }, ''],
  [{ code: 400 }, ''],
  ['INVALID_MINT', 'INVALID_MINT'],
])('the error code in the answer %j is read as "%s"', (body, expected) => {
  expect(readAnswer(JSON.stringify(body)).code).toBe(expected)
})

test('the message of an answer of the service is kept and cut to a maximum length', () => {
  expect(readAnswer('{"error":{"code":"X","message":"no luck"}}').message).toBe('no luck')
  expect(readAnswer(JSON.stringify({ message: 'x'.repeat(9_000) })).message).toHaveLength(200)
})

test('any body of an answer is read without an exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), (body) => {
      const { signature, code } = readAnswer(body)
      expect([signature, code]).toEqual(['', ''])
    }),
  )
  expect(readAnswer('['.repeat(500_000))).toMatchObject({ isJson: false })
  expect(readAnswer('['.repeat(5_000) + ']'.repeat(5_000))).toMatchObject({ isJson: true, code: '' })
})
