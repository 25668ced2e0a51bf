import { VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { disagreement, newMessage, type TableData } from '../../src/chain/web3.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decodeMessage, decodeTransaction, type Message, type TransactionBytes } from '../../src/solana/transaction.ts'
import { address, compile, type Draft } from './verifier/draft.ts'
import { honest, SHAPES } from './verifier/honest.ts'
import { tableAccount } from './verifier/scripted-node.ts'

const shapes = Object.keys(SHAPES)
const LOOKED_UP = 'pump buy for an amount of SOL, with a lookup table'

interface Sample {
  readonly bytes: Uint8Array
  readonly transaction: TransactionBytes
  readonly accounts: readonly string[]
  readonly tables: readonly TableData[]
}

function sampleOf(draft: Draft): Sample {
  const { bytes, accounts } = compile(draft)
  return { bytes, accounts, transaction: decoded(bytes), tables: tablesOf(draft) }
}

function tablesOf({ tables }: Draft): TableData[] {
  return tables.map(({ key, state }) => ({ table: key.toBase58(), data: tableAccount(state.addresses).data }))
}

function decoded(bytes: Uint8Array): TransactionBytes {
  const result = decodeTransaction(bytes)
  if (!result.ok) throw new Error(result.reason)
  return result.transaction
}

describe('the second reader', () => {
  test('the second reader (web3.js) agrees with ours on every kind of honest transaction, with and without its lookup tables', () => {
    for (const shape of shapes)
      for (const seed of [1, 2, 3]) {
        const { transaction, accounts, tables } = sampleOf(honest(shape, seed))
        expect(disagreement(transaction, accounts, tables), shape).toBeUndefined()
        expect(disagreement(transaction, undefined, []), shape).toBeUndefined()
      }
  })

  const sample = sampleOf(honest(LOOKED_UP, 1))
  const other = address('another account').toBase58()
  const first = ({ instructions }: Message) => instructions.at(-1) as Message['instructions'][number]
  const withLast = (message: Message, change: Partial<Message['instructions'][number]>) => ({
    instructions: [...message.instructions.slice(0, -1), { ...first(message), ...change }],
  })

  test.each<[difference: string, misread: (message: Message) => Partial<Message>]>([
    ['the version', () => ({ version: 'legacy' })],
    ['the header', ({ readonlyOthers }) => ({ readonlyOthers: readonlyOthers - 1 })],
    ['the fee payer', ({ keys }) => ({ keys: [other, ...keys.slice(1)] })],
    ['the accounts of the message', ({ keys }) => ({ keys: [...keys.slice(0, -1), other] })],
    ['the blockhash', () => ({ blockhash: other })],
    ['the number of instructions', ({ instructions }) => ({ instructions: instructions.slice(1) })],
    ['the program of instruction', (message) => withLast(message, { program: 1 })],
    ['the accounts of instruction', (message) => withLast(message, { accounts: [0] })],
    ['the data of instruction', (message) => withLast(message, { data: Uint8Array.of(1) })],
    ['the number of lookup tables', () => ({ lookups: [] })],
    ['lookup table 1', ({ lookups }) => ({ lookups: lookups.map((one) => ({ ...one, table: other })) })],
    ['lookup table 1', ({ lookups }) => ({ lookups: lookups.map((one) => ({ ...one, writable: [0] })) })],
  ])('the second reader detects it if our reader misreads %s', (difference, misread) => {
    const { transaction, accounts, tables } = sample
    const message = { ...transaction.message, ...misread(transaction.message) }
    expect(disagreement({ ...transaction, message }, accounts, tables)).toEqual({
      code: 'READERS_DISAGREE',
      reason: expect.stringContaining(`disagree on ${difference}`),
    })
  })

  test.each<[difference: string, change: (from: Sample) => Partial<Sample>]>([
    ['the number of signatures', ({ transaction }) => ({ transaction: { ...transaction, signatures: [] } })],
    ['the accounts that its lookup tables give', ({ accounts }) => ({ accounts: [...accounts.slice(0, -1), other] })],
    ['whether it can be read', () => ({ tables: [] })],
    [
      'whether it can be read',
      ({ tables }) => ({ tables: tables.map((one) => ({ ...one, data: one.data.subarray(0, 88) })) }),
    ],
    [
      'whether it can be read',
      ({ transaction }) => ({
        transaction: { ...transaction, messageBytes: transaction.messageBytes.subarray(0, -40) },
      }),
    ],
  ])('a transaction is refused if the readers disagree on %s', (difference, change) => {
    const { transaction, accounts, tables } = { ...sample, ...change(sample) }
    expect(disagreement(transaction, accounts, tables)?.reason).toContain(difference)
  })
})

const samples = shapes.flatMap((shape) => [1, 2, 3].map((seed) => sampleOf(honest(shape, seed))))

/** Honest transactions, each with up to four changed bytes. */
const mutants = fc
  .tuple(
    fc.constantFrom(...samples),
    fc.array(fc.tuple(fc.nat(1231), fc.nat(255)), { minLength: 1, maxLength: 4 }),
    fc.integer({ min: -8, max: 8 }),
  )
  .map(([{ bytes }, changes, growth]) => {
    const changed = new Uint8Array(growth > 6 || growth < -6 ? bytes.length + growth : bytes.length)
    changed.set(bytes.subarray(0, changed.length))
    for (const [at, to] of changes) changed[at % changed.length] = to
    return changed
  })

describe('for any bytes', () => {
  const agreeOrRefuse = (bytes: Uint8Array): void => {
    const result = decodeTransaction(bytes)
    if (!result.ok) return
    expect(disagreement(result.transaction, undefined, [])).toBeUndefined()
    expect(Buffer.compare(VersionedTransaction.deserialize(bytes).serialize(), bytes)).toBe(0)
  }

  test('for an honest transaction with changed bytes, the readers agree, or ours refuses the bytes', () => {
    fc.assert(fc.property(mutants, agreeOrRefuse), { numRuns: 3_000 })
  })

  test('for random bytes, the readers agree, or ours refuses the bytes', () => {
    const anywhere = fc.oneof(
      fc.uint8Array({ maxLength: 1_300 }),
      // The bytes begin with one empty signature. Otherwise the readers would refuse nearly all random
      // bytes before they read the message.
      fc.uint8Array({ maxLength: 600 }).map((rest) => Uint8Array.from([1, ...new Uint8Array(64), ...rest])),
    )
    fc.assert(fc.property(anywhere, agreeOrRefuse), { numRuns: 3_000 })
  })
})

test('our reader reads a message that web3.js compiled as the same message', () => {
  const [wallet, account] = [address('wallet').toBase58(), address('account').toBase58()]
  const owner = { address: wallet, isSigner: true, isWritable: true }
  const close = {
    ...{ program: PROGRAMS.token, data: Uint8Array.of(9) },
    accounts: [{ address: account, isSigner: false, isWritable: true }, owner, owner],
  }
  const compiled = newMessage(wallet, address('blockhash').toBase58(), [close])
  if (!compiled.ok) throw new Error(compiled.reason)
  expect(compiled.message).toMatchObject({ signers: 1, keys: [wallet, account, PROGRAMS.token], version: 'legacy' })
  expect(decodeMessage(compiled.messageBytes)).toEqual({ ok: true, message: compiled.message })
  const tooMany = Array.from({ length: 60 }, (_none, index) => {
    const opened = { address: address(`account ${index}`).toBase58(), isSigner: false, isWritable: true }
    return { ...close, accounts: [opened, owner, owner] }
  })
  expect(newMessage(wallet, address('blockhash').toBase58(), tooMany)).toEqual({ ok: false, reason: undefined })
})
