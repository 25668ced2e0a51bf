import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import { BadTransaction, type LandedTransaction, type Ledger } from '../../../src/sandbox/chain/ledger.ts'
import {
  type Call,
  closeCall,
  compileMessage,
  openCall,
  signMessage,
  transferCall,
} from '../../../src/sandbox/chain/message.ts'
import { openChain } from '../../../src/sandbox/chain/open-chain.ts'
import { CURVE_FEES, POOL_PROGRAM, poolInstruction, poolOf, vaultOf } from '../../../src/sandbox/chain/pool-program.ts'
import { dialectOf } from '../../../src/sandbox/dialect.ts'
import { namedAddress, tokenAccountAddress } from '../../../src/sandbox/keys.ts'
import { forgetfulRecords } from '../../../src/sandbox/records.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { encodeBase58 } from '../../../src/solana/base58.ts'
import { PROGRAMS, WSOL_MINT } from '../../../src/solana/programs.ts'
import { keyBytes } from '../../../src/solana/transaction.ts'
import { MINT, StillMarket } from '../still-market.ts'

const SOL = 1_000_000_000n
const stranger = namedAddress('stranger')

interface World {
  ledger: Ledger
  wallet: string
  advance(slots: number): void
  /** Returns a signed transaction of the wallet with these instructions. */
  sign(...calls: Call[]): Uint8Array
  /** Sends the transaction and lets it land in the next Solana slot. */
  land(...calls: Call[]): LandedTransaction | undefined
  balance(address: string): number | undefined
}

async function open(seed = 1): Promise<World> {
  const clock = new SimulatedClock(1_700_000_000_000)
  const dialect = { ...dialectOf(0), tokenProgram: 'token' } as const
  const chain = { clock, dialect, seed, entropy: 'test', fundSol: 1_000, records: forgetfulRecords() }
  const { ledger, wallet } = await openChain({ ...chain, chain: 'runtime', market: new StillMarket(() => {}) })
  const advance = (slots: number) => clock.advanceTo(clock.now() + slots * 400)
  const sign = (...calls: Call[]): Uint8Array => {
    const { blockhash } = ledger.latestBlockhash('confirmed')
    return signMessage(compileMessage({ payer: wallet.address, blockhash, calls }), new Map([[wallet.address, wallet]]))
  }
  const land = (...calls: Call[]) => {
    const signature = ledger.send(sign(...calls), 1)
    advance(2)
    return ledger.transaction(signature)
  }
  advance(3)
  const balance = (address: string) => ledger.account(address, 'processed')?.lamports
  return { ledger, wallet: wallet.address, advance, sign, land, balance }
}

function buy(wallet: string): Call[] {
  return [
    openCall(wallet, wallet, MINT, PROGRAMS.token),
    poolInstruction(wallet, MINT, { side: 'buy', exact: 'in', lamports: SOL / 10n, tokens: 1n }),
  ]
}

test.each(['confirmed', 'finalized'] as const)(
  'reading the chain at commitment %s does not change later results',
  async (commitment) => {
    const { ledger, wallet, sign, land, balance } = await open()
    expect(land(...buy(wallet))?.error).toBeNull()
    const before = balance(wallet)!
    const bytes = sign(transferCall(wallet, stranger, SOL))
    const how = { commitment, verifySignatures: true, replaceBlockhash: true }
    expect(ledger.simulate(bytes, how).error).toBeNull()
    expect(land(transferCall(wallet, stranger, SOL))?.accounts[0]?.preLamports).toBe(before)
    expect(balance(wallet)).toBe(before - Number(SOL) - 5_000)
  },
)

test.each([POOL_PROGRAM, PROGRAMS.token, PROGRAMS.associatedToken, WSOL_MINT])(
  'a transfer of SOL to %s, and a fork that reverts it, leave the program unchanged',
  async (address) => {
    const { ledger, wallet, sign, land } = await open()
    const sent = land(transferCall(wallet, address, 1_000n))
    const how = { commitment: 'finalized', verifySignatures: true, replaceBlockhash: true } as const
    expect(ledger.simulate(sign(...buy(wallet)), how).error).toBeNull()
    expect(ledger.fork(sent!.signature)).toEqual([sent!.signature])
    expect(land(...buy(wallet))?.error).toBeNull()
  },
)

test('a pool on the Solana runtime can be read before its first trade', async () => {
  const { ledger } = await open()
  expect(ledger.account(MINT, 'confirmed')?.owner).toBe(PROGRAMS.token)
  expect(ledger.account(poolOf(MINT), 'confirmed')?.owner).toBe(POOL_PROGRAM)
  expect(ledger.account(vaultOf(MINT), 'confirmed')?.owner).toBe(PROGRAMS.token)
})

// The balances must be right after any transaction. `SLUICE_CHAIN_SEEDS=200` makes the test longer.

const BUILTINS = [
  ...Object.values(PROGRAMS),
  POOL_PROGRAM,
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'NativeLoader1111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
]
/** Accounts that the market or the runtime manages. */
const NOT_KEPT = new Set([...BUILTINS, MINT, WSOL_MINT, poolOf(MINT), vaultOf(MINT)])

