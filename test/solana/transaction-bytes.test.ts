import { VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteReader, Malformed } from '../../src/solana/byte-reader.ts'
import { decodeTransaction, encodeTransaction, type Message } from '../../src/solana/transaction.ts'
import { compile, verifyDraft } from '../chain/verifier/draft.ts'
import { honest, SHAPES } from '../chain/verifier/honest.ts'
import { runs } from '../support/runs.ts'

const shapes = Object.keys(SHAPES)
const samples = shapes.flatMap((shape) => [1, 2, 3].map((seed) => compile(honest(shape, seed)).bytes))

test('our reader reads what web3.js reads, and encodes it to the same bytes', () => {
  for (const bytes of samples) {
    const decoded = decodeTransaction(bytes)
    if (!decoded.ok) throw new Error(decoded.reason)
    const { message, signatures, messageBytes } = decoded.transaction
    const theirs = VersionedTransaction.deserialize(bytes)
    expect(message.keys).toEqual(theirs.message.staticAccountKeys.map((key) => key.toBase58()))
    expect(message.blockhash).toBe(theirs.message.recentBlockhash)
    expect([message.signers, message.readonlySigners, message.readonlyOthers]).toEqual(
      Object.values(theirs.message.header),
    )
    expect(message.version).toBe(theirs.version)
    expect(signatures.map((one) => [...one])).toEqual(theirs.signatures.map((one) => [...one]))
    expect(Buffer.compare(messageBytes, theirs.message.serialize())).toBe(0)
    const instructions = theirs.message.compiledInstructions
    expect(message.instructions.map(({ program, accounts, data }) => [program, accounts, [...data]])).toEqual(
      instructions.map(({ programIdIndex, accountKeyIndexes, data }) => [programIdIndex, accountKeyIndexes, [...data]]),
    )
    const lookups = theirs.message.addressTableLookups
    expect(message.lookups).toEqual(
      lookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => {
        return { table: accountKey.toBase58(), writable: writableIndexes, readonly: readonlyIndexes }
      }),
    )
    expect(Buffer.compare(encodeTransaction(decoded.transaction), bytes)).toBe(0)
  }
})

test.each([
  ['an empty list of bytes', []],
  ['a first byte without the next one', [0x80]],
  ['the number 0 in two bytes', [0x80, 0x00]],
  ['a small number in three bytes', [0x81, 0x80, 0x00]],
  ['a number above sixteen bits', [0xff, 0xff, 0x04]],
  ['an encoding of four bytes', [0x80, 0x80, 0x80, 0x01]],
])('as a compact length, %s is refused', (_what, bytes) => {
  expect(() => new ByteReader(Uint8Array.from(bytes)).compact()).toThrow(Malformed)
})

test.each([
  [0, [0]],
  [127, [0x7f]],
  [128, [0x80, 0x01]],
  [16_384, [0x80, 0x80, 0x01]],
  [65_535, [0xff, 0xff, 0x03]],
])('the compact length %s is read from its shortest encoding', (value, bytes) => {
  expect(new ByteReader(Uint8Array.from(bytes)).compact()).toBe(value)
})

test('reading beyond the end throws', () => {
  const read = (run: (reader: ByteReader) => unknown) => () => run(new ByteReader(new Uint8Array(3).subarray(1, 1)))
  for (const run of [read((r) => r.peek()), read((r) => r.byte()), read((r) => r.uint32()), read((r) => r.uint64())])
    expect(run).toThrow(Malformed)
})

const looked = compile(honest('pump buy for an amount of SOL, with a lookup table', 1)).bytes
type Parts = { message: Message; signatures: readonly Uint8Array[] }

