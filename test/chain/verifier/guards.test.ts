import { bigInt, constantFrom, assert as holds, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withGuards } from '../../../src/chain/verifier/guards.ts'
import { verifyTransaction } from '../../../src/chain/verifier/verify-transaction.ts'
import {
  decodeTransaction,
  encodeMessage,
  encodeTransaction,
  type TransactionBytes,
} from '../../../src/solana/transaction.ts'
import { compile } from './draft.ts'
import { honest, SHAPES } from './honest.ts'
import { ata } from './parts.ts'

/** The number of transactions of each shape. With 100, the test covers 1,300 transactions. */
const EACH = Number(process.env.SLUICE_HONEST ?? 20)
const SHAPE_NAMES = Object.keys(SHAPES)
const U64 = bigInt({ min: 0n, max: 2n ** 64n - 1n })

/** Returns the instructions with their accounts as addresses. */
function stepsOf({ message }: TransactionBytes, accounts: readonly string[]): object[] {
  return message.instructions.map(({ program, accounts: places, data }) => ({
    program: accounts[program],
    accounts: places.map((place) => accounts[place]),
    data: Buffer.from(data).toString('hex'),
  }))
}

describe('guards', () => {
  test('every kind of honest transaction keeps its instructions, gets the guards at its end, and is read again as the same message', () => {
    let guardedCount = 0
    void holds(
      property(
        constantFrom(...SHAPE_NAMES),
        integer({ min: 0, max: 400 }),
        U64,
        U64,
        (shape, number, floor, amount) => {
          const draft = honest(shape, number)
          const { bytes, accounts } = compile(draft)
          const decoded = decodeTransaction(bytes)
          if (!decoded.ok) throw new Error(decoded.reason)
          const { transaction } = decoded
          const { user, mint } = draft.drawn
          const account = ata(user, mint).toBase58()
          const program = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
          const tokens = { account, mint: mint.toBase58(), program, amount, decimals: 6 }
          const guarded = withGuards(transaction, accounts, { floorLamports: floor, tokens })
          if (!guarded.ok) return
          guardedCount++
          const written = encodeTransaction(guarded.transaction)
          const again = decodeTransaction(written)
          if (!again.ok) throw new Error(again.reason)
          expect(Buffer.from(again.transaction.messageBytes)).toEqual(Buffer.from(guarded.transaction.messageBytes))
          const steps = stepsOf(guarded.transaction, guarded.accounts)
          const before = stepsOf(transaction, accounts)
          expect(steps.slice(0, before.length)).toEqual(before)
          const wallet = user.toBase58()
          expect(steps.slice(before.length)).toEqual([
            { program: '11111111111111111111111111111111', accounts: [wallet, wallet], data: `02000000${hex(floor)}` },
            { program, accounts: [account, tokens.mint, account, wallet], data: `0c${hex(amount)}06` },
            { program, accounts: [account, wallet], data: '05' },
            { program, accounts: [account, wallet], data: '060300' },
          ])
        },
      ),
      { numRuns: 300, seed: 7 },
    )
    expect(guardedCount).toBeGreaterThan(200)
  })

  test('guards cause no refusal of an honest transaction, and raise its maximum cost only by their priority fee', () => {
    let fitting = 0
    for (const shape of SHAPE_NAMES)
      for (let number = 0; number < EACH; number++) {
        const draft = honest(shape, number)
        const { bytes, accounts } = compile(draft)
        const decoded = decodeTransaction(bytes)
        if (!decoded.ok) throw new Error(decoded.reason)
        const { asked, policy, facts } = draft
        const plain = verifyTransaction(decoded.transaction, accounts, asked, policy, facts)
        const guarded = withGuards(decoded.transaction, accounts, { floorLamports: 5n })
        if (!guarded.ok) continue
        fitting++
        const verdict = verifyTransaction(guarded.transaction, guarded.accounts, asked, policy, facts)
        expect(verdict.refusals).toEqual(plain.refusals)
        const fee = (parts: typeof plain.parts) => parts.find(({ what }) => what === 'priority fee')?.lamports ?? 0n
        expect((verdict.bound ?? 0n) - fee(verdict.parts)).toBe((plain.bound ?? 0n) - fee(plain.parts))
      }
    expect(fitting).toBeGreaterThan(SHAPE_NAMES.length * EACH * 0.5)
  })

  test('a transaction gets no guards if it has other signers, or if it would become larger than a packet', () => {
    const { bytes, accounts } = compile(honest('pump buy', 1))
    const decoded = decodeTransaction(bytes)
    if (!decoded.ok) throw new Error(decoded.reason)
    const { message, signatures } = decoded.transaction
    const [first] = message.instructions
    const full = { ...first!, data: new Uint8Array(1_232 - bytes.length - 4) }
    const longer = { ...message, instructions: [...message.instructions, full] }
    const stuffed = { signatures, message: longer, messageBytes: encodeMessage(longer) }
    expect(withGuards(stuffed, accounts, { floorLamports: 1n })).toEqual({ ok: false, reason: undefined })
    const two = {
      ...decoded.transaction,
      signatures: [...signatures, ...signatures],
      message: { ...message, signers: 2 },
    }
    expect(withGuards(two, accounts, { floorLamports: 1n })).toEqual({ ok: false, reason: undefined })
  })
})

function hex(value: bigint): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes.toString('hex')
}
