import { describe, expect, it } from 'vitest'
import {
  curveAddresses,
  curveProgramsOf,
  poolAddresses,
  readCurve,
  readPool,
} from '../../../src/chain/rpc/pool-reader.ts'
import { encodePool, POOL_PROGRAM } from '../../../src/sandbox/chain/pool-program.ts'
import { Curve } from '../../../src/solana/bonding-curve.ts'
import { PROGRAMS, WSOL_MINT } from '../../../src/solana/programs.ts'
import type { AccountState } from '../../../src/solana/token-account.ts'
import { keyBytes } from '../../../src/solana/transaction.ts'
import { keyOf, MINT } from '../landed.ts'
import { mintBytes } from '../mint-bytes.ts'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const ODD = keyOf(99)
const POOL = poolAddresses(MINT, PROGRAMS.token)[1] as string

const account = (owner: string, data: Uint8Array, lamports = 5_000_000_000n): AccountState => ({
  ...{ lamports, owner, executable: false, data },
})
const mint = account(PROGRAMS.token, mintBytes())

/** Returns a pump.fun curve with 5 SOL paid in. Its initial reserves were 30 SOL and 1.073e9 tokens, both virtual. */
function curve(change: (data: Buffer) => void = () => {}, bytes = 151): AccountState {
  const data = Buffer.alloc(bytes)
  data.write('17b7f83760d8ac60', 'hex')
  for (const [index, value] of [919_714_285_714_286n, 35_000_000_000n, 639_814_285_714_286n, 5_000_000_000n].entries())
    data.writeBigUInt64LE(value, 8 + 8 * index)
  change(data)
  return account(PROGRAMS.bondingCurve, data)
}

function pool(change: (data: Buffer) => void = () => {}, bytes = 300): AccountState {
  const data = Buffer.alloc(bytes)
  data.write('f19a6d0411b16dbc', 'hex')
  const [, , base, quote] = poolAddresses(MINT, PROGRAMS.token)
  for (const [index, key] of [ODD, MINT, WSOL_MINT, ODD, base as string, quote as string].entries())
    data.set(keyBytes(key), 11 + 32 * index)
  change(data)
  return account(PROGRAMS.pumpSwap, data)
}

function vault(mintKey: string, tokens: bigint, owner = POOL, program: string = PROGRAMS.token): AccountState {
  const data = Buffer.alloc(165)
  data.set(keyBytes(mintKey), 0)
  data.set(keyBytes(owner), 32)
  data.writeBigUInt64LE(tokens, 64)
  return account(program, data)
}

const base = vault(MINT, 206_900_000_000_000n)
const quote = vault(WSOL_MINT, 85_000_000_000n)
const PUMP = [PROGRAMS.bondingCurve]
const code = (found: object | 'migrated'): unknown => (found === 'migrated' || !('code' in found) ? found : found.code)

describe('a bonding curve', () => {
  it('the curve of a mint is at the derived address of pump.fun, and of each program that a policy names', () => {
    const named = curveProgramsOf([
      { id: POOL_PROGRAM, decode: 'pump' },
      { id: PROGRAMS.pumpSwap, decode: 'pump-swap' },
    ])
    expect(named).toEqual([PROGRAMS.bondingCurve, POOL_PROGRAM])
    expect(curveAddresses('J5p7z5dZew83HwpFnUqr1HL2S29sn8i7S8eFNwDUpump', named)).toHaveLength(3)
  })

  const sides = { lamports: 35_000_000_000n, tokens: 919_714_285_714_286n, decimals: 6 }
  const at = (place: number, value: bigint) => curve((data) => void data.writeBigUInt64LE(value, place))
  it.each<[what: string, curve: AccountState | null, found: unknown]>([
    ['a curve in the current layout', curve(), sides],
    ['a curve in the oldest layout', curve(undefined, 49), sides],
    ['a curve in the layout without a quote mint', curve(undefined, 83), sides],
    ['a curve whose quote mint is wrapped SOL', curve((data) => data.set(keyBytes(WSOL_MINT), 83)), sides],
    ['a curve whose quote mint is USDC', curve((data) => data.set(keyBytes(USDC), 83)), 'POOL_UNREADABLE'],
    ['a curve that is sold out', curve((data) => data.writeUInt8(1, 48)), 'migrated'],
    ['a curve whose account does not exist', null, 'migrated'],
    ['an account of a foreign program at the address of the curve', account(ODD, curve().data), 'migrated'],
    ['an address of a curve that only received SOL', account(PROGRAMS.system, new Uint8Array(0)), 'migrated'],
    [
      'an account of the curve program, but of another type, at the address of the curve',
      curve((data) => data.writeUInt8(0, 0)),
      'POOL_UNREADABLE',
    ],
    ['a curve with too few bytes', curve(undefined, 48), 'POOL_UNREADABLE'],
    [
      'a curve with more SOL in its data than in its balance',
      account(PROGRAMS.bondingCurve, curve().data, 4_999_999_999n),
      'POOL_UNREADABLE',
    ],
    ['a curve with more virtual tokens than possible', at(24, 10n ** 15n), 'POOL_UNREADABLE'],
    ['a curve without tokens', curve((data) => data.fill(0, 8, 32)), 'POOL_UNREADABLE'],
    ['a curve without SOL', curve((data) => data.fill(0, 16, 48)), 'POOL_UNREADABLE'],
  ])('%s is read or refused', (_what, found, expected) => {
    expect(code(readCurve([mint, found], PUMP))).toEqual(expected)
  })

  it.each<[what: string, mint: AccountState | null]>([
    ['nothing', null],
    ['an account of a foreign program', account(ODD, mintBytes())],
    ['a token account', vault(MINT, 1n)],
  ])('a curve or pool is refused if the account of its mint is %s', (_what, instead) => {
    expect(code(readCurve([instead, curve()], PUMP))).toBe('POOL_UNREADABLE')
    expect(code(readPool([instead, pool(), base, quote], MINT))).toBe('POOL_UNREADABLE')
  })

  it("the curve of the sandbox has the same price as the sandbox's market", () => {
    const market = new Curve()
    market.moveTo(3e-7)
    const owned = account(POOL_PROGRAM, encodePool(MINT, market), 10n ** 15n)
    const found = readCurve([mint, null, owned], [PROGRAMS.bondingCurve, POOL_PROGRAM])
    const { virtualSol, virtualTokens } = market.reserves
    expect(found).toEqual({ lamports: virtualSol, tokens: virtualTokens, decimals: 6 })
  })
})