const number = (value: number, bytes: 4 | 8) => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUInt32LE(value)
  return buffer
}

/** Returns random instructions: plausible ones, implausible ones, and random bytes. */
function drawn(wallet: string, seed: number): { call(): Call; addresses: string[]; integer(below: number): number } {
  const random = seededRandom(seed)
  const pick = <T>(from: readonly T[]): T => from[random.integer(from.length)] as T
  const own = [MINT, WSOL_MINT].map((mint) => tokenAccountAddress(wallet, mint))
  const addresses = [wallet, MINT, poolOf(MINT), vaultOf(MINT), WSOL_MINT, CURVE_FEES, stranger, ...own]
  const bytes = (count: number) => Buffer.from(Array.from({ length: count }, () => random.integer(256)))
  const anyone = () => pick([...addresses, ...BUILTINS])
  const account = (): Call['accounts'][number] => {
    const address = anyone()
    return { address, writable: random.integer(2) === 0, signer: address === wallet }
  }
  const noise = (program: string, data: Uint8Array): Call => {
    return { program, accounts: Array.from({ length: random.integer(8) }, account), data }
  }
  const seeded = (): Call => {
    const [text, owner] = [`s${random.integer(20)}`, pick(BUILTINS)]
    const hash = createHash('sha256').update(keyBytes(wallet)).update(text).update(keyBytes(owner))
    const address = encodeBase58(hash.digest())
    addresses.push(address)
    const lamports = number(pick([0, 890_880, 3_000_000, 50_000_000]), 8)
    const space = number(pick([0, 36, 82, 165, 5_000]), 8)
    const parts = [number(text.length, 8), Buffer.from(text), lamports, space, keyBytes(owner)]
    const data = Buffer.concat([number(3, 4), keyBytes(wallet), ...parts])
    const accounts = [
      { address: wallet, signer: true, writable: true },
      { address, writable: true },
    ]
    return { program: PROGRAMS.system, accounts, data }
  }
  const amount = () => BigInt(random.integer(1_000_000_000))
  const kinds: (() => Call)[] = [
    () => transferCall(wallet, anyone(), BigInt(random.integer(3_000_000))),
    () => openCall(wallet, wallet, pick([MINT, WSOL_MINT]), pick([PROGRAMS.token, PROGRAMS.token2022])),
    () =>
      poolInstruction(wallet, MINT, { side: 'buy', exact: pick(['in', 'out']), lamports: amount(), tokens: amount() }),
    () => poolInstruction(wallet, MINT, { side: 'sell', exact: 'out', lamports: 0n, tokens: amount() }),
    () => closeCall(wallet, MINT, PROGRAMS.token),
    () => noise(anyone(), bytes(random.integer(40))),
    () => noise(pick(BUILTINS), Buffer.concat([number(random.integer(14), 4), bytes(random.integer(40))])),
    seeded,
  ]
  return { call: () => pick(kinds)(), addresses, integer: (below) => random.integer(below) }
}

const seeds = Number(process.env.SLUICE_CHAIN_SEEDS ?? 3)
const STEPS = 25

test.each(Array.from({ length: seeds }, (_none, index) => index + 1))(
  `recorded balances are correct after random transactions, and reading them does not change them (seed %d)`,
  async (seed) => {
    const { ledger, wallet, advance, sign } = await open(seed)
    const { call, addresses, integer } = drawn(wallet, seed)
    const accounts = () => addresses.map((address) => ledger.account(address, 'processed'))
    for (let step = 0; step < STEPS; step++) {
      const bytes = sign(...Array.from({ length: 1 + integer(3) }, call))
      if (integer(10) === 0) bytes[integer(bytes.length)]! ^= 1 << integer(8)
      const before = accounts()
      const landed = attempt(() => {
        const commitment = (['processed', 'confirmed', 'finalized'] as const)[integer(3)]!
        ledger.simulate(bytes, { commitment, verifySignatures: false, replaceBlockhash: integer(2) === 0 })
        expect(accounts()).toEqual(before)
        const signature = ledger.send(bytes, 1)
        advance(1 + integer(2))
        return ledger.transaction(signature)
      })
      if (landed === undefined) continue
      const uses = landed.accounts
      expect(uses.reduce((sum, { preLamports, postLamports }) => sum + preLamports - postLamports, 0)).toBe(
        landed.feeLamports,
      )
      expect(landed.feeLamports).toBeGreaterThanOrEqual(5_000)
      for (const { address, postLamports } of uses)
        if (!NOT_KEPT.has(address)) expect(ledger.account(address, 'processed')?.lamports ?? 0).toBe(postLamports)
      if (integer(8) === 0) {
        ledger.fork(landed.signature)
        expect(accounts().map((one) => one?.owner)).toEqual(before.map((one) => one?.owner))
      }
    }
    ledger.close()
  },
)

/** Calls `run` and returns its result; undefined if it throws because its bytes are not a transaction. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof BadTransaction) return undefined
    throw error
  }
}
