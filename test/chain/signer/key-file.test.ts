import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { readKeyFile, SignerFailure } from '../../../src/chain/signer/key-file.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
let files = 0
const pair = Keypair.fromSeed(new Uint8Array(32).fill(7))
const wallet = pair.publicKey.toBase58()
const bytes = [...pair.secretKey]

function read(text: string, wanted?: string, mode = 0o600) {
  return readKeyFile(folder.write(`${++files}.json`, text, mode), wanted)
}

test('the keys of the wallet are read from a file of solana-keygen', () => {
  const key = read(JSON.stringify(bytes), wallet)
  expect(key.wallet).toBe(wallet)
  expect(Buffer.from(key.publicKey).equals(pair.publicKey.toBytes())).toBe(true)
  expect(read(`\n[ ${bytes.join(' ,\t')} ]\r\n`).wallet).toBe(wallet)
})

const other = bytes.with(40, (bytes[40] as number) ^ 1)

test.each<[string, string, RegExp]>([
  ['an empty file', '', /64 bytes/],
  ['a file that is not JSON', 'a text with secret words', /64 bytes/],
  ['a JSON string', JSON.stringify('5Kd3NBUAdUnhyzenEwVLy9pBKxSwXvE9FMPyR4UKZvpe6E3AgLr'), /64 bytes/],
  ['a JSON object', JSON.stringify({ secretKey: bytes }), /64 bytes/],
  ['only the seed of the key', JSON.stringify(bytes.slice(0, 32)), /64 bytes/],
  ['an array with one byte too many', JSON.stringify([...bytes, 1]), /64 bytes/],
  ['a number that does not fit into a byte', JSON.stringify(bytes.with(3, 256)), /64 bytes/],
  ['a negative number', JSON.stringify(bytes.with(3, -1)), /64 bytes/],
  ['a fraction', JSON.stringify(bytes).replace(',', '.0,'), /64 bytes/],
  ['an array with two numbers without a comma between them', `[${bytes.join(',').replace(',', ' ')}]`, /64 bytes/],
  ['an array with a comma at its end', `[${bytes.join(',')},]`, /64 bytes/],
  ['text after the array', `${JSON.stringify(bytes)}x`, /64 bytes/],
  ['a public key that does not belong to the secret key', JSON.stringify(other), /public key/],
  ['a file that is too long', ' '.repeat(5_000), /not a keypair file/],
])('an invalid key file is refused, and the error does not show its content: %s', (_name, text, because) => {
  let said = ''
  try {
    read(text)
  } catch (error) {
    if (error instanceof SignerFailure) said = error.message
  }
  expect(said).toMatch(because)
  for (const part of [bytes.slice(0, 4).join(','), 'secret words', '5Kd3NB']) expect(said).not.toContain(part)
})

test('the key of another wallet is refused, and the message names both wallets', () => {
  const asked = Keypair.fromSeed(new Uint8Array(32).fill(8)).publicKey.toBase58()
  expect(() => read(JSON.stringify(bytes), asked)).toThrow(
    `the key of ${wallet}, but the configured wallet is ${asked}`,
  )
})

test.each([0o640, 0o604, 0o620, 0o666, 0o610])(
  'a key file that other users may read or write is refused: %o',
  (mode) => {
    expect(() => read(JSON.stringify(bytes), wallet, mode)).toThrow(/others can read it \(mode 0\d+\); run: chmod 600/)
  },
)

test('a missing file and a folder are refused', () => {
  expect(() => readKeyFile(join(folder.path, 'nothing'), undefined)).toThrow('no such file')
  expect(() => readKeyFile(folder.path, undefined)).toThrow('not a keypair file')
})
