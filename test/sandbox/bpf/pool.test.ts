import { PublicKey } from '@solana/web3.js'
import { assert, bigInt, boolean, constantFrom, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CURVE_FEES,
  decodePool,
  type InstructionAccount,
  POOL_FAILURES,
  POOL_PROGRAM,
  type PoolTrade,
  poolInstruction,
  poolOf,
  vaultOf,
} from '../../../src/sandbox/chain/pool-program.ts'
import { tokenAccountAddress } from '../../../src/sandbox/keys.ts'
import { Curve, type Swap } from '../../../src/solana/bonding-curve.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { encodeTokenAccount } from '../../../src/solana/token-account.ts'
import { address } from '../../chain/verifier/draft.ts'
import { openAta } from '../../chain/verifier/parts.ts'
import { Machine, WALLET_LAMPORTS } from './machine.ts'

const MOST = 2n ** 64n - 1n
const SOL = 1_000_000_000n
const BASE_FEE = 5_000n

const buyIn = (lamports: bigint, tokens = 1n): PoolTrade => ({ side: 'buy', exact: 'in', lamports, tokens })
const buyOut = (tokens: bigint, lamports = MOST): PoolTrade => ({ side: 'buy', exact: 'out', lamports, tokens })
const sale = (tokens: bigint, lamports = 0n): PoolTrade => ({ side: 'sell', exact: 'out', lamports, tokens })

const machines = { Token: new Machine(PROGRAMS.token), 'Token-2022': new Machine(PROGRAMS.token2022) }
const machine = machines.Token

/** Trades with a wallet that has the same balance before each trade and holds the tokens to sell. */
function trade(one: Machine, curve: Curve, what: PoolTrade, held: bigint, feeBps?: bigint) {
  one.load(curve, feeBps)
  one.write(one.user, PROGRAMS.system, new Uint8Array(0), WALLET_LAMPORTS)
  one.write(CURVE_FEES, PROGRAMS.system, new Uint8Array(0))
  one.hold(one.user, held)
  const pool = one.lamports(poolOf(one.mint))
  const fees = one.lamports(CURVE_FEES)
  const answer = one.send(poolInstruction(one.user, one.mint, what, one.tokenProgram))
  const moved = {
    user: one.lamports(one.user) - WALLET_LAMPORTS + BASE_FEE,
    pool: one.lamports(poolOf(one.mint)) - pool,
    fees: one.lamports(CURVE_FEES) - fees,
    tokens: one.tokens(one.tokensOf(one.user)) - held,
  }
  return { ...answer, moved, after: decodePool(one.data(poolOf(one.mint))) }
}

function expected(curve: Curve, { side }: PoolTrade, { sol, fee, tokens }: Swap) {
  const [virtualSol, virtualTokens, realTokens] = [
    curve.reserves.virtualSol,
    curve.reserves.virtualTokens,
    curve.reserves.realTokens,
  ]
  const isBuy = side === 'buy'
  const sign = isBuy ? 1n : -1n
  return {
    error: undefined,
    moved: { user: isBuy ? -sol - fee : sol - fee, pool: sign * sol, fees: fee, tokens: sign * tokens },
    after: {
      mint: machine.mint,
      realSol: curve.realSol + sign * sol,
      reserves: {
        virtualSol: virtualSol + sign * sol,
        virtualTokens: virtualTokens - sign * tokens,
        realTokens: realTokens - sign * tokens,
        complete: isBuy && tokens === realTokens,
      },
    },
  }
}

function curveOf(virtualSol: bigint, virtualTokens: bigint, realTokens: bigint): Curve {
  return new Curve({ virtualSol, virtualTokens, realTokens, complete: true })
}

const reserves = record({
  virtualSol: bigInt({ min: SOL, max: 10_000_000n * SOL }),
  virtualTokens: bigInt({ min: 1_000_000n, max: 2_000_000_000_000_000n }),
  isPartlyReal: boolean(),
})

