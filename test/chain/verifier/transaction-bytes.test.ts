import { VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeTransaction, encodeTransaction } from '../../../src/chain/verifier/transaction-bytes.ts'
import { compile, verifyDraft } from './draft.ts'
import { honest, SHAPES } from './honest.ts'

const shapes = Object.keys(SHAPES)
const samples = shapes.flatMap((shape) => [1, 2, 3].map((seed) => compile(honest(shape, seed)).bytes))

test('what is read is what web3.js reads, and written again the same bytes', () => {
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

const mutant = fc
  .tuple(fc.constantFrom(...samples), fc.array(fc.tuple(fc.nat(1231), fc.nat(255)), { minLength: 1, maxLength: 4 }))
  .map(([bytes, changes]) => {
    const changed = Uint8Array.from(bytes)
    for (const [at, to] of changes) changed[at % changed.length] = to
    return changed
  })

test('whatever is accepted as a transaction, web3.js reads it too and writes the same bytes', () => {
  fc.assert(
    fc.property(mutant, (bytes) => {
      if (!decodeTransaction(bytes).ok) return
      expect(Buffer.compare(VersionedTransaction.deserialize(bytes).serialize(), bytes)).toBe(0)
    }),
    { numRuns: 2_000 },
  )
})

test('bytes of any kind are a transaction or a refusal, never a crash', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_300 }), (bytes) => {
      const decoded = decodeTransaction(bytes)
      if (!decoded.ok) expect(['TX_MALFORMED', 'TX_VERSION']).toContain(decoded.code)
    }),
    { numRuns: 2_000 },
  )
})

test('a bit that flips anywhere is refused, or leaves the bound within the order', () => {
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
      // Fees and tips at their caps, the priority fee at its own, six rents and the signatures.
      const cap = trade + 41_000_000n + 2_000_000n + 6n * draft.facts.rentLamports + 10_000n
      expect(verdict?.trade?.mint).toBe(draft.asked.mint)
      expect(verdict?.bound).toBeLessThanOrEqual(cap)
    }),
    { numRuns: 2_000 },
  )
})
