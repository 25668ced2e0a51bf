import { expect, test, vi } from 'vitest'
import { type Random, seededRandom } from '../../src/base/random.ts'
import { BadTransaction, type Ledger, type SimulatedTransaction } from '../../src/sandbox/chain/ledger.ts'
import { type Call, type CallAccount, compileMessage, signMessage } from '../../src/sandbox/chain/message.ts'
import { openChain, SERVICE_TABLE } from '../../src/sandbox/chain/open-chain.ts'
import { draftOf } from '../../src/sandbox/chain/trade-draft.ts'
import { dialectOf } from '../../src/sandbox/dialect.ts'
import { forgetfulRecords } from '../../src/sandbox/records.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { PROGRAMS, WSOL_MINT } from '../../src/solana/programs.ts'
import { MINT, StillMarket } from './still-market.ts'

const RUNS = Number(process.env.SLUICE_TRANSACTION_MUTANTS ?? 150)
const SEED = Number(process.env.SLUICE_SEED ?? 1)
vi.setConfig({ testTimeout: 400_000 + RUNS * 100 })

const STRANGE = [
  ...Object.values(PROGRAMS),
  ...[MINT, WSOL_MINT, SERVICE_TABLE.address],
  'Vote111111111111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'NativeLoader1111111111111111111111111111111',
  'Sysvar1nstructions1111111111111111111111111',
  'SysvarC1ock11111111111111111111111111111111',
]

type Draws = Random & { pick<T>(list: readonly T[]): T }

function bytesOf(draws: Draws, most: number): Uint8Array {
  return Uint8Array.from({ length: draws.integer(most) }, () => draws.integer(256))
}

/** The ways in which the test changes an instruction. */
const MUTATIONS: readonly ((
  call: { -readonly [Key in keyof Call]: Call[Key] } & { accounts: CallAccount[] },
  draws: Draws,
) => void)[] = [
  (call, draws) => (call.program = draws.pick(STRANGE)),
  (call, draws) => (call.data = call.data.map((byte) => (draws.integer(8) === 0 ? draws.integer(256) : byte))),
  (call, draws) => (call.data = call.data.slice(0, draws.integer(call.data.length + 1))),
  (call, draws) => (call.data = bytesOf(draws, 200)),
  (call, draws) => call.accounts.splice(draws.integer(call.accounts.length + 1), 1),
  (call, draws) => call.accounts.push({ address: draws.pick(STRANGE), writable: draws.integer(2) === 1 }),
  (call, draws) => {
    if (call.accounts.length > 0) call.accounts[draws.integer(call.accounts.length)] = { address: draws.pick(STRANGE) }
  },
  (call) => (call.accounts = call.accounts.map((account) => ({ ...account, writable: !account.writable }))),
]

/** Expects that a landed transaction had the result of its simulation on the same state. */
function compare(ledger: Ledger, signature: string, simulated: SimulatedTransaction): void {
  const landed = ledger.transaction(signature)
  const { error, logs } = simulated
  if (!landed) {
    // The transaction was refused before its first instruction, for example because of an invalid compute budget. It
    // costs no fee and never lands.
    expect(error).not.toBeNull()
    expect(logs).toEqual([])
    return
  }
  expect(landed.error).toEqual(simulated.error)
  if (simulated.error !== null) return
  expect(landed.accounts).toEqual(simulated.accounts)
  expect([landed.tokens, landed.inner, landed.feeLamports]).toEqual([
    simulated.tokens,
    simulated.inner,
    simulated.feeLamports,
  ])
}

test(`none of ${RUNS} changed transactions ends the process, and each has the result of its simulation`, async () => {
  const random = seededRandom(SEED)
  const draws: Draws = { ...random, pick: (list) => list[random.integer(list.length)]! }
  const clock = new SimulatedClock(1_700_000_000_000)
  const market = new StillMarket(() => {})
  const dialect = dialectOf(0)
  const { ledger, wallet, coSigner, tokenPrograms } = await openChain({
    ...{ clock, market, dialect, records: forgetfulRecords(), seed: SEED, entropy: 'mutants', fundSol: 1_000 },
  })
  const secrets = new Map([wallet, coSigner].map((secret) => [secret.address, secret]))
  const outcomes = new Set<string>()
  for (let run = 0; run < RUNS; run++) {
    const { blockhash } = ledger.latestBlockhash('confirmed')
    const builtVersion = draws.pick(['v0', 'legacy', 'v0 with a table'] as const)
    const side = draws.pick(['buy', 'buy', 'sell'] as const)
    const trade = {
      side,
      wallet: wallet.address,
      mint: MINT,
      exact: 'in',
      lamports: 1_000_000,
      tokens: 1_000n,
    } as const
    const terms = { slippagePercent: 10, priorityFeeSol: 0.00001, serviceFeeBps: 50, opens: true, closes: false }
    const honest = draftOf(
      { ...trade, ...terms },
      {
        ...{ tokenPrograms, blockhash, number: run, table: SERVICE_TABLE, coSigner: coSigner.address },
        dialect: { ...dialect, builtVersion, builtCoSigner: draws.pick(['no', 'yes'] as const) },
        curve: market.token(MINT)!.curve,
      },
    )
    const calls = honest.calls.map((call) => ({ ...call, accounts: [...call.accounts] }))
    for (let count = draws.integer(4); count > 0; count--) draws.pick(MUTATIONS)(draws.pick(calls), draws)
    const bytes = signMessage(compileMessage({ ...honest, calls }), secrets)
    try {
      const options = { commitment: 'processed', verifySignatures: false, replaceBlockhash: false } as const
      const simulated = ledger.simulate(bytes, options)
      outcomes.add(JSON.stringify(simulated.error))
      const signature = ledger.send(bytes, 1)
      for (let slots = 0; slots < 3; slots++) clock.advanceTo(clock.now() + 400)
      compare(ledger, signature, simulated)
    } catch (error) {
      if (!(error instanceof BadTransaction)) throw new Error(`seed ${SEED}, run ${run}`, { cause: error })
      outcomes.add(error.kind)
    }
  }
  expect(outcomes.has('null')).toBe(true)
  expect(outcomes.size).toBeGreaterThan(10)
})
