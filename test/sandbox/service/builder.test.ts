import { readFileSync, statSync } from 'node:fs'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { afterEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../../src/base/machine.ts'
import { lamports } from '../../../src/base/units.ts'
import type { Rpc } from '../../../src/chain/rpc/rpc.ts'
import { examine } from '../../../src/chain/verifier/checks-before-signing.ts'
import { loadPolicy } from '../../../src/config/builder-policy-file.ts'
import type { AskedTrade } from '../../../src/orders/trade-request.ts'
import { type Dialect, dialectQuestions } from '../../../src/sandbox/dialect.ts'
import { BUILD_ATTACKS } from '../../../src/sandbox/service/hostile-build.ts'
import { decodeTransaction, encodeTransaction } from '../../../src/solana/transaction.ts'
import { readBuiltReply } from '../../../src/venues/token-service/wire/built-reply.ts'
import type { BuiltReply } from '../../../src/venues/venue.ts'
import { openRig, type Rig, rpc } from '../client.ts'
import { MINT } from '../still-market.ts'

let rig: Rig
afterEach(() => rig.close())

const SLIPPAGE = 10
/** A clock without delays. With a real clock, the check would wait for a blockhash that its node does not know yet. */
const impatient: Clock = {
  now: () => 0,
  after: (_ms, run) => {
    setImmediate(run)
    return () => {}
  },
}

function asked(side: 'buy' | 'sell'): AskedTrade {
  const terms = { wallet: rig.wallet, mint: MINT, slippagePercent: SLIPPAGE, priorityFeeLamports: null }
  return side === 'buy'
    ? { ...terms, side, lamports: lamports(500_000_000) }
    : { ...terms, side, amount: { kind: 'all' } }
}

/** Requests a transaction from the builder, and reads the answer as a client does. */
async function build(side: 'buy' | 'sell'): Promise<BuiltReply> {
  const terms = side === 'buy' ? { amount: 0.5 } : { amount: '100%', sellAll: true }
  const response = await fetch(`${rig.baseUrl}/transaction/${side}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${rig.apiKeys.standard}`, 'content-type': 'application/json' },
    body: JSON.stringify({ publicKey: rig.wallet, mint: MINT, slippage: SLIPPAGE, ...terms }),
  })
  return readBuiltReply(new Uint8Array(await response.arrayBuffer()), (bytes) => {
    const decoded = decodeTransaction(bytes)
    return decoded.ok ? undefined : decoded
  })
}

/** Returns the verifier's refusal codes with the sandbox's own policy and RPC; empty if it accepts the transaction. */
async function verdict(reply: BuiltReply, side: 'buy' | 'sell'): Promise<string[]> {
  if (!reply.ok) return [reply.code]
  const decoded = decodeTransaction(reply.bytes)
  const policy = loadPolicy(rig.policy)
  if (!decoded.ok || !policy.ok) throw new Error(JSON.stringify([decoded, policy]))
  const ask: Rpc = async (method, params) => {
    const value = await rpc(rig, method, ...params)
    return value?.code === undefined ? { ok: true, value } : { ok: false, ...value }
  }
  const { refusals } = await examine({
    transaction: decoded.transaction,
    asked: asked(side),
    policy: policy.policy,
    chain: { rpc: ask, clock: impatient },
  })
  return refusals.map(({ code }) => code)
}

/** Signs with the wallet's file, sends, and returns the error of the transaction that landed. */
async function trade(bytes: Uint8Array): Promise<unknown> {
  const transaction = VersionedTransaction.deserialize(bytes)
  const keypair = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(rig.keypair, 'utf8')) as number[]))
  transaction.sign([keypair])
  const encoded = Buffer.from(transaction.serialize()).toString('base64')
  const signature = await rpc(rig, 'sendTransaction', encoded, { encoding: 'base64', preflightCommitment: 'confirmed' })
  expect(signature).toEqual(expect.any(String))
  rig.advance(12)
  const shown = await rpc(rig, 'getTransaction', signature, {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  })
  return shown.meta.err
}

/**
 * The features of a dialect (a variant of the protocol) that change a built transaction or its form. The test uses each
 * value of such a feature alone, and three mixes of values.
 */
const questions = Object.entries(dialectQuestions).filter(([question]) =>
  /^(built\w+|tokenProgram|serviceFeeBps|buyExact|closesAccount)$/.test(question),
)
const dialects = questions.flatMap(([question, answers]) => [...new Set(answers)].map((one) => ({ [question]: one })))
const isPlain = (dialect: object): boolean =>
  Object.entries(dialect).every(([question, one]) => dialectQuestions[question]?.[0] === one)
const mixed: Partial<Dialect>[] = [
  {
    builtVersion: 'v0 with a table',
    builtCoSigner: 'yes',
    builtTip: 'yes',
    tokenProgram: 'token2022',
    builtShape: 'raw',
  },
  { builtVersion: 'legacy', builtCoSigner: 'yes', buyExact: 'out', builtEncoding: 'base58', builtShape: 'bareText' },
  { builtVersion: 'v0 with a table', closesAccount: 'yes', serviceFeeBps: 100, builtEncoding: 'base58' },
]

