import { assert, bigInt, constantFrom, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withGuards } from '../../../src/chain/verifier/guards.ts'
import {
  ATTACKS,
  type Attack,
  encodeTrap,
  HOSTILE_PROGRAM,
  hostileBinary,
  hostileInstruction,
} from '../../../src/sandbox/chain/hostile-program.ts'
import { type PoolTrade, type ProgramInstruction, poolInstruction } from '../../../src/sandbox/chain/pool-program.ts'
import { tokenAccountAddress } from '../../../src/sandbox/keys.ts'
import { encodeBase58 } from '../../../src/solana/base58.ts'
import { Curve } from '../../../src/solana/bonding-curve.ts'
import { TOKEN_DECIMALS } from '../../../src/solana/constants.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { encodeMint, encodeTokenAccount } from '../../../src/solana/token-account.ts'
import { address } from '../../chain/verifier/draft.ts'
import { Machine, WALLET_LAMPORTS } from './machine.ts'

const SOL = 1_000_000_000n
const BASE_FEE = 5_000n
const HELD = 9_000_000n
const [trap, thief, otherMint] = ['trap', 'thief', 'other mint'].map((name) => address(name).toBase58()) as [
  string,
  string,
  string,
]

/** Solana's runtime with a wallet that holds two mints, and a thief who controls the hostile program. */
class Ambushed extends Machine {
  slot = 10n

  constructor(tokenProgram?: string) {
    super(tokenProgram)
    this.svm.addProgram(HOSTILE_PROGRAM as Parameters<typeof this.svm.addProgram>[0], hostileBinary())
    this.write(otherMint, this.tokenProgram, encodeMint())
  }

  get own(): string {
    return this.tokensOf(this.user)
  }

  get other(): string {
    return tokenAccountAddress(this.user, otherMint, this.tokenProgram)
  }

  /** Sets the balances of the wallet before an attack. */
  reset(held: bigint): void {
    const curve = new Curve()
    curve.applyBuy(curve.quoteBuy(3n * SOL))
    this.load(curve)
    this.write(this.user, PROGRAMS.system, new Uint8Array(0), WALLET_LAMPORTS)
    this.write(thief, PROGRAMS.system, new Uint8Array(0))
    this.hold(this.user, held)
    this.hold(thief, 0n)
    for (const [owner, amount] of [
      [this.user, HELD],
      [thief, 0n],
    ] as const) {
      const where = tokenAccountAddress(owner, otherMint, this.tokenProgram)
      this.write(where, this.tokenProgram, encodeTokenAccount({ mint: otherMint, owner, amount }))
    }
    this.arm(undefined)
  }

  arm(attack: Attack | undefined, amount = 0n, fromSlot = 0n): void {
    this.write(trap, HOSTILE_PROGRAM, encodeTrap(attack, fromSlot, amount))
  }

  /** Ends the slot. */
  wait(): void {
    this.slot += 1n
    this.svm.warpToSlot(this.slot)
  }

  trade(trade: PoolTrade, victim: 'own' | 'other' = 'own'): ProgramInstruction {
    const preyMint = victim === 'own' ? this.mint : otherMint
    const loot = tokenAccountAddress(thief, preyMint, this.tokenProgram)
    const ambush = { trap, thief, loot, prey: this[victim], preyMint }
    return hostileInstruction(this.user, this.mint, trade, ambush, this.tokenProgram)
  }

  /** Returns the losses beyond the limits of the order. The list must be empty. */
  harm({ floor, tokens }: Allowed): string[] {
    const data = Buffer.from(this.data(this.own))
    const wallet = this.svm.getAccount(this.user as Parameters<typeof this.svm.getAccount>[0])
    const harms: [string, boolean][] = [
      ['lamports gone', this.lamports(this.user) < floor],
      ['wallet of another program', wallet.exists && wallet.programAddress !== PROGRAMS.system],
      ['wallet with data', wallet.exists && wallet.data.length > 0],
      ['account gone', data.length === 0],
      ['tokens gone', data.length > 0 && data.readBigUInt64LE(64) < tokens],
      ['owner changed', data.length > 0 && encodeBase58(data.subarray(32, 64)) !== this.user],
      ['delegate', data.length > 0 && data.readUInt32LE(72) !== 0],
      ['right to close', data.length > 0 && data.readUInt32LE(129) !== 0],
      ['another token gone', this.tokens(this.other) < HELD],
    ]
    return harms.filter(([, isSo]) => isSo).map(([what]) => what)
  }
}

/** The limits of the order: the least lamports and base units that the wallet must have after the order. */
interface Allowed {
  floor: bigint
  tokens: bigint
}

