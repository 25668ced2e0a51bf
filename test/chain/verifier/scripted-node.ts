import type { PublicKey } from '@solana/web3.js'
import type { Rpc } from '../../../src/chain/rpc/rpc.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { RENT } from './honest.ts'

/** The state of an account on a node. */
export interface Account {
  lamports: bigint
  owner: string
  data: Uint8Array
  executable: boolean
}

/** The answers of a node: the accounts before and after the simulated transaction, and other facts. */
export interface NodeScript {
  slot: number
  before: Map<string, Account>
  after: Map<string, Account>
  err: unknown
  /** Programs of the inner instructions; null if the node does not report them. */
  inner: string[] | null
  blockhashValid: boolean | 'later'
  /** Methods that the node refuses. */
  refuses: string[]
  /** Methods that were called, in order. */
  asked: string[]
}

export function nodeScript(): NodeScript {
  return {
    ...{ slot: 100, before: new Map(), after: new Map(), err: null, inner: [], blockhashValid: true },
    ...{ refuses: [], asked: [] },
  }
}

/** The parameters of calls, as far as this node reads them. */
type Params = readonly [keys: string[], { accounts: { addresses: string[] } }]

/** Methods whose results have no `context` with a slot. */
const BARE = new Set(['getMinimumBalanceForRentExemption', 'getEpochInfo'])

/** A node that answers with the data of its script, in the format of Solana's JSON-RPC. */
export function scriptedNode(script: NodeScript): Rpc {
  let tries = 0
  const shape = (account: Account | undefined) =>
    account === undefined
      ? null
      : {
          ...account,
          lamports: Number(account.lamports),
          data: [Buffer.from(account.data).toString('base64'), 'base64'],
        }
  const methods: Record<string, (params: Params) => unknown> = {
    getMinimumBalanceForRentExemption: () => Number(RENT),
    getMultipleAccounts: ([keys]) => keys.map((key: string) => shape(script.before.get(key))),
    getEpochInfo: () => ({ absoluteSlot: script.slot, blockHeight: script.slot }),
    isBlockhashValid: () => script.blockhashValid === true || (script.blockhashValid === 'later' && ++tries > 2),
    simulateTransaction: ([, { accounts }]) => ({
      err: script.err,
      logs: ['Program log: as simulated'],
      accounts: accounts.addresses.map((key: string) => shape(script.after.get(key) ?? script.before.get(key))),
      innerInstructions: script.inner && [{ index: 0, instructions: script.inner.map((programId) => ({ programId })) }],
    }),
  }
  return async (method, params) => {
    script.asked.push(method)
    const answer = methods[method]
    if (!answer || script.refuses.includes(method)) return { ok: false, code: -32601, message: 'Method not found' }
    const value = answer(params as unknown as Params)
    return { ok: true, value: BARE.has(method) ? value : { context: { slot: script.slot }, value } }
  }
}

export interface TokenState {
  mint: PublicKey
  owner: PublicKey
  tokens: bigint
  delegate?: PublicKey
  closeAuthority?: PublicKey
  frozen?: boolean
  program?: string
}

/** Returns a token account of 165 bytes (spl-token state.rs). */
export function tokenAccount({ mint, owner, tokens, delegate, closeAuthority, frozen, program }: TokenState): Account {
  const data = Buffer.alloc(165)
  data.set(mint.toBytes(), 0)
  data.set(owner.toBytes(), 32)
  data.writeBigUInt64LE(tokens, 64)
  if (delegate) data.set([1, 0, 0, 0, ...delegate.toBytes()], 72)
  data[108] = frozen ? 2 : 1
  if (closeAuthority) data.set([1, 0, 0, 0, ...closeAuthority.toBytes()], 129)
  return { lamports: RENT, owner: program ?? PROGRAMS.token, executable: false, data }
}

/** Returns a mint of 82 bytes with 6 decimals. */
export function mintAccount(program: string = PROGRAMS.token): Account {
  const data = Buffer.alloc(82)
  data[44] = 6
  return { lamports: RENT, owner: program, executable: false, data }
}

export const plainAccount = (lamports: bigint, owner: string = PROGRAMS.system): Account => {
  return { lamports, owner, executable: false, data: new Uint8Array() }
}

/** Returns a lookup table (solana-address-lookup-table-interface): 56 bytes, then the addresses. */
export function tableAccount(
  addresses: readonly PublicKey[],
  how: { closing?: boolean; grewAt?: bigint; from?: number } = {},
): Account {
  const head = Buffer.alloc(56)
  head.writeUInt32LE(1, 0)
  head.writeBigUInt64LE(how.closing ? 90n : 2n ** 64n - 1n, 4)
  head.writeBigUInt64LE(how.grewAt ?? 1n, 12)
  head[20] = how.from ?? 0
  const data = Buffer.concat([head, ...addresses.map((one) => one.toBytes())])
  return { lamports: RENT, owner: PROGRAMS.lookupTable, executable: false, data }
}
