import type { Message } from '../core/transaction-bytes.ts'
import type { Account, AccountUse, InnerInstruction, LandedInstruction, TokenUse } from './ledger.ts'
import type { TransactionMetadata } from './svm.ts'
import { isTokenProgram } from './svm-accounts.ts'
import { decodeTokenAccount } from './token-layout.ts'

/** Accounts by the place of their address among those that the transaction names. */
type Snapshot = readonly (Account | undefined)[]

const MINT_DECIMALS_AT = 44

export function accountUses(
  message: Message,
  addresses: readonly string[],
  before: Snapshot,
  after: Snapshot,
): AccountUse[] {
  return addresses.map((address, index) => ({
    address,
    signer: index < message.signers,
    writable: isWritable(message, index),
    source: index < message.keys.length ? 'transaction' : 'lookupTable',
    preLamports: before[index]?.lamports ?? 0,
    postLamports: after[index]?.lamports ?? 0,
  }))
}

function isWritable({ keys, signers, readonlySigners, readonlyOthers, lookups }: Message, index: number): boolean {
  if (index < signers) return index < signers - readonlySigners
  if (index < keys.length) return index < keys.length - readonlyOthers
  return index < keys.length + lookups.reduce((sum, { writable }) => sum + writable.length, 0)
}

/** `mint`: reads a mint's account. */
export function tokenUses(
  addresses: readonly string[],
  before: Snapshot,
  after: Snapshot,
  mint: (address: string) => Account | undefined,
): TokenUse[] {
  return addresses.flatMap((account, index) => {
    const [was, is] = [tokenOf(before[index]), tokenOf(after[index])]
    const token = is ?? was
    if (!token) return []
    const { program, state } = token
    const decimals = mint(state.mint)?.data[MINT_DECIMALS_AT] ?? 0
    const amounts = { pre: was?.state.amount, post: is?.state.amount }
    return [{ account, mint: state.mint, owner: state.owner, program, decimals, ...amounts }]
  })
}

function tokenOf(account: Account | undefined) {
  const state = account && isTokenProgram(account.owner) ? decodeTokenAccount(account.data) : undefined
  return account && state ? { program: account.owner, state } : undefined
}

export function landedInstructions({ instructions }: Message, addresses: readonly string[]): LandedInstruction[] {
  return instructions.map(({ program, accounts, data }) => ({
    program: addresses[program]!,
    accounts: accounts.map((place) => addresses[place]!),
    data: Buffer.from(data).toString('hex'),
  }))
}

export function innerInstructions(meta: TransactionMetadata): [number, InnerInstruction[]][] {
  return meta.innerInstructions().flatMap((called, index): [number, InnerInstruction[]][] => {
    if (called.length === 0) return []
    const inner = called.map((one) => {
      const instruction = one.instruction()
      return {
        program: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: Buffer.from(instruction.data()).toString('hex'),
        stackHeight: one.stackHeight(),
      }
    })
    return [[index, inner]]
  })
}
