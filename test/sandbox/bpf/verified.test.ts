import type { PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import { BUILT_IN_POLICY, type BuilderPolicy } from '../../../src/orders/builder-policy.ts'
import type { AskedTrade } from '../../../src/orders/trade-request.ts'
import {
  POOL_PROGRAM,
  type PoolTrade,
  type ProgramInstruction,
  poolInstruction,
} from '../../../src/sandbox/chain/pool-program.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { address, keypair, verifyDraft } from '../../chain/verifier/draft.ts'
import { RENT } from '../../chain/verifier/honest.ts'
import { ata, openAta } from '../../chain/verifier/parts.ts'
import { forWeb3 } from './machine.ts'

// The verifier reads our own program with pump.fun's layout, because the policy below gives it this layout.

const SOL = 1_000_000_000n
const user = keypair('wallet').publicKey
const [mint, other] = [address('a mint'), address('another mint')]
const policy: BuilderPolicy = { ...BUILT_IN_POLICY, programs: [{ id: POOL_PROGRAM, decode: 'pump' }] }
const terms = { wallet: user.toBase58(), mint: mint.toBase58(), slippagePercent: 10, priorityFeeLamports: null }
const asked: AskedTrade = { ...terms, side: 'buy', lamports: lamports(Number(SOL)) }
const sellAll: AskedTrade = { ...terms, side: 'sell', amount: { kind: 'all' } }
const account = ata(user, mint).toBase58()
const holding = { tokens: 5_000_000n, decimals: 6, program: PROGRAMS.token, account }

const buyIn: PoolTrade = { side: 'buy', exact: 'in', lamports: SOL, tokens: 30_000_000_000_000n }
const buyOut: PoolTrade = { side: 'buy', exact: 'out', lamports: (SOL * 11n) / 10n, tokens: 33_000_000_000_000n }
const sale: PoolTrade = { side: 'sell', exact: 'out', lamports: 1_000n, tokens: holding.tokens }

function codes(
  trade: PoolTrade,
  order: AskedTrade,
  change = (one: ProgramInstruction) => one,
  under = policy,
): string[] {
  const instruction = change(poolInstruction(user.toBase58(), mint.toBase58(), trade, PROGRAMS.token))
  const open = trade.side === 'buy' ? [openAta(user, user, mint)] : []
  const { refusals } = verifyDraft({
    ...{ name: 'pool', payer: user, tables: [], coSigners: [], version: 0 as const, blockhash: mint.toBase58() },
    instructions: [...open, forWeb3(instruction)],
    ...{ asked: order, policy: under },
    facts: { rentLamports: RENT, holding },
  })
  return refusals.map(({ code }) => code)
}

const at = (place: number, where: PublicKey | string) => (one: ProgramInstruction) => ({
  ...one,
  accounts: one.accounts.with(place, { ...one.accounts[place]!, address: where.toString() }),
})

test.each<[string, PoolTrade, AskedTrade]>([
  ['a buy by SOL', buyIn, asked],
  ['a buy by tokens', buyOut, asked],
  ['a full sale', sale, sellAll],
])("the verifier reads and accepts %s in a trade with the sandbox's pool", (_what, trade, order) => {
  expect(codes(trade, order)).toEqual([])
})

test.each<[string, string, () => string[]]>([
  ['a program outside the policy', 'PROGRAM_UNKNOWN', () => codes(buyIn, asked, undefined, BUILT_IN_POLICY)],
  ['more lamports than rounding explains', 'AMOUNT_OVER', () => codes({ ...buyIn, lamports: SOL + 2n }, asked)],
  ['a sale instead of a buy', 'WRONG_SIDE', () => codes(sale, asked)],
  ['a zero minimum output', 'MIN_OUT', () => codes({ ...buyIn, tokens: 0n }, asked)],
  ['another mint', 'WRONG_MINT', () => codes(buyIn, asked, at(2, other))],
  ['another pool', 'POOL_UNKNOWN', () => codes(buyIn, asked, at(3, other))],
  ['tokens for another wallet', 'ACCOUNT_FOREIGN', () => codes(buyIn, asked, at(5, other))],
])("in a trade with the sandbox's pool, the verifier refuses %s with %s", (_what, code, found) => {
  expect(found()).toContain(code)
})