function allowedBy({ side, lamports, tokens }: PoolTrade, held: bigint): Allowed {
  return side === 'buy'
    ? { floor: WALLET_LAMPORTS - lamports - BASE_FEE, tokens: held + tokens }
    : { floor: WALLET_LAMPORTS + lamports - BASE_FEE, tokens: held - tokens }
}

type Guard = (machine: Ambushed, allowed: Allowed) => ProgramInstruction

const signer = (where: string) => ({ address: where, signer: true, writable: true })
const writable = (where: string) => ({ address: where, signer: false, writable: true })
const fixed = (where: string) => ({ address: where, signer: false, writable: false })

/** System.transfer from the wallet to itself. Fails unless the wallet has the lamports and is a system account. */
const floorGuard: Guard = ({ user }, { floor }) => {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2)
  data.writeBigUInt64LE(floor, 4)
  return { program: PROGRAMS.system, accounts: [signer(user), writable(user)], data }
}

/** TransferChecked from the token account to itself. Fails unless the account has the tokens and belongs to the
 *  wallet. */
const tokenGuard: Guard = ({ user, own, mint, tokenProgram }, { tokens }) => {
  const data = Buffer.alloc(10)
  data[0] = 12
  data.writeBigUInt64LE(tokens, 1)
  data[9] = TOKEN_DECIMALS
  return { program: tokenProgram, accounts: [writable(own), fixed(mint), writable(own), signer(user)], data }
}

/** Revoke: removes any delegation, the right of another account to spend the tokens. */
const revoke: Guard = ({ user, own, tokenProgram }) => ({
  program: tokenProgram,
  accounts: [writable(own), signer(user)],
  data: Uint8Array.of(5),
})

/** SetAuthority(CloseAccount, none). Only the holder of this right can give it up: the wallet, unless the right was
 *  stolen. */
const keepClosing: Guard = ({ user, own, tokenProgram }) => ({
  program: tokenProgram,
  accounts: [writable(own), signer(user)],
  data: Uint8Array.of(6, 3, 0),
})

const two: readonly Guard[] = [floorGuard, tokenGuard]
const four: readonly Guard[] = [...two, revoke, keepClosing]

const buy: PoolTrade = { side: 'buy', exact: 'in', lamports: SOL, tokens: 25_000_000_000_000n }
const sellPart: PoolTrade = { side: 'sell', exact: 'out', lamports: SOL / 10n, tokens: 10_000_000_000_000n }
const held = 20_000_000_000_000n
const sellAll: PoolTrade = { ...sellPart, tokens: held }

const machines = { Token: new Ambushed(PROGRAMS.token), 'Token-2022': new Ambushed(PROGRAMS.token2022) }

function run(machine: Ambushed, trade: PoolTrade, guards: readonly Guard[], victim?: 'own' | 'other') {
  const allowed = allowedBy(trade, held)
  const answer = machine.send(machine.trade(trade, victim), ...guards.map((guard) => guard(machine, allowed)))
  const before = { floor: WALLET_LAMPORTS - BASE_FEE, tokens: held }
  return { ...answer, harm: machine.harm(answer.error === undefined ? allowed : before) }
}

describe.each(Object.entries(machines))('guards against a hostile program, %s', (_name, machine) => {
  test.each([buy, sellPart, sellAll])(
    'guards do not change the result of an honest $side of $tokens tokens',
    (trade) => {
      const outcomes = [[], two, four].map((guards) => {
        machine.reset(held)
        const { error, harm } = run(machine, trade, guards)
        return { error, harm, lamports: machine.lamports(machine.user), tokens: machine.tokens(machine.own) }
      })
      expect(outcomes[0]).toMatchObject({ error: undefined, harm: [] })
      expect(outcomes[1]).toEqual(outcomes[0])
      expect(outcomes[2]).toEqual(outcomes[0])
    },
  )

  // The instruction at index 0 is the trade. The guards follow it.
  test.each<[Attack, PoolTrade, bigint, string, number]>([
    ['take lamports', buy, 1n + SOL / 50n, 'lamports gone', 1],
    ['take lamports', sellPart, 100n * SOL, 'lamports gone', 1],
    ['assign the wallet', buy, 0n, 'wallet of another program', 1],
    ['allocate the wallet', buy, 0n, 'wallet with data', 1],
    ['take tokens', buy, held, 'tokens gone', 2],
    ['take tokens', sellPart, 1n, 'tokens gone', 2],
    ['burn tokens', buy, held, 'tokens gone', 2],
    ['take the account', buy, 0n, 'owner changed', 2],
    ['take the account', sellAll, 0n, 'owner changed', 2],
    ['close the account', sellAll, 0n, 'account gone', 2],
    ['give nothing', buy, SOL, 'tokens gone', 2],
  ])(
    'the attack "%s" succeeds without guards, and the chain reverts it with two guards',
    (attack, trade, amount, harm, place) => {
      machine.reset(held)
      machine.arm(attack, amount)
      expect(run(machine, trade, [])).toMatchObject({ error: undefined, harm: [harm] })
      machine.reset(held)
      machine.arm(attack, amount)
      expect(run(machine, trade, two)).toMatchObject({ error: expect.anything(), place, harm: [] })
    },
  )

  test.each<[Attack, string, number | undefined]>([
    ['take a delegation', 'delegate', undefined],
    ['take the right to close', 'right to close', 4],
  ])(
    'the attack "%s" passes the first two guards because no balance is missing yet, and the other guards stop it',
    (attack, harm, place) => {
      for (const guards of [[], two]) {
        machine.reset(held)
        machine.arm(attack, 2n ** 64n - 1n)
        expect(run(machine, buy, guards)).toMatchObject({ error: undefined, harm: [harm] })
      }
      machine.reset(held)
      machine.arm(attack, 2n ** 64n - 1n)
      expect(run(machine, buy, four)).toMatchObject({ harm: [], place })
    },
  )

  test('guards cannot protect a token account of another mint, so the verifier must refuse such a transaction', () => {
    machine.reset(held)
    machine.arm('take tokens', HELD)
    expect(run(machine, buy, four, 'other')).toMatchObject({ error: undefined, harm: ['another token gone'] })
  })
})

