import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactor } from '../../src/runtime/redactor.ts'
import { encodeBase58 } from '../../src/solana/base58.ts'

const KEY = 'sk-ABC+/=?"x"&42'
const RPC = 'https://user:p%40ssword@rpc.example/v2/9f8e7d6c5b4a/?token=tttttttttttt&x=1'

describe('redaction by value', () => {
  test.each([
    ['a secret that is unchanged', `Bearer ${KEY}`],
    ['a secret that is URL-encoded', `?key=${encodeURIComponent(KEY)}&y`],
    [
      'a secret that is URL-encoded in lower case',
      `?key=${encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase())}`,
    ],
    ['a secret as a form', new URLSearchParams({ key: KEY }).toString()],
    ['a secret in JSON', JSON.stringify({ nested: { key: KEY } })],
    ['a secret in base64', Buffer.from(KEY).toString('base64')],
    ['a secret in hex', Buffer.from(KEY).toString('hex')],
    ['a secret in a stack', new Error(`401 for ${KEY}`).stack ?? ''],
  ])('the log redacts %s', (_how, text) => {
    const redacted = redactor([KEY])(text)
    expect(redacted).toContain('[redacted]')
    expect(redacted).not.toContain('ABC')
    expect(redacted).not.toContain(Buffer.from(KEY).toString('base64').slice(0, 8))
  })

  // Encodings in which a hostile peer may send a secret back.
  const bytes = [...Buffer.from(KEY)]
  test.each([
    ['a secret with every character URL-encoded', bytes.map((byte) => `%${byte.toString(16).toUpperCase()}`).join('')],
    ['a secret with some characters URL-encoded', `sk%2DA${KEY.slice(4)}`],
    ['a secret with every character escaped as in JSON', bytes.map((byte) => `\\u00${byte.toString(16)}`).join('')],
    [
      'a secret with every character escaped as in HTML',
      bytes.map((byte, at) => (at % 2 ? `&#${byte};` : `&#x${byte.toString(16)};`)).join(''),
    ],
    ['a secret with its characters reversed', [...KEY].reverse().join('')],
    ['a secret in base58', encodeBase58(Buffer.from(KEY))],
    ['a secret in hex with capital letters', Buffer.from(KEY).toString('hex').toUpperCase()],
    ['a secret in hex with colons', bytes.map((byte) => byte.toString(16)).join(':')],
    ['a secret in hex as an array', bytes.map((byte) => `0x${byte.toString(16)}`).join(', ')],
    ['a secret as its bytes in decimal', JSON.stringify(bytes)],
    ['a secret as its bytes in decimal with blanks', bytes.join(' ')],
    ['a secret as one number', BigInt(`0x${Buffer.from(KEY).toString('hex')}`).toString()],
    ['a secret in base64 within a header', Buffer.from(`Bearer ${KEY}`).toString('base64')],
    ['a secret in base64url within a longer value', Buffer.from(`x${KEY} and more`).toString('base64url')],
  ])('the log redacts every part of %s', (_how, text) => {
    expect(redactor([KEY])(`before ${text} behind`)).toMatch(
      /^before \S{0,12}\[redacted\]\S{0,14} behind$|^before \[\[redacted\]\] behind$/,
    )
  })

  test('the log does not change other text or numbers', () => {
    const text = '115, 107, 45 and 0x73 %73 are not a secret; neither is 1154565'
    expect(redactor([KEY])(text)).toBe(text)
  })

  test.each([
    ['the whole URL', `getaddrinfo for ${RPC}`],
    ['the path of the URL', 'POST /v2/9f8e7d6c5b4a/ failed'],
    ['the query of the URL', 'token=tttttttttttt'],
    ['the password of the URL', 'auth user:p%40ssword'],
  ])('if a secret URL occurs in part, the log redacts %s', (_what, text) => {
    expect(redactor([RPC])(text)).not.toMatch(/9f8e|tttt|ssword/)
  })

  test('the log redacts the longer one of two overlapping secrets, and leaves text that is too short to be a secret', () => {
    expect(redactor(['secret', 'secret-two', 'abc', ''])('secret-two abc secret')).toBe('[redacted] abc [redacted]')
    expect(redactor([])('nothing to hide')).toBe('nothing to hide')
  })

  test('the log redacts every secret wherever it occurs', () => {
    const secret = fc.string({ minLength: 4, maxLength: 40 })
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.string(),
        fc.string(),
        (secrets, before, after) => {
          for (const one of secrets) {
            const redacted = redactor(secrets)(`${before}${one}${after}`)
            if (!'[redacted]'.includes(one)) expect(redacted.split('[redacted]').join('\n')).not.toContain(one)
          }
        },
      ),
    )
  })
})