describe.each(Object.entries(machines))('the pool with %s', (_name, one) => {
  test.each<[string, PoolTrade]>([
    ['a buy of 1 SOL', buyIn(SOL)],
    ['a buy of an exact number of tokens', buyOut(34_000_000_000_000n)],
    ['a buy of more tokens than are for sale', buyOut(800_000_000_000_000n)],
    [
      'a buy of one base unit more than is for sale',
      buyOut(new Curve().reserves.realTokens - new Curve().quoteBuy(2n * SOL).tokens + 1n),
    ],
    ['a buy of all remaining tokens by SOL', buyIn(200n * SOL)],
    ['a sale', sale(5_000_000_000_000n)],
  ])('after %s the pool program has the same reserves as the curve', (_what, what) => {
    const curve = new Curve()
    curve.applyBuy(curve.quoteBuy(2n * SOL))
    const swap =
      what.side === 'sell'
        ? curve.quoteSell(what.tokens)
        : what.exact === 'in'
          ? curve.quoteBuy(what.lamports)
          : curve.quoteTokens(what.tokens)
    expect(trade(one, curve, what, what.side === 'sell' ? what.tokens : 7n)).toMatchObject(expected(curve, what, swap))
  })

  test('a buy from the pool program may deliver to an account that the same transaction opens', () => {
    one.load(new Curve())
    one.write(one.tokensOf(one.user), PROGRAMS.system, new Uint8Array(0), 0n)
    const open = openAta(
      one.wallet.publicKey,
      one.wallet.publicKey,
      new PublicKey(one.mint),
      new PublicKey(one.tokenProgram),
    )
    const { error } = one.send(open, poolInstruction(one.user, one.mint, buyIn(SOL), one.tokenProgram))
    expect(error).toBeUndefined()
    expect(one.tokens(one.tokensOf(one.user))).toBe(new Curve().quoteBuy(SOL).tokens)
  })

  test('the pool program calls the System program for the SOL of a buy and the token program for the tokens', () => {
    const token = one.tokenProgram
    expect(trade(one, new Curve(), buyIn(SOL), 0n).inner).toEqual([[PROGRAMS.system, PROGRAMS.system, token]])
    const curve = new Curve()
    curve.applyBuy(curve.quoteBuy(SOL))
    expect(trade(one, curve, sale(1_000_000n), 1_000_000n).inner).toEqual([[token]])
  })
})

describe('the pool program with random reserves and amounts', () => {
  // `SLUICE_POOL_RUNS=100000` makes the test longer.
  const numRuns = Number(process.env.SLUICE_POOL_RUNS ?? 400)
  const setting = { numRuns, ...(process.env.SLUICE_POOL_RUNS ? {} : { seed: 1 }) }
  const amount = constantFrom(1n, 1_000n, 1_000_000n, SOL, 100n * SOL).chain((max) => bigInt({ min: 1n, max }))

  test(`${numRuns} random buys from the pool program give the results of curve.ts, to the base unit and the lamport`, () => {
    void assert(
      property(reserves, amount, boolean(), ({ virtualSol, virtualTokens, isPartlyReal }, size, isExactIn) => {
        const curve = curveOf(virtualSol, virtualTokens, isPartlyReal ? (virtualTokens * 3n) / 4n : virtualTokens)
        const what = isExactIn ? buyIn(size, 0n) : buyOut((size * virtualTokens) / (100n * SOL))
        const swap = isExactIn ? curve.quoteBuy(size) : curve.quoteTokens(what.tokens)
        const answer = trade(machine, curve, what, 0n)
        if (swap.tokens === 0n) expect(answer.error).toBe(POOL_FAILURES.buyZeroAmount)
        else if (swap.sol + swap.fee > WALLET_LAMPORTS) expect(answer.error).toBeDefined()
        else expect(answer).toMatchObject(expected(curve, what, swap))
      }),
      setting,
    )
  })

  test(`${numRuns} random sales to the pool program give the results of curve.ts`, () => {
    void assert(
      property(reserves, amount, ({ virtualSol, virtualTokens }, size) => {
        const curve = curveOf(virtualSol, virtualTokens, virtualTokens)
        const what = sale(1n + (size * virtualTokens) / (100n * SOL))
        expect(trade(machine, curve, what, what.tokens)).toMatchObject(
          expected(curve, what, curve.quoteSell(what.tokens)),
        )
      }),
      setting,
    )
  })
})

test.each([0n, 1n, 30n, 9_999n])('the pool program rounds up a fee of %d hundredths of a percent', (bps) => {
  for (const cost of [9_999n, 10_000n, 10_001n, 20_001n]) {
    // The SOL reserve is `cost - 1` lamports. A buy of half of the tokens costs this reserve plus one lamport: `cost`.
    const { moved } = trade(machine, curveOf(cost - 1n, 2n * SOL, 2n * SOL), buyOut(SOL), 0n, bps)
    expect(moved).toMatchObject({ pool: cost, fees: (cost * bps + 9_999n) / 10_000n })
  }
})