describe.each(Object.entries(machines))('the guards that Sluice appends, %s', (_name, machine) => {
  const guarded = (trade: PoolTrade) => {
    const allowed = allowedBy(trade, held)
    const tokens = { account: machine.own, mint: machine.mint, program: machine.tokenProgram, decimals: TOKEN_DECIMALS }
    const answer = machine.sendAsBuilt(machine.trade(trade), (transaction) => {
      const guards = { floorLamports: allowed.floor, tokens: { ...tokens, amount: allowed.tokens } }
      const finished = withGuards(transaction, transaction.message.keys, guards)
      if (!finished.ok) throw new Error('the guards do not fit into the transaction')
      return finished.transaction
    })
    const before = { floor: WALLET_LAMPORTS - BASE_FEE, tokens: held }
    return { ...answer, harm: machine.harm(answer.error === undefined ? allowed : before) }
  }

  test.each([buy, sellPart, sellAll])(
    'an honest $side of $tokens tokens is executed with the guards that Sluice appends',
    (trade) => {
      machine.reset(held)
      expect(guarded(trade)).toMatchObject({ error: undefined, harm: [] })
    },
  )

  test.each(ATTACKS.flatMap((attack) => [buy, sellPart, sellAll].map((trade) => [attack, trade.side, trade] as const)))(
    'the attack "%s" in a %s takes nothing beyond the limits of the order',
    (attack, _side, trade) => {
      for (const amount of [1n, SOL / 50n, 5n * SOL, held, 2n ** 64n - 1n]) {
        machine.reset(held)
        machine.arm(attack, amount)
        expect(guarded(trade).harm).toEqual([])
      }
    },
  )
})

describe('a program that is honest only in simulations', () => {
  const machine = machines.Token

  test('a program that steals from the next Solana slot on is honest in a simulation', () => {
    machine.reset(held)
    machine.arm('take lamports', 5n * SOL, machine.slot + 1n)
    machine.svm.warpToSlot(machine.slot)
    expect(machine.simulate(machine.trade(buy)).error).toBeUndefined()
    const honest = machine.simulate(poolInstruction(machine.user, machine.mint, buy))
    expect(honest.error).toBeUndefined()
    machine.wait()
    expect(run(machine, buy, []).harm).toEqual(['lamports gone'])
  })

  test('the same transaction bytes are honest before the trap is set and steal afterwards', () => {
    machine.reset(held)
    expect(run(machine, buy, [])).toMatchObject({ error: undefined, harm: [] })
    machine.reset(held)
    machine.arm('take lamports', 5n * SOL)
    expect(run(machine, buy, two)).toMatchObject({ error: expect.anything(), place: 1, harm: [] })
  })
})

const numRuns = Number(process.env.SLUICE_GUARD_RUNS ?? 60)

test(`in ${numRuns} random attacks, a trade with guards loses nothing beyond the limits of its order`, () => {
  const machine = machines['Token-2022']
  const amount = constantFrom(0n, 10_000_000n, 2n * SOL, held, 2n ** 64n - 1n).chain((max) => bigInt({ min: 0n, max }))
  void assert(
    property(constantFrom(...ATTACKS), amount, constantFrom(buy, sellPart, sellAll), (attack, size, trade) => {
      machine.reset(held)
      machine.arm(attack, size)
      expect(run(machine, trade, four).harm).toEqual([])
    }),
    { numRuns, ...(process.env.SLUICE_GUARD_RUNS ? {} : { seed: 1 }) },
  )
})
