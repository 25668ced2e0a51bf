import { describe, expect, test } from 'vitest'
import { lamports, solToLamports } from '../../src/base/units.ts'
import type { SignRequest } from '../../src/chain/signer/port.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { BUILT_IN_POLICY, type BuilderPolicy } from '../../src/orders/builder-policy.ts'
import {
  ATTACKS,
  type Attack,
  HOSTILE_PROGRAM,
  hostileInstruction,
  THIEF,
  TRAP,
} from '../../src/sandbox/chain/hostile-program.ts'
import type { Call } from '../../src/sandbox/chain/message.ts'
import { CURVE_FEES, POOL_PROGRAM } from '../../src/sandbox/chain/pool-program.ts'
import { tokenAccountAddress } from '../../src/sandbox/keys.ts'
import { decodeBase58 } from '../../src/solana/base58.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decodeMessage } from '../../src/solana/transaction.ts'
import { MINT } from '../sandbox/still-market.ts'
import { LocalRig } from './local-rig.ts'

// The service builds with an opaque program, whose instructions Sluice cannot read. The program trades honestly in
// every simulation, and steals when the signed transaction executes.

const policy = (guard: BuilderPolicy['guard']): BuilderPolicy => ({
  ...BUILT_IN_POLICY,
  programs: [
    {
      id: HOSTILE_PROGRAM,
      decode: 'opaque',
      ...{ buy: ['38fc74089edfcd5f'], sell: ['33e685a4017f83ad'], mintIndex: 2, userIndex: 6 },
    },
  ],
  innerPrograms: [POOL_PROGRAM],
  opaqueAccounts: [CURVE_FEES, THIEF],
  maxWalletLamports: lamports(1e12),
  guard,
})

/** Returns the calls of the trade. The hostile program takes the place of the pool's program. */
function byTheHostile(rig: LocalRig, attempt: Attempt, extra: Call[] = []): Call[] {
  const [loot, prey] = [THIEF, rig.user].map((owner) => tokenAccountAddress(owner, MINT)) as [string, string]
  return rig.trade(attempt).flatMap((call) => {
    if (call.program !== POOL_PROGRAM) return [call]
    const ambush = { trap: TRAP, thief: THIEF, loot, prey, preyMint: MINT }
    const hollow = hostileInstruction(rig.user, MINT, { side: 'sell', exact: 'out', lamports: 0n, tokens: 1n }, ambush)
    return [
      ...extra,
      { program: HOSTILE_PROGRAM, data: call.data, accounts: [...call.accounts, ...hollow.accounts.slice(-5)] },
    ]
  })
}

/** Returns a rig whose wallet already holds tokens. */
async function ambushed(guard: BuilderPolicy['guard']): Promise<LocalRig> {
  const rig = await LocalRig.open()
  rig.execute(rig.buy(0.1))
  await rig.slots(40)
  rig.policy = policy(guard)
  await rig.crash()
  await rig.slots(5)
  rig.build = async (attempt) => rig.built(attempt, { calls: () => byTheHostile(rig, attempt) })
  return rig
}

const BOUND = 0.15
const SALE_BOUND = 0.01
/** The minimum output of a buy of 0.1 SOL after slippage, in base units. */
const LEAST = 3_000_000_000_000n
/** The base fee plus the priority fee, lamports. */
const FEES = 15_000

interface Outcome {
  kinds: string
  code: string | undefined
  /** The change of the wallet's balance. */
  lamports: number
  tokens: bigint
  /** The assets and rights that the thief gained. */
  harm: string[]
}

async function trade(rig: LocalRig, side: 'buy' | 'sell', attack: Attack, amount: bigint): Promise<Outcome> {
  rig.reserved = {
    boundLamports: solToLamports(side === 'buy' ? BOUND : SALE_BOUND),
    reservedLamports: rig.reservedByOthers,
    headroomLamports: 0,
  }
  const order = side === 'buy' ? rig.buy(0.1) : rig.sell()
  const [before, held] = [rig.lamports, rig.held()]
  const thief = rig.chain.ledger.account(THIEF, 'processed')?.lamports ?? 0
  rig.fault = (method, _params, honest) => {
    if (method === 'sendTransaction') rig.chain.ambush.arm(attack, 0, amount)
    return honest()
  }
  rig.execute(order)
  await rig.slots(45)
  const own = account(rig, tokenAccountAddress(rig.user, MINT))
  const wallet = rig.chain.ledger.account(rig.user, 'processed')
  const last = rig.last(order)
  const isFilled = rig.kinds(order).includes('filled')
  const least = side === 'sell' ? 0n : isFilled ? held + LEAST : held
  const harms: [string, boolean][] = [
    ['wallet of a program', wallet?.owner !== PROGRAMS.system],
    ['wallet with data', (wallet?.data.length ?? 0) > 0],
    ['lamports', (rig.chain.ledger.account(THIEF, 'processed')?.lamports ?? 0) > thief],
    ['tokens', own !== undefined && own.readBigUInt64LE(64) < least],
    ['no account', own === undefined],
    ['owner', own !== undefined && !own.subarray(32, 64).equals(decodeBase58(rig.user, 32)!)],
    ['delegate', own !== undefined && own.readUInt32LE(72) !== 0],
    ['right to close', own !== undefined && own.readUInt32LE(129) !== 0],
  ]
  return {
    kinds: rig.kinds(order),
    code: last !== undefined && 'code' in last ? last.code : undefined,
    lamports: rig.lamports - before,
    tokens: (own?.readBigUInt64LE(64) ?? 0n) - held,
    harm: harms.filter(([, isSo]) => isSo).map(([what]) => what),
  }
}