describe('the pool program refuses a trade, and no balance changes', () => {
  const sold = () => {
    const curve = new Curve()
    curve.applyBuy(curve.quoteBuy(5n * SOL))
    return curve
  }
  const { tokens, sol, fee } = sold().quoteBuy(SOL)
  const proceeds = sold().quoteSell(tokens)
  const took = (): Curve => new Curve({ ...sold().reserves, realTokens: 0n })
  const dear = () => curveOf(1_000n, MOST / 1_000n + 1n, MOST / 1_000n + 1n)
  const rich = () => curveOf(MOST - SOL, MOST - SOL, MOST - SOL)

  test.each<[string, number, () => Curve, PoolTrade]>([
    [
      'a buy that demands one base unit more than 1 SOL pays for',
      POOL_FAILURES.belowMinimumTokens,
      sold,
      buyIn(SOL, tokens + 1n),
    ],
    [
      'a buy for one lamport less than its cost',
      POOL_FAILURES.tooMuchSolRequired,
      sold,
      buyOut(tokens, sol + fee - 1n),
    ],
    [
      'a buy of all tokens, including virtual ones',
      POOL_FAILURES.tooMuchSolRequired,
      () => curveOf(SOL, 100n, 100n),
      buyOut(100n),
    ],
    [
      'a sale for one lamport more than its proceeds',
      POOL_FAILURES.tooLittleSolReceived,
      sold,
      sale(tokens, proceeds.sol - proceeds.fee + 1n),
    ],
    ['a buy for 0 lamports', POOL_FAILURES.buyZeroAmount, sold, buyIn(0n, 0n)],
    ['a buy of 0 tokens', POOL_FAILURES.buyZeroAmount, sold, buyOut(0n)],
    ['a buy for one lamport, which the fee consumes', POOL_FAILURES.buyZeroAmount, sold, buyIn(1n, 0n)],
    ['a sale of 0 tokens', POOL_FAILURES.sellZeroAmount, sold, sale(0n)],
    ['a buy from a sold-out curve', POOL_FAILURES.bondingCurveComplete, took, buyIn(SOL)],
    ['a sale to a sold-out curve', POOL_FAILURES.bondingCurveComplete, took, sale(tokens)],
    ['a buy that overflows the SOL reserves', POOL_FAILURES.overflow, rich, buyIn(3n * SOL)],
    ['a sale that overflows the token reserves', POOL_FAILURES.overflow, rich, sale(2n * SOL)],
    [
      'a buy whose price needs more than 64 bits',
      POOL_FAILURES.overflow,
      () => curveOf(MOST - SOL, 1_000n, 1_000n),
      buyOut(999n),
    ],
    [
      'a buy whose price needs just more than 64 bits',
      POOL_FAILURES.overflow,
      () => curveOf((MOST / 2_000n) * 3n, 1_001n, 1_001n),
      buyOut(1_000n),
    ],
    [
      'a buy whose cost with the fee needs more than 64 bits',
      POOL_FAILURES.tooMuchSolRequired,
      dear,
      buyOut(MOST / 1_000n),
    ],
    [
      'a buy after which the SOL of the pool need more than 64 bits',
      POOL_FAILURES.overflow,
      () => curveOf(MOST - SOL, 2n * SOL, 2n * SOL),
      buyOut(1n),
    ],
    [
      'a sale after which the tokens of the pool need more than 64 bits',
      POOL_FAILURES.overflow,
      () => curveOf(1_000n, MOST, MOST),
      sale(2n * SOL),
    ],
    ['a sale for more SOL than buyers have paid in', POOL_FAILURES.overflow, () => new Curve(), sale(SOL)],
  ])('the pool program refuses %s with error %d, and no balance changes', (_what, error, curve, what) => {
    const before = curve()
    const answer = trade(machine, before, what, what.side === 'sell' ? what.tokens : 0n)
    expect(answer).toMatchObject({ error, place: 0, moved: { user: 0n, pool: 0n, fees: 0n, tokens: 0n } })
    expect(answer.after?.reserves).toMatchObject({ virtualSol: before.reserves.virtualSol })
  })

  test.each([
    ['exactly the tokens that 1 SOL pays for', buyIn(SOL, tokens)],
    ['exactly the cost of a buy', buyOut(tokens, sol + fee)],
    ['exactly the proceeds of a sale', sale(tokens, proceeds.sol - proceeds.fee)],
  ])('the pool program executes a trade with a limit of %s', (_what, what) => {
    expect(trade(machine, sold(), what, what.side === 'sell' ? tokens : 0n).error).toBeUndefined()
  })
})

