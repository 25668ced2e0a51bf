import { PublicKey } from '@solana/web3.js'
import { expect, test, vi } from 'vitest'
import type { Clock } from '../../../src/base/machine.ts'
import { type Closing, closeAll, type RentAccount, readRentAccounts } from '../../../src/chain/close-accounts.ts'
import type { Rpc } from '../../../src/chain/rpc/rpc.ts'
import type { SignRequest } from '../../../src/chain/signer/port.ts'
import { refusalOf } from '../../../src/chain/signer/rules.ts'
import { closeAccounts } from '../../../src/commands/trade/close-accounts.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { keyOf } from '../../support/journal-values.ts'

const WALLET = keyOf(1)
const RENT = 2_039_280

interface Held {
  mint?: string
  owner?: string
  tokens?: bigint
  closer?: string
}

/**
 * Returns the data of a token account in the layout of spl-token's state.rs: mint, owner, amount, ..., close authority.
 */
function data({ mint = keyOf(50), owner = WALLET, tokens = 0n, closer }: Held): Buffer {
  const bytes = Buffer.alloc(165)
  bytes.set(new PublicKey(mint).toBytes(), 0)
  bytes.set(new PublicKey(owner).toBytes(), 32)
  bytes.writeBigUInt64LE(tokens, 64)
  bytes[108] = 1
  if (closer !== undefined) {
    bytes[129] = 1
    bytes.set(new PublicKey(closer).toBytes(), 133)
  }
  return bytes
}

function nodeWith(held: readonly Held[], program: string): Rpc {
  return async (_method, [, filter]) => ({
    ok: true,
    value: {
      value: ((filter as { programId: string }).programId === program ? held : []).map((one, index) => ({
        pubkey: keyOf(100 + index),
        account: { lamports: RENT, owner: program, executable: false, data: [data(one).toString('base64'), 'base64'] },
      })),
    },
  })
}

test.each<[string, Held, string | RegExp]>([
  ['close-accounts closes an empty account', {}, ''],
  ['close-accounts closes an account whose close authority is the wallet', { closer: WALLET }, ''],
  ['close-accounts keeps an account that holds one base unit', { tokens: 1n }, 'it holds 1 base units'],
  ['close-accounts keeps the account of an open position or order', { mint: keyOf(60) }, /is open/],
  ['close-accounts keeps an account whose close authority is another key', { closer: keyOf(9) }, /another key/],
  ['close-accounts keeps an account of another wallet', { owner: keyOf(9) }, /another wallet/],
])('%s, in both token programs', async (_name, held, because) => {
  for (const program of [PROGRAMS.token, PROGRAMS.token2022]) {
    const [account] = await readRentAccounts(nodeWith([held], program), WALLET, new Set([keyOf(60)]))
    expect(account).toMatchObject({ program, lamports: BigInt(RENT) })
    if (typeof because === 'string') expect(account?.keptBecause).toBe(because)
    else expect(account?.keptBecause).toMatch(because)
  }
})

test('close-accounts refuses an RPC answer with an unexpected shape', async () => {
  const odd: Rpc = async () => ({
    ok: true,
    value: { value: [{ pubkey: keyOf(2), account: { lamports: 1, owner: 'x', data: ['', 'base64'] } }] },
  })
  await expect(readRentAccounts(odd, WALLET, new Set())).rejects.toThrow('not a token account')
})

const empty = (count: number): RentAccount[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ address: keyOf(100 + index), mint: keyOf(200 + index), lamports: BigInt(RENT), keptBecause: '' },
    program: index % 2 === 0 ? PROGRAMS.token : PROGRAMS.token2022,
  }))

const clock: Clock = {
  now: () => 0,
  after: (_ms, run) => {
    setImmediate(run)
    return () => {}
  },
}