/** Messages that a validator's `sanitize` refuses, each with the reason that our reader gives. */
test.each<[says: string, change: (parts: Parts) => Partial<Message> | { signatures: Uint8Array[] }]>([
  ['2 signatures for 1 signers', ({ signatures }) => ({ signatures: [...signatures, new Uint8Array(64)] })],
  ['no writable signer can pay the fee', () => ({ readonlySigners: 1 })],
  [
    'the header counts more accounts than the message lists',
    ({ message }) => ({ readonlyOthers: message.keys.length }),
  ],
  [
    'an account is listed twice',
    ({ message: { keys } }) => ({ keys: keys.map((key, at) => keys[at === 2 ? 1 : at] ?? key) }),
  ],
  [
    'a lookup table is listed without entries',
    ({ message }) => ({
      lookups: message.lookups.map((one) => ({ ...one, writable: [], readonly: [] })),
      instructions: [],
    }),
  ],
  [
    'calls a program that the message does not list',
    ({ message }) => ({ instructions: message.instructions.map((one) => ({ ...one, program: 0 })) }),
  ],
  [
    'calls a program that the message does not list',
    ({ message }) => ({ instructions: message.instructions.map((one) => ({ ...one, program: message.keys.length })) }),
  ],
  [
    'an account index beyond the accounts',
    ({ message }) => ({ instructions: message.instructions.map((one) => ({ ...one, accounts: [200] })) }),
  ],
  [
    'and at most 256 can be addressed',
    ({ message }) => ({
      lookups: message.lookups.map((one) => ({ ...one, writable: Array.from({ length: 255 }, () => 1) })),
    }),
  ],
  [
    'but at most 1232 fit into a packet',
    ({ message }) => ({ instructions: message.instructions.map((one) => ({ ...one, data: new Uint8Array(400) })) }),
  ],
])('a transaction is refused: %s', (says, change) => {
  const decoded = decodeTransaction(looked)
  if (!decoded.ok) throw new Error(decoded.reason)
  const { message, signatures } = decoded.transaction
  const changed = change({ message, signatures })
  const bytes = encodeTransaction({
    signatures,
    message: { ...message, ...changed },
    ...('signatures' in changed && changed),
  })
  expect(decodeTransaction(bytes)).toMatchObject({
    ok: false,
    code: 'TX_MALFORMED',
    reason: expect.stringContaining(says),
  })
})

test('bytes after the end are refused', () => {
  const longer = decodeTransaction(Uint8Array.from([...looked, 0]))
  expect(longer).toMatchObject({ ok: false, reason: expect.stringContaining('1 bytes follow the end of the message') })
})

test('the reader of any bytes returns a transaction or a refusal, and never throws', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_300 }), (bytes) => {
      const decoded = decodeTransaction(bytes)
      if (!decoded.ok) expect(['TX_MALFORMED', 'TX_VERSION']).toContain(decoded.code)
    }),
    { numRuns: runs(500) },
  )
})

test('if one bit of a transaction is flipped, it is refused, or its verified maximum cost does not exceed the order', () => {
  const anywhere = fc.tuple(fc.constantFrom(...shapes), fc.nat(200), fc.nat(1231), fc.nat(7))
  fc.assert(
    fc.property(anywhere, ([shape, seed, at, bit]) => {
      const draft = honest(shape, seed)
      const finish = (bytes: Uint8Array) => {
        const changed = Uint8Array.from(bytes)
        changed[at % changed.length]! ^= 1 << bit
        return changed
      }
      const { refusals, verdict } = verifyDraft({ ...draft, finish })
      if (refusals.length > 0) return
      const { most } = draft.drawn
      const trade = draft.asked.side === 'buy' ? most : 0n
      // The maximum cost: the trade, the caps of the fee, of the tips and of the priority fee, six rents, and the base
      // fee of two signatures.
      const cap = trade + 41_000_000n + 2_000_000n + 6n * draft.facts.rentLamports + 10_000n
      expect(verdict?.trade?.mint).toBe(draft.asked.mint)
      expect(verdict?.bound).toBeLessThanOrEqual(cap)
    }),
    { numRuns: runs(500) },
  )
})