function account(rig: LocalRig, address: string): Buffer | undefined {
  const found = rig.chain.ledger.account(address, 'processed')
  return found && Buffer.from(found.data)
}

/**
 * Amounts that these attacks take: more than the slippage and the cost limit of the order allow. All other attacks take
 * 1 SOL.
 */
const LOOT: Readonly<Partial<Record<Attack, bigint>>> = {
  'take tokens': 2_000_000_000_000n,
  'burn tokens': 2_000_000_000_000n,
  'give nothing': 100_000_000n,
}
const lootOf = (attack: Attack): bigint => LOOT[attack] ?? 1_000_000_000n

test('an honest program whose instructions cannot be read trades if the signer adds guards', async () => {
  const rig = await ambushed('required')
  for (const side of ['buy', 'sell'] as const) {
    const order = side === 'buy' ? rig.buy(0.1) : rig.sell()
    rig.reserved = { boundLamports: solToLamports(BOUND), reservedLamports: 0, headroomLamports: 0 }
    rig.execute(order)
    await rig.slots(45)
    expect(rig.kinds(order)).toBe('verified signed sent filled? filled!')
  }
  expect(rig.held()).toBe(0n)
})

test('orders that use an opaque program are sent one at a time, sales first, so that no order reduces the balance below the floor of the next', async () => {
  const rig = await ambushed('required')
  rig.reserved = { boundLamports: solToLamports(BOUND), reservedLamports: 0, headroomLamports: 0 }
  const [first, second, sale] = [rig.buy(0.1), rig.buy(0.12), rig.sell()]
  for (const order of [first, second, sale]) rig.execute(order)
  await rig.slots(60)
  for (const order of [first, second, sale]) expect(rig.kinds(order)).toBe('verified signed sent filled? filled!')
})

test('the cost limit in the request to the signer is the largest loss that the balance floor allows', async () => {
  const rig = await ambushed('required')
  rig.reserved = {
    boundLamports: solToLamports(BOUND),
    reservedLamports: solToLamports(1),
    headroomLamports: solToLamports(2),
  }
  const requests: SignRequest[] = []
  const { sign } = rig
  rig.sign = (request) => {
    requests.push(request)
    return sign(request)
  }
  const held = rig.lamports
  rig.execute(rig.buy(0.1))
  await rig.slots(10)
  const [{ message, boundLamports }] = requests as [SignRequest]
  const decoded = decodeMessage(message)
  if (!decoded.ok) throw new Error(decoded.reason)
  const floors = decoded.message.instructions.flatMap(({ data, accounts }) => {
    const isFloor = data.length === 12 && data[0] === 2 && accounts.every((place) => place === 0)
    return isFloor ? [Buffer.from(data).readBigUInt64LE(4)] : []
  })
  expect(floors).toEqual([BigInt(held) - boundLamports])
  expect(boundLamports).toBe(BigInt(solToLamports(BOUND)))
})

describe.each(['buy', 'sell'] as const)('an attack when a signed %s executes', (side) => {
  // After a buy, the account cannot be closed, because it holds tokens. After a full sale, no tokens are left that
  // could be taken or burned.
  const possible = ATTACKS.filter((attack) =>
    side === 'buy' ? attack !== 'close the account' : attack !== 'take tokens' && attack !== 'burn tokens',
  )

  test.each(possible)('without guards, the attack "%s" succeeds', async (attack) => {
    const rig = await ambushed('off')
    expect((await trade(rig, side, attack, lootOf(attack))).harm).not.toEqual([])
  })

  test.each(ATTACKS)('with guards, the attack "%s" takes no more than the order may cost', async (attack) => {
    const rig = await ambushed('required')
    const { kinds, lamports, tokens, harm } = await trade(rig, side, attack, lootOf(attack))
    expect(harm).toEqual([])
    if (kinds.includes('filled')) {
      // The order was filled. Including everything that the attack took, the order cost no more than its limit.
      expect(lamports).toBeGreaterThanOrEqual(side === 'buy' ? -solToLamports(BOUND) : 0)
      if (side === 'buy') expect(tokens).toBeGreaterThanOrEqual(LEAST)
    } else {
      expect(kinds).toBe('verified signed sent reverted? reverted!')
      expect(lamports).toBeGreaterThanOrEqual(-FEES)
      expect(tokens).toBe(0n)
    }
  })

  test('an attack cannot take SOL that other orders reserve', async () => {
    const rig = await ambushed('required')
    rig.reservedByOthers = solToLamports(1)
    const { lamports } = await trade(rig, side, 'take lamports', 900_000_000n)
    expect(lamports).toBeGreaterThanOrEqual(-solToLamports(side === 'buy' ? BOUND : SALE_BOUND))
  })

  // The cost limit of an order is higher than the cost of an honest trade, so a thief can take the difference: 0.05 SOL
  // minus rent and fees for a buy, and 0.01 SOL plus the slippage for a sale.
  test.each([1n, 1_000_000n, 10_000_000n, 40_000_000n, 60_000_000n, 9_000_000_000n])(
    'if a program tries to steal %d lamports, the order costs no more than its cost limit',
    async (amount) => {
      const rig = await ambushed('required')
      const { lamports } = await trade(rig, side, 'take lamports', amount)
      expect(lamports).toBeGreaterThanOrEqual(-solToLamports(side === 'buy' ? BOUND : SALE_BOUND))
    },
  )
})