/** Returns a chain on which the account `bad` cannot be closed, and whose transactions end with `end`. */
function closing(bad: string, end: 'confirmed' | 'failed' | 'lost', asked: SignRequest[] = [], blockhash = keyOf(3)) {
  let height = 100
  const rpc: Rpc = async (method, params) => {
    if (method === 'getLatestBlockhash') return { ok: true, value: { value: { blockhash, lastValidBlockHeight: 250 } } }
    if (method === 'simulateTransaction') {
      const has = Buffer.from(params[0] as string, 'base64').includes(Buffer.from(new PublicKey(bad).toBytes()))
      return { ok: true, value: { value: { err: has ? { InstructionError: [0, 'Custom'] } : null } } }
    }
    if (method === 'sendTransaction') return { ok: true, value: '' }
    if (method === 'getSignatureStatuses') {
      const row = { confirmationStatus: 'confirmed', err: end === 'failed' ? {} : null }
      return { ok: true, value: { value: [end === 'lost' ? null : row] } }
    }
    height += 60
    return { ok: true, value: { absoluteSlot: height, blockHeight: height } }
  }
  const rules = { wallet: WALLET, programs: new Set<string>(), policyHash: 'p' }
  const parts = {
    ...{ rpcs: { any: rpc, each: [rpc] }, clock, wallet: WALLET, policyHash: 'p', say: () => {} },
    signer: {
      sign: async (request: SignRequest) => {
        asked.push(request)
        if (asked.length > 3) return { ok: false, code: 'SIGNER_CAP', reason: 'within a day' } as const
        expect(refusalOf(request, rules)).toBeUndefined()
        return { ok: true, signature: new Uint8Array(64).fill(asked.length) } as const
      },
    },
  }
  return (accounts: readonly RentAccount[]): Promise<Closing[]> => closeAll(parts, accounts)
}

test("forty-one accounts take three transactions, each within the signer's rules and the size of a packet", async () => {
  const asked: SignRequest[] = []
  const done = await closing(keyOf(999), 'confirmed', asked)(empty(41))
  expect(done.map(({ accounts, failure }) => [accounts.length, failure])).toEqual([
    [20, ''],
    [20, ''],
    [1, ''],
  ])
  for (const { message } of asked) expect(message.length + 65).toBeLessThanOrEqual(1232)
})

test('if the chain refuses to close one account, close-accounts still closes the others', async () => {
  const accounts = empty(9)
  const done = await closing(keyOf(104), 'confirmed')(accounts)
  const failed = done.filter(({ failure }) => failure !== '')
  expect(failed.map(({ accounts: own, signature }) => [own.map(({ address }) => address), signature])).toEqual([
    [[keyOf(104)], ''],
  ])
  expect(done.flatMap(({ accounts: own }) => own).length).toBe(9)
})

test('if the signer refuses or the blockhash is invalid, close-accounts ends and keeps the earlier results', async () => {
  const asked: SignRequest[] = []
  const done = await closing(keyOf(999), 'confirmed', asked)(empty(101))
  expect(done.map(({ accounts, signature, failure }) => [accounts.length, signature !== '', failure])).toEqual([
    ...[1, 2, 3].map(() => [20, true, '']),
    [41, false, 'the signer refused: within a day'],
  ])
  expect(asked.length).toBe(4)
  for (const blockhash of ['', 'x', 'hello', keyOf(3, 64)])
    expect(await closing(keyOf(999), 'confirmed', asked, blockhash)(empty(1))).toMatchObject([
      { failure: 'the answer contains no valid blockhash' },
    ])
  expect(asked.length).toBe(4)
})

test('close-accounts reports a transaction that fails or expires, and does not send it again', async () => {
  expect((await closing(keyOf(999), 'failed')(empty(2)))[0]?.failure).toBe('the transaction failed on the chain')
  expect((await closing(keyOf(999), 'lost')(empty(2)))[0]?.failure).toMatch('expired')
})

test("if only the service has the wallet's key, the accounts are shown, and closing them is refused without a signature", async () => {
  const shown = vi.spyOn(console, 'log').mockImplementation(() => {})
  const rpc = nodeWith([{}], PROGRAMS.token)
  const access = {
    ...{ wallet: WALLET, rpcs: { any: rpc, each: [rpc] } as never, clock, inUse: new Set<string>(), isCloud: true },
    policyHash: '',
    openSigner: () => expect.fail('there is no key to sign with'),
  }
  try {
    expect(await closeAccounts(access, false, false)).toBe(0)
    expect(shown.mock.calls.join('\n')).toMatch(/rent in empty accounts: 0.00203928 SOL.*has no request that closes/s)
    await expect(closeAccounts(access, true, false)).rejects.toMatchObject({ exitCode: 4 })
  } finally {
    shown.mockRestore()
  }
})