describe('the builder', () => {
  test.each([{}, ...dialects.filter((dialect) => !isPlain(dialect)), ...mixed])(
    'with the dialect %j, the builder makes a buy and a sale that the verifier accepts',
    async (dialect) => {
      rig = await openRig({ dialect })
      for (const side of ['buy', 'sell'] as const) {
        const reply = await build(side)
        if (!reply.ok) throw new Error(reply.reason)
        const decoded = decodeTransaction(reply.bytes)
        expect(decoded.ok && Buffer.compare(encodeTransaction(decoded.transaction), reply.bytes)).toBe(0)
        expect(await verdict(reply, side)).toEqual([])
        expect(await trade(reply.bytes)).toBeNull()
        const told = rig.dialect.builtHeight === 'told' && !/^(raw|bare)/.test(rig.dialect.builtShape)
        expect(reply.lastValidBlockHeight !== undefined).toBe(told)
      }
    },
  )

  test('the verifier refuses every attack of the builder with the code for it', async () => {
    rig = await openRig()
    const buy = await build('buy')
    if (!buy.ok) throw new Error(buy.reason)
    expect(await trade(buy.bytes)).toBeNull()
    const refused: Record<string, (string | undefined)[]> = {}
    for (const attack of BUILD_ATTACKS) {
      refused[attack] = []
      for (const side of ['buy', 'sell'] as const) {
        rig.faults.set({ kind: 'builtHostile', attack })
        refused[attack].push((await verdict(await build(side), side))[0])
      }
    }
    const twice = (code: string) => [code, code]
    expect(refused).toEqual({
      'wrong mint': twice('WRONG_MINT'),
      'wrong side': twice('WRONG_SIDE'),
      'more SOL': ['AMOUNT_OVER', 'SIMULATION_FAILED'],
      'no least output': twice('MIN_OUT'),
      'extra transfer': twice('SOL_TRANSFER'),
      'set authority': twice('AUTHORITY_CHANGE'),
      approve: twice('AUTHORITY_CHANGE'),
      'close account': twice('ACCOUNT_CLOSED'),
      assign: twice('AUTHORITY_CHANGE'),
      'durable nonce': twice('DURABLE_NONCE'),
      'other payer': twice('FEE_PAYER'),
      'opaque program': twice('PROGRAM_UNKNOWN'),
      'version 1': twice('TX_VERSION'),
    })
  })

  test.each(['take lamports', 'take the account'] as const)(
    'the hostile program is honest in the simulation, and attacks on the chain: %s',
    async (theft) => {
      rig = await openRig()
      const first = await build('buy')
      if (!first.ok) throw new Error(first.reason)
      await trade(first.bytes)
      rig.faults.set({ kind: 'builtHostile', attack: 'opaque program', theft })
      const reply = await build('buy')
      if (!reply.ok) throw new Error(reply.reason)
      const encoded = Buffer.from(reply.bytes).toString('base64')
      const { value } = await rpc(rig, 'simulateTransaction', encoded, { encoding: 'base64', commitment: 'confirmed' })
      expect(value.err).toBeNull()
      const spent = value.preBalances[0] - value.postBalances[0]
      expect(spent).toBeLessThan(510_000_000)
      const before = (await rpc(rig, 'getBalance', rig.wallet, { commitment: 'confirmed' })).value
      expect(await trade(reply.bytes)).toBeNull()
      const after = (await rpc(rig, 'getBalance', rig.wallet, { commitment: 'confirmed' })).value
      const held = (await rpc(rig, 'getTokenAccountsByOwner', rig.wallet, { mint: MINT }, { commitment: 'confirmed' }))
        .value
      expect([before - after - spent, held.length]).toEqual(theft === 'take lamports' ? [50_000_000, 1] : [0, 0])
    },
  )

  test('faults of the builder can give an old blockhash, an impossible height, or an answer without a transaction', async () => {
    rig = await openRig()
    rig.advance(300)
    rig.faults.set({ kind: 'builtStale' })
    expect(await verdict(await build('buy'), 'buy')).toEqual(['BLOCKHASH_UNKNOWN'])
    rig.faults.set({ kind: 'builtHeight' })
    expect(await build('buy')).toMatchObject({ ok: true, lastValidBlockHeight: 999_999_999_999 })
    rig.faults.set({ kind: 'builtGarbage' })
    expect(await build('buy')).toMatchObject({ ok: false, code: 'REPLY_UNREADABLE' })
  })

  test('only their owner can read the files next to the chain', async () => {
    rig = await openRig()
    for (const file of [rig.keypair, rig.policy]) expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('the small ledger refuses to build transactions', async () => {
    rig = await openRig({ chain: 'small' })
    const response = await fetch(`${rig.baseUrl}/transaction/buy`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.apiKeys.standard}` },
      body: JSON.stringify({ publicKey: rig.wallet, mint: MINT, amount: 0.5 }),
    })
    expect(response.status).toBe(501)
    expect(await response.text()).toContain('litesvm')
  })
})
