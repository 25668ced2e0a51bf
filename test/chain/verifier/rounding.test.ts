import { describe, expect, test } from 'vitest'
import { lamports, solToLamports } from '../../../src/base/units.ts'
import { sellCost, worstCost } from '../../../src/engine/limits/order-bounds.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { MOST_ROUNDING } from '../../../src/solana/rounding.ts'
import { runs } from '../../support/runs.ts'
import { type Draft, verifyDraft } from './draft.ts'
import { draw, FEES, honest, RENT } from './honest.ts'
import * as parts from './parts.ts'

/** The number of drafts of each kind. `npm run properties -- --times 100 test/chain/verifier/rounding` tests 10,000. */
const EACH = runs(100)
const SEED = Number(process.env.SLUICE_SEED ?? 1)
const ROUNDINGS = [Math.round, Math.ceil, Math.floor] as const
const SERVICE_FEE = 0.01

type Kind = 'buy, exact SOL' | 'buy, exact tokens' | 'sale of a share' | 'sale of a number'

/**
 * Returns a draft whose amounts are computed with floating-point numbers, as JavaScript clients do, and rounded up,
 * down or to the nearest.
 */
function rounded(kind: Kind, seed: number): Draft {
  const { random, user, mint, asked, sale } = draw(seed)
  const round = () => ROUNDINGS[random.integer(3)] as (value: number) => number
  const sol = (100_000 + random.integer(2_000_000_000)) / 1e9
  const feeSol = (10_000 + random.integer(1_990_000)) / 1e9
  const slippagePercent = (10 + random.integer(4_991)) / 100
  const unitLimit = random.integer(4) === 0 ? 1_000_001 + random.integer(399_999) : 40_001 + random.integer(400_000)
  const feeLamports = random.integer(2) === 0 ? feeSol * 1e9 : round()(feeSol * 1e9)
  const budget = parts.budget(unitLimit, round()((feeLamports * 1e6) / unitLimit))
  const terms = { slippagePercent, priorityFeeLamports: solToLamports(feeSol) }
  const paid = round()(sol * 1e9)
  const fee = (moved: number) => parts.transfer(user, FEES, BigInt(round()(moved * SERVICE_FEE)))
  const common = { ...honest('pump buy', seed), facts: { rentLamports: RENT } }
  if (kind === 'buy, exact SOL') {
    const trade = parts.pumpBuy({ user, mint, one: BigInt(paid), two: 1_000_000n }, true)
    const order = { ...asked, ...terms, lamports: solToLamports(sol) }
    return { ...common, asked: order, instructions: [...budget, trade, fee(paid)] }
  }
  if (kind === 'buy, exact tokens') {
    const most = round()((random.integer(2) === 0 ? paid : sol * 1e9) * (1 + slippagePercent / 100))
    const trade = parts.pumpBuy({ user, mint, one: 1_000_000n, two: BigInt(most) })
    const order = { ...asked, ...terms, lamports: solToLamports(sol) }
    return { ...common, asked: order, instructions: [...budget, trade, fee(paid)] }
  }
  const held = 1_000_003 + random.integer(2_000_000_000) * 997
  const percent = (1 + random.integer(9_999)) / 100
  const wanted = (1 + random.integer(held)) / 1e6
  const tokens = kind === 'sale of a share' ? round()((held * percent) / 100) : round()(wanted * 1e6)
  const least = round()(paid * (1 - slippagePercent / 100))
  const trade = parts.pumpSell({ user, mint, one: BigInt(tokens), two: BigInt(least) })
  const amount =
    kind === 'sale of a share'
      ? ({ kind: 'percent', percent } as const)
      : ({ kind: 'number', decimal: wanted.toFixed(6) } as const)
  const account = parts.ata(user, mint).toBase58()
  const holding = { tokens: BigInt(held), decimals: 6, program: PROGRAMS.token, account }
  return {
    ...common,
    facts: { rentLamports: RENT, holding },
    policy: { ...common.policy, sellNumber: 'tokens' },
    asked: { ...sale, ...terms, amount },
    instructions: [...budget, trade, fee(paid)],
  }
}