describe('the pool to which a token moves after its curve', () => {
  const virtual = (value: bigint) =>
    pool((data) => {
      data.writeBigInt64LE(BigInt.asIntN(64, value), 245)
      data.writeBigInt64LE(value >> 64n, 253)
    })
  const sides = (lamports: bigint) => ({ lamports, tokens: 206_900_000_000_000n, decimals: 6 })
  it.each<[what: string, accounts: (AccountState | null)[], found: unknown]>([
    ['a pool in the current layout', [pool(), base, quote], sides(85_000_000_000n)],
    ['a pool in the oldest layout', [pool(undefined, 211), base, quote], sides(85_000_000_000n)],
    ['a pool in the layout before the current one', [pool(undefined, 252), base, quote], sides(85_000_000_000n)],
    ['a pool with additional virtual SOL', [virtual(17_580_000_000n), base, quote], sides(102_580_000_000n)],
    ['a pool with unclaimed fees', [virtual(-30_000_000n), base, quote], sides(84_970_000_000n)],
    ['a pool with more unclaimed fees than SOL', [virtual(-85_000_000_001n), base, quote], 'POOL_UNREADABLE'],
    ['a pool with an impossible amount of virtual SOL', [virtual(2n ** 100n), base, quote], 'POOL_UNREADABLE'],
    ['a pool whose account does not exist', [null, base, quote], 'POOL_UNREADABLE'],
    [
      'an account of a foreign program at the address of the pool',
      [account(ODD, pool().data), base, quote],
      'POOL_UNREADABLE',
    ],
    [
      'an account of the right program that is no pool, at the address of the pool',
      [pool((data) => data.writeUInt8(0, 0)), base, quote],
      'POOL_UNREADABLE',
    ],
    ['a pool of another token', [pool((data) => data.set(keyBytes(ODD), 43)), base, quote], 'POOL_UNREADABLE'],
    ['a pool whose quote mint is USDC', [pool((data) => data.set(keyBytes(USDC), 75)), base, quote], 'POOL_UNREADABLE'],
    ['a pool that names another vault', [pool((data) => data.set(keyBytes(ODD), 171)), base, quote], 'POOL_UNREADABLE'],
    ['a pool that is drained of SOL', [pool(), base, vault(WSOL_MINT, 9_999_999n)], 'POOL_UNREADABLE'],
    ['a pool that is drained of tokens', [pool(), vault(MINT, 0n), quote], 'POOL_UNREADABLE'],
    ['a pool whose vault does not exist', [pool(), null, quote], 'POOL_UNREADABLE'],
    ['a pool whose vault has another owner', [pool(), base, vault(WSOL_MINT, 10n ** 12n, ODD)], 'POOL_UNREADABLE'],
    [
      'a pool whose vault does not belong to a token program',
      [pool(), base, vault(WSOL_MINT, 10n ** 12n, POOL, ODD)],
      'POOL_UNREADABLE',
    ],
    ['a pool whose vault holds another token', [pool(), base, vault(USDC, 10n ** 12n)], 'POOL_UNREADABLE'],
  ])('%s is read or refused', (_what, [found = null, tokens = null, lamports = null], expected) => {
    expect(code(readPool([mint, found, tokens, lamports], MINT))).toEqual(expected)
  })
})
