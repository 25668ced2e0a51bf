import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAnswer } from '../../../../src/venues/token-service/wire/answers.ts'
import { keyOf, signatureOf } from './samples.ts'

const S = signatureOf(3)
const T = signatureOf(4)

test.each<[string, unknown, string]>([
  ['under the name signature', { signature: S }, S],
  ['as txSignature', { txSignature: S }, S],
  ['as transactionSignature', { transactionSignature: S }, S],
  ['as txid', { txid: S }, S],
  ['as tx_hash', { tx_hash: S }, S],
  ['as hash', { hash: S }, S],
  ['as transaction', { transaction: S }, S],
  ['as result', { jsonrpc: '2.0', result: S }, S],
  ['nested', { success: true, data: { transaction: { signature: S } } }, S],
  ['in a list', { signatures: [S] }, S],
  ['the same signature twice', { signature: S, data: { txid: S } }, S],
  ['under an unknown name', { ok: true, landedAs: S }, S],
  ['in a link', { explorer: `https://solscan.io/tx/${S}?cluster=mainnet` }, S],
  ['the signature as the whole body', S, S],
  ['a signature under a known name, and another one under an unknown name', { signature: S, previous: T }, S],
  ['two signatures under known names', { signature: S, txid: T }, ''],
  ['two signatures under unknown names', { a: S, b: T }, ''],
  ['a key of 32 bytes', { signature: keyOf(1) }, ''],
  ['base64 of a transaction', { transaction: `${'A'.repeat(80)}==` }, ''],
  ['a signature within a longer text', { blob: `${S}${S}` }, ''],
  ['a number', { signature: 5 }, ''],
  ['nothing', {}, ''],
])('the signature in an answer: %s', (_name, body, expected) => {
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
])('the code of %j is %s', (body, expected) => {
  expect(readAnswer(JSON.stringify(body)).code).toBe(expected)
})

test('the message of an answer is kept and cut to a maximum length', () => {
  expect(readAnswer('{"error":{"code":"X","message":"no luck"}}').message).toBe('no luck')
  expect(readAnswer(JSON.stringify({ message: 'x'.repeat(9_000) })).message).toHaveLength(200)
})

test('any body is read without an exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), (body) => {
      const { signature, code } = readAnswer(body)
      expect([signature, code]).toEqual(['', ''])
    }),
  )
  expect(readAnswer('['.repeat(500_000))).toMatchObject({ isJson: false })
  expect(readAnswer('['.repeat(5_000) + ']'.repeat(5_000))).toMatchObject({ isJson: true, code: '' })
})