describe('the pool program refuses wrong accounts and data', () => {
  const thief = address('thief').toBase58()
  const other = address('other mint').toBase58()
  const fee = (accounts: InstructionAccount[]) => accounts.with(1, { address: thief, signer: false, writable: true })
  const at = (place: number, changed: Partial<InstructionAccount>) => (accounts: InstructionAccount[]) =>
    accounts.with(place, { ...(accounts[place] as InstructionAccount), ...changed })

  test.each<[string, number | string, (accounts: InstructionAccount[]) => InstructionAccount[]]>([
    ['another account receives the fee', 2003, fee],
    ['the pool is of another mint', 2003, at(2, { address: other })],
    ['the pool account does not exist', 3007, at(3, { address: thief })],
    ['the pool is the fee account', 3007, at(3, { address: CURVE_FEES })],
    ["the vault is the user's own account", 2003, at(4, { address: machine.tokensOf(machine.user) })],
    ['the token program is another program', 3007, at(8, { address: PROGRAMS.token2022 })],
    ['the user has not signed', 3010, at(6, { address: thief, signer: false })],
    ['an account is missing', 3005, (accounts) => accounts.slice(0, 15)],
    ['there are too many accounts', 3005, (accounts) => [...accounts, ...Array(9).fill(accounts[0])]],
  ])('the pool program refuses wrong accounts (%s) with error %s', (_what, error, change) => {
    machine.load(new Curve())
    machine.hold(machine.user, 0n)
    machine.write(other, machine.tokenProgram, machine.data(machine.mint))
    const good = poolInstruction(machine.user, machine.mint, buyIn(SOL))
    expect(machine.send({ ...good, accounts: change(good.accounts) })).toMatchObject({ error, place: 0 })
    expect(machine.tokens(machine.tokensOf(machine.user))).toBe(0n)
  })

  test('the pool program does not accept tokens of another mint', () => {
    const curve = new Curve()
    curve.applyBuy(curve.quoteBuy(SOL))
    machine.load(curve)
    const held = (owner: string) => {
      const where = tokenAccountAddress(owner, other)
      machine.write(where, machine.tokenProgram, encodeTokenAccount({ mint: other, owner, amount: 1_000_000n }))
      return { address: where }
    }
    machine.write(other, machine.tokenProgram, machine.data(machine.mint))
    const good = poolInstruction(machine.user, machine.mint, sale(1_000_000n))
    const changes = [at(2, { address: other }), at(4, held(poolOf(machine.mint))), at(5, held(machine.user))]
    const accounts = changes.reduce((all, change) => change(all), good.accounts)
    expect(machine.send({ ...good, accounts })).toMatchObject({ error: 2003, place: 0 })
  })

  test.each([0, 8])('the pool program refuses an account with only the first %d bytes of a pool', (count) => {
    machine.load(new Curve())
    const pool = machine.data(poolOf(machine.mint))
    const bytes = count === 0 ? new Uint8Array(pool.length) : pool.slice(0, count)
    machine.write(poolOf(machine.mint), POOL_PROGRAM, bytes)
    expect(machine.send(poolInstruction(machine.user, machine.mint, buyIn(SOL)))).toMatchObject({ error: 3012 })
  })

  test('the pool program refuses a vault that the token program does not own', () => {
    const curve = new Curve()
    curve.applyBuy(curve.quoteBuy(SOL))
    machine.load(curve)
    const token = { mint: machine.mint, owner: poolOf(machine.mint), amount: 0n }
    machine.write(vaultOf(machine.mint), thief, encodeTokenAccount(token))
    expect(machine.send(poolInstruction(machine.user, machine.mint, sale(5n)))).toMatchObject({ error: 3007, place: 0 })
  })

  test.each<[string, number, Uint8Array]>([
    ['no bytes', 101, Buffer.alloc(0)],
    [
      "an instruction of pump.fun's that it does not have",
      101,
      Buffer.from(`181ec828051c0777${'00'.repeat(16)}`, 'hex'),
    ],
    ['a buy without its amounts', 102, Buffer.from('66063d1201daebea01', 'hex')],
    ['a buy with extra bytes', 102, Buffer.from(`66063d1201daebea${'01'.repeat(19)}`, 'hex')],
  ])('the pool program refuses data with %s with error %d', (_what, error, data) => {
    machine.load(new Curve())
    const good = poolInstruction(machine.user, machine.mint, buyIn(SOL))
    expect(machine.send({ ...good, data })).toMatchObject({ error, place: 0 })
  })
})