describe('a builder that rounds floating-point numbers up, down or to the nearest integer', () => {
  test.each<Kind>(['buy, exact SOL', 'buy, exact tokens', 'sale of a share', 'sale of a number'])(
    'an honest trade with rounded numbers is accepted: %s',
    (kind) => {
      const refused: string[] = []
      for (let count = 0; count < EACH; count++) {
        const seed = SEED * 1_000_003 + count
        const { refusals } = verifyDraft(rounded(kind, seed))
        for (const { code, reason } of refusals) refused.push(`seed ${seed}: ${code} ${reason}`)
      }
      expect(refused).toEqual([])
    },
  )
})

/** Returns the refusal codes for a fee of `lamportsCharged`, charged for 200,000 compute units. */
const charging = (lamportsCharged: number, asked: number | null, cap = 2_000_000) => {
  const draft = honest('tip', 3)
  draft.instructions = [...parts.budget(200_000, lamportsCharged * 5), ...draft.instructions]
  draft.asked = { ...draft.asked, priorityFeeLamports: asked === null ? null : lamports(asked) }
  draft.policy = { ...draft.policy, maxPriorityFeeLamports: lamports(cap) }
  return verifyDraft(draft).refusals.map(({ code }) => code)
}

describe('differences that are larger than rounding can explain', () => {
  test('a priority fee for up to a million compute units may exceed the fee of the order by two lamports, but not by three', () => {
    expect(charging(100_002, 100_000)).toEqual([])
    expect(charging(100_003, 100_000)).toEqual(['PRIORITY_FEE'])
  })

  test('a priority fee that the order sets to the cap may exceed the cap by rounding, but a fee that the service chose may not', () => {
    expect(charging(100_002, 100_000, 100_000)).toEqual([])
    expect(charging(100_001, null, 100_000)).toEqual(['PRIORITY_FEE'])
    expect(charging(100_001, 500_000, 100_000)).toEqual(['PRIORITY_FEE'])
  })

  test.each<[sol: bigint, accepted: boolean]>([
    [1_000_000_001n, true],
    [1_000_000_002n, false],
  ])('a buy of 1 SOL that pays %d lamports is accepted or refused', (paid, accepted) => {
    const draft = honest('pump buy for an amount of SOL, with a lookup table', 5)
    const { user, mint } = draft.drawn
    draft.tables = []
    draft.version = 'legacy'
    draft.instructions = [parts.pumpBuy({ user, mint, one: paid, two: 1n }, true)]
    draft.asked = { ...draft.drawn.asked, lamports: solToLamports(1) }
    expect(verifyDraft(draft).refusals.length === 0).toBe(accepted)
  })
})

test('the reserved SOL covers a transaction in which every number is rounded up', () => {
  for (let seed = 0; seed < EACH; seed++) {
    for (const kind of ['buy, exact SOL', 'buy, exact tokens', 'sale of a share'] as const) {
      const draft = { ...rounded(kind, seed) }
      draft.policy = { ...draft.policy, rentAccounts: 1 }
      const { asked } = draft
      const { verdict } = verifyDraft(draft)
      const { priorityFeeLamports: fee, slippagePercent } = asked
      const [serviceFee = 0n] = (verdict?.parts ?? [])
        .filter(({ what }) => what.startsWith('fee'))
        .map((one) => one.lamports)
      if (asked.side === 'buy')
        expect(worstCost(asked.lamports, slippagePercent, fee)).toBeGreaterThanOrEqual(Number(verdict?.bound))
      else expect(sellCost(fee)).toBeGreaterThanOrEqual(Number((verdict?.bound ?? 0n) - serviceFee - RENT))
    }
  }
  expect(MOST_ROUNDING).toBe(6)
})
