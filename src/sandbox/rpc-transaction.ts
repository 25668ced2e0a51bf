import { decodeBase58, encodeBase58 } from '../core/base58.ts'
import { PROGRAMS } from '../core/programs.ts'
import type { AccountUse, LandedTransaction, TokenUse } from './ledger.ts'
import { amountShape } from './rpc-account.ts'

/** Solana's JSON and byte shapes of transactions (solana.com/docs/rpc). Lamports are numbers, token amounts strings. */

export function transactionShape(transaction: LandedTransaction, encoding: string): object {
  const { slot, blockTime } = transaction
  return { slot, blockTime, version: 0, meta: metaShape(transaction), transaction: messageShape(transaction, encoding) }
}

function metaShape({ error, feeLamports, accounts, tokens, computeUnits, logs }: LandedTransaction): object {
  const looked = accounts.filter(({ source }) => source === 'lookupTable')
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    fee: feeLamports,
    preBalances: accounts.map(({ preLamports }) => preLamports),
    postBalances: accounts.map(({ postLamports }) => postLamports),
    preTokenBalances: tokenBalances(accounts, tokens, ({ pre }) => pre),
    postTokenBalances: tokenBalances(accounts, tokens, ({ post }) => post),
    innerInstructions: [],
    logMessages: logs,
    rewards: [],
    loadedAddresses: {
      writable: looked.filter(({ writable }) => writable).map(({ address }) => address),
      readonly: looked.filter(({ writable }) => !writable).map(({ address }) => address),
    },
    computeUnitsConsumed: computeUnits,
  }
}

/** Accounts that do not exist at that moment have no entry. */
function tokenBalances(
  accounts: AccountUse[],
  tokens: TokenUse[],
  when: (use: TokenUse) => bigint | undefined,
): object[] {
  return tokens.flatMap((token) => {
    const amount = when(token)
    if (amount === undefined) return []
    const accountIndex = accounts.findIndex(({ address }) => address === token.account)
    return [
      {
        accountIndex,
        mint: token.mint,
        owner: token.owner,
        programId: PROGRAMS.token,
        uiTokenAmount: amountShape(amount),
      },
    ]
  })
}

function messageShape(transaction: LandedTransaction, encoding: string): unknown {
  if (encoding === 'base64') return [Buffer.from(wireBytes(transaction)).toString('base64'), 'base64']
  if (encoding === 'base58') return [encodeBase58(wireBytes(transaction)), 'base58']
  const { signature, accounts, recentBlockhash, instructions } = transaction
  const parsed = encoding === 'jsonParsed'
  const statics = accounts.filter(({ source }) => source === 'transaction')
  const message = {
    ...(parsed ? {} : { header: header(statics) }),
    accountKeys: parsed
      ? accounts.map(({ address, signer, writable, source }) => ({ pubkey: address, signer, writable, source }))
      : statics.map(({ address }) => address),
    recentBlockhash,
    instructions: parsed
      ? instructions.map(({ program, accounts: keys, data }) => ({
          programId: program,
          accounts: keys,
          data: base58(data),
          stackHeight: null,
        }))
      : compiled(transaction).map(({ program, accounts: keys, data }) => ({
          programIdIndex: program,
          accounts: keys,
          data: base58(data),
          stackHeight: null,
        })),
    addressTableLookups: lookups(transaction),
  }
  return { signatures: [signature], message }
}

function base58(hex: string): string {
  return encodeBase58(Buffer.from(hex, 'hex'))
}

function header(statics: AccountUse[]): object {
  return {
    numRequiredSignatures: statics.filter(({ signer }) => signer).length,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: statics.filter(({ signer, writable }) => !signer && !writable).length,
  }
}

function compiled({
  instructions,
  accounts,
}: LandedTransaction): { program: number; accounts: number[]; data: string }[] {
  const place = new Map(accounts.map(({ address }, index) => [address, index]))
  return instructions.map(({ program, accounts: keys, data }) => ({
    program: place.get(program)!,
    accounts: keys.map((key) => place.get(key)!),
    data,
  }))
}

/** The table itself is not on the ledger: its address stands for whatever table the service uses. */
function lookups({ accounts }: LandedTransaction): object[] {
  const looked = accounts.filter(({ source }) => source === 'lookupTable')
  if (looked.length === 0) return []
  const writable = looked.filter((use) => use.writable).length
  const indexes = looked.map((_use, index) => index)
  return [
    {
      accountKey: PROGRAMS.bondingCurve,
      writableIndexes: indexes.slice(0, writable),
      readonlyIndexes: indexes.slice(writable),
    },
  ]
}

/** A version 0 transaction as bytes: signatures, then the message (all lengths here are below 128, one byte each). */
function wireBytes(transaction: LandedTransaction): Uint8Array {
  const { signature, accounts, recentBlockhash } = transaction
  const statics = accounts.filter(({ source }) => source === 'transaction')
  const counts = Object.values(header(statics)) as number[]
  const instructions = compiled(transaction).flatMap(({ program, accounts: keys, data }) => {
    const bytes = Buffer.from(data, 'hex')
    return [Uint8Array.of(program, keys.length, ...keys), Uint8Array.of(bytes.length), bytes]
  })
  const tables = lookups(transaction) as { accountKey: string; writableIndexes: number[]; readonlyIndexes: number[] }[]
  return Buffer.concat([
    Uint8Array.of(1),
    decodeBase58(signature, 64)!,
    Uint8Array.of(0x80, ...counts, statics.length),
    ...statics.map(({ address }) => decodeBase58(address, 32)!),
    decodeBase58(recentBlockhash, 32)!,
    Uint8Array.of(instructions.length / 3),
    ...instructions,
    Uint8Array.of(tables.length),
    ...tables.flatMap(({ accountKey, writableIndexes, readonlyIndexes }) => [
      decodeBase58(accountKey, 32)!,
      Uint8Array.of(writableIndexes.length, ...writableIndexes, readonlyIndexes.length, ...readonlyIndexes),
    ]),
  ])
}
