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

/**
 * Returns a pump.fun curve of the current size: reserves of 30 SOL and 1.073e9 tokens, both virtual, and 5 SOL paid in.
 */
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
    ['in the current layout', curve(), sides],
    ['in the oldest layout', curve(undefined, 49), sides],
    ['in the layout without a quote mint', curve(undefined, 83), sides],
    ['against wrapped SOL', curve((data) => data.set(keyBytes(WSOL_MINT), 83)), sides],
    ['against USDC', curve((data) => data.set(keyBytes(USDC), 83)), 'POOL_UNREADABLE'],
    ['sold out', curve((data) => data.writeUInt8(1, 48)), 'migrated'],
    ['not there', null, 'migrated'],
    ['of a foreign program at the same address', account(ODD, curve().data), 'migrated'],
    ['that only received a transfer of SOL', account(PROGRAMS.system, new Uint8Array(0)), 'migrated'],
    ['another account of the program', curve((data) => data.writeUInt8(0, 0)), 'POOL_UNREADABLE'],
    ['cut short', curve(undefined, 48), 'POOL_UNREADABLE'],
    [
      'with more SOL in its data than in its balance',
      account(PROGRAMS.bondingCurve, curve().data, 4_999_999_999n),
      'POOL_UNREADABLE',
    ],
    ['with more virtual tokens than possible', at(24, 10n ** 15n), 'POOL_UNREADABLE'],
    ['with no tokens', curve((data) => data.fill(0, 8, 32)), 'POOL_UNREADABLE'],
    ['with no SOL', curve((data) => data.fill(0, 16, 48)), 'POOL_UNREADABLE'],
  ])('%s', (_what, found, expected) => {
    expect(code(readCurve([mint, found], PUMP))).toEqual(expected)
  })

  it.each<[what: string, mint: AccountState | null]>([
    ['nothing', null],
    ['an account of a foreign program', account(ODD, mintBytes())],
    ['a token account', vault(MINT, 1n)],
  ])('a curve or pool of a mint that is %s is refused', (_what, instead) => {
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

describe('the pool that follows the curve', () => {
  const virtual = (value: bigint) =>
    pool((data) => {
      data.writeBigInt64LE(BigInt.asIntN(64, value), 245)
      data.writeBigInt64LE(value >> 64n, 253)
    })
  const sides = (lamports: bigint) => ({ lamports, tokens: 206_900_000_000_000n, decimals: 6 })
  it.each<[what: string, accounts: (AccountState | null)[], found: unknown]>([
    ['in the current layout', [pool(), base, quote], sides(85_000_000_000n)],
    ['in the oldest layout', [pool(undefined, 211), base, quote], sides(85_000_000_000n)],
    ['in the layout of some months ago', [pool(undefined, 252), base, quote], sides(85_000_000_000n)],
    ['with added virtual depth', [virtual(17_580_000_000n), base, quote], sides(102_580_000_000n)],
    ['with unclaimed fees', [virtual(-30_000_000n), base, quote], sides(84_970_000_000n)],
    ['with more fees than SOL', [virtual(-85_000_000_001n), base, quote], 'POOL_UNREADABLE'],
    ['with an impossible depth', [virtual(2n ** 100n), base, quote], 'POOL_UNREADABLE'],
    ['not there', [null, base, quote], 'POOL_UNREADABLE'],
    ['of a foreign program at the same address', [account(ODD, pool().data), base, quote], 'POOL_UNREADABLE'],
    ['another account of the program', [pool((data) => data.writeUInt8(0, 0)), base, quote], 'POOL_UNREADABLE'],
    ['of another token', [pool((data) => data.set(keyBytes(ODD), 43)), base, quote], 'POOL_UNREADABLE'],
    ['against USDC', [pool((data) => data.set(keyBytes(USDC), 75)), base, quote], 'POOL_UNREADABLE'],
    ['with another vault', [pool((data) => data.set(keyBytes(ODD), 171)), base, quote], 'POOL_UNREADABLE'],
    ['drained of SOL', [pool(), base, vault(WSOL_MINT, 9_999_999n)], 'POOL_UNREADABLE'],
    ['drained of tokens', [pool(), vault(MINT, 0n), quote], 'POOL_UNREADABLE'],
    ['without a vault', [pool(), null, quote], 'POOL_UNREADABLE'],
    ['with a vault of another owner', [pool(), base, vault(WSOL_MINT, 10n ** 12n, ODD)], 'POOL_UNREADABLE'],
    [
      'with a vault outside the token programs',
      [pool(), base, vault(WSOL_MINT, 10n ** 12n, POOL, ODD)],
      'POOL_UNREADABLE',
    ],
    ['with a vault of another token', [pool(), base, vault(USDC, 10n ** 12n)], 'POOL_UNREADABLE'],
  ])('%s', (_what, [found = null, tokens = null, lamports = null], expected) => {
    expect(code(readPool([mint, found, tokens, lamports], MINT))).toEqual(expected)
  })
})
