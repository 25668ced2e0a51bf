import { PublicKey } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { seededAddress, tokenAccountOf } from '../../../src/chain/addresses.ts'
import { isPublicKey } from '../../../src/solana/base58.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { verifyDraft } from './draft.ts'
import { draw, honest, RENT, SHAPES, seededAccount } from './honest.ts'
import { ata } from './parts.ts'

const EACH = 100

describe('honest transactions are accepted', () => {
  test.each(Object.keys(SHAPES))(`${EACH} x %s`, (shape) => {
    for (let seed = 0; seed < EACH; seed++) {
      const draft = honest(shape, seed)
      const { refusals, verdict } = verifyDraft(draft)
      expect(refusals, `seed ${seed}`).toEqual([])
      expect(verdict?.trade?.side).toBe(draft.asked.side)
    }
  })
})

test('the maximum cost of a transaction is the sum of trade, fees, tips, priority fee, base fee and rent', () => {
  const draft = honest('pump buy', 7)
  const { amount, most } = draft.drawn
  const { verdict } = verifyDraft(draft)
  const parts = Object.fromEntries(
    (verdict?.parts ?? []).map(({ what, lamports }) => [what.split(' to ')[0], lamports]),
  )
  expect(parts).toMatchObject({ trade: most, fee: amount / 100n, 'base fee': 5_000n, rent: RENT * 3n })
  expect(verdict?.bound).toBe((verdict?.parts ?? []).reduce((sum, { lamports }) => sum + lamports, 0n))
})

test('an account that is opened and closed by the same transaction costs no rent', () => {
  const { verdict } = verifyDraft(honest('wSOL account', 3))
  expect(verdict?.parts.find(({ what }) => what === 'rent')?.lamports).toBe(RENT * 3n)
})

test('derived addresses match those of web3.js, and all program ids are valid', async () => {
  const { user, mint } = draw(5)
  expect(tokenAccountOf(user.toBase58(), mint.toBase58(), PROGRAMS.token)).toBe(ata(user, mint).toBase58())
  const seeded = await PublicKey.createWithSeed(user, 'abc', new PublicKey(PROGRAMS.token))
  expect(seededAddress(user.toBase58(), Buffer.from('abc'), PROGRAMS.token)).toBe(seeded.toBase58())
  expect(seededAccount(user, 'abc').toBase58()).toBe(seeded.toBase58())
  expect(Object.values(PROGRAMS).filter((program) => !isPublicKey(program))).toEqual([])
})
