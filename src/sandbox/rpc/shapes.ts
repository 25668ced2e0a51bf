import { decodeBase58, encodeBase58 } from '../../solana/base58.ts'
import { TOKEN_DECIMALS } from '../../solana/constants.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { decodeTokenAccount, MINT_BYTES } from '../../solana/token-account.ts'
import {
  decodeTransaction,
  encodeTransaction,
  type Lookup,
  type Message,
  type TransactionBytes,
} from '../../solana/transaction.ts'
import type { Account, AccountUse, LandedTransaction, TokenUse } from '../chain/ledger.ts'

/** The functions below write accounts in Solana's JSON format (solana.com/docs/rpc). Lamports are numbers, and tokens
 *  are strings. */
const PARSED_PROGRAMS: Readonly<Record<string, string>> = {
  [PROGRAMS.token]: 'spl-token',
  [PROGRAMS.token2022]: 'spl-token-2022',
}

const DECIMALS_AT = 44
const NO_RENT_EPOCH = 18_446_744_073_709_552_000

export function accountShape(account: Account, encoding: string): object {
  const { lamports, owner, executable, data } = account
  return {
    data: accountData(account, encoding),
    executable,
    lamports,
    owner,
    rentEpoch: NO_RENT_EPOCH,
    space: data.length,
  }
}

export function amountShape(amount: bigint, decimals: number): object {
  const uiAmount = Number(amount) / 10 ** decimals
  const fraction = String(amount % 10n ** BigInt(decimals))
    .padStart(decimals, '0')
    .replace(/0+$/, '')
  const whole = String(amount / 10n ** BigInt(decimals))
  return {
    amount: String(amount),
    decimals,
    uiAmount,
    uiAmountString: fraction ? `${whole}.${fraction}` : whole,
  }
}

/** Number of decimals of a mint, which is equal for all tokens of the market. */
export function decimalsOf(mint: string): number {
  return mint === WSOL_MINT ? 9 : TOKEN_DECIMALS
}

function accountData(account: Account, encoding: string): unknown {
  const { data } = account
  if (encoding === 'jsonParsed') {
    const program = PARSED_PROGRAMS[account.owner]
    const parsed = program && parsedTokenData(data)
    if (parsed) return { program, parsed, space: data.length }
  }
  if (encoding === 'base58') return [encodeBase58(data), 'base58']
  return [Buffer.from(data).toString('base64'), 'base64']
}

function parsedTokenData(data: Uint8Array): object | undefined {
  if (data.length === MINT_BYTES) {
    const supply = String(new DataView(data.buffer, data.byteOffset).getBigUint64(36, true))
    return {
      type: 'mint',
      info: { decimals: data[DECIMALS_AT], freezeAuthority: null, isInitialized: true, mintAuthority: null, supply },
    }
  }
  const token = decodeTokenAccount(data)
  if (!token) return undefined
  const { mint, owner, amount } = token
  const tokenAmount = amountShape(amount, decimalsOf(mint))
  return {
    type: 'account',
    info: { isNative: mint === WSOL_MINT, mint, owner, state: 'initialized', tokenAmount },
  }
}

/** A transaction in Solana's JSON format or as bytes (solana.com/docs/rpc). Lamports are numbers, and tokens are
 *  strings. */
export function transactionShape(transaction: LandedTransaction, encoding: string): object {
  const { slot, blockTime } = transaction
  const { version } = transactionOf(transaction).message
  return { slot, blockTime, version, meta: metaShape(transaction), transaction: messageShape(transaction, encoding) }
}

function metaShape({ error, feeLamports, inner, computeUnits, logs, ...rest }: LandedTransaction): object {
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    fee: feeLamports,
    ...balancesShape(rest),
    innerInstructions: inner.map(([index, called]) => ({
      index,
      instructions: called.map(({ program, accounts, data, stackHeight }) => {
        return { programIdIndex: program, accounts, data: base58(data), stackHeight }
      }),
    })),
    logMessages: logs,
    rewards: [],
    computeUnitsConsumed: computeUnits,
  }
}

/** Balances before and after a landed or simulated transaction, in the JSON format. */
export function balancesShape({ accounts, tokens }: Pick<LandedTransaction, 'accounts' | 'tokens'>): object {
  const looked = accounts.filter(({ source }) => source === 'lookupTable')
  return {
    preBalances: accounts.map(({ preLamports }) => preLamports),
    postBalances: accounts.map(({ postLamports }) => postLamports),
    preTokenBalances: tokenBalances(accounts, tokens, ({ pre }) => pre),
    postTokenBalances: tokenBalances(accounts, tokens, ({ post }) => post),
    loadedAddresses: {
      writable: looked.filter(({ writable }) => writable).map(({ address }) => address),
      readonly: looked.filter(({ writable }) => !writable).map(({ address }) => address),
    },
  }
}

export function versionOf(transaction: LandedTransaction): 'legacy' | 0 {
  return transactionOf(transaction).message.version
}

/** Token balances in the JSON format. An account that does not exist has no entry. */
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
        programId: token.program,
        uiTokenAmount: amountShape(amount, token.decimals),
      },
    ]
  })
}

function messageShape(transaction: LandedTransaction, encoding: string): unknown {
  const { accounts, instructions, recentBlockhash } = transaction
  const sent = transactionOf(transaction)
  if (encoding === 'base64') return [Buffer.from(encodeTransaction(sent)).toString('base64'), 'base64']
  if (encoding === 'base58') return [encodeBase58(encodeTransaction(sent)), 'base58']
  const parsed = encoding === 'jsonParsed'
  const { version, keys, lookups, ...rest } = sent.message
  const shared = { recentBlockhash, ...(version === 0 ? { addressTableLookups: lookups.map(lookupShape) } : {}) }
  const message = parsed
    ? {
        ...shared,
        accountKeys: accounts.map(({ address, signer, writable, source }) => ({
          pubkey: address,
          signer,
          writable,
          source,
        })),
        instructions: instructions.map(({ program, accounts: used, data }) => ({
          programId: program,
          accounts: used,
          data: base58(data),
          stackHeight: null,
        })),
      }
    : {
        ...shared,
        header: {
          numRequiredSignatures: rest.signers,
          numReadonlySignedAccounts: rest.readonlySigners,
          numReadonlyUnsignedAccounts: rest.readonlyOthers,
        },
        accountKeys: keys,
        instructions: rest.instructions.map(({ program, accounts: places, data }) => ({
          programIdIndex: program,
          accounts: places,
          data: encodeBase58(data),
          stackHeight: null,
        })),
      }
  return { signatures: sent.signatures.map(encodeBase58), message }
}

function lookupShape({ table, writable, readonly }: Lookup): object {
  return { accountKey: table, writableIndexes: writable, readonlyIndexes: readonly }
}

function base58(hex: string): string {
  return encodeBase58(Buffer.from(hex, 'hex'))
}

type Sent = Pick<TransactionBytes, 'signatures' | 'message'>

/** The transaction in the form in which it was sent. The small ledger has no bytes and constructs a plausible
 *  transaction. */
function transactionOf(transaction: LandedTransaction): Sent {
  const { bytes, signature, accounts, instructions, recentBlockhash } = transaction
  if (bytes !== undefined) {
    const decoded = decodeTransaction(Buffer.from(bytes, 'base64'))
    if (decoded.ok) return decoded.transaction
  }
  const statics = accounts.filter(({ source }) => source === 'transaction')
  const place = new Map(accounts.map(({ address }, index) => [address, index]))
  const message: Message = {
    version: 0,
    signers: statics.filter(({ signer }) => signer).length,
    readonlySigners: 0,
    readonlyOthers: statics.filter(({ signer, writable }) => !signer && !writable).length,
    keys: statics.map(({ address }) => address),
    blockhash: recentBlockhash,
    instructions: instructions.map(({ program, accounts: keys, data }) => ({
      program: place.get(program)!,
      accounts: keys.map((key) => place.get(key)!),
      data: Buffer.from(data, 'hex'),
    })),
    lookups: lookupsOf(transaction),
  }
  return { signatures: [decodeBase58(signature, 64)!], message }
}

/** Lookups of a transaction on the small ledger. It has no lookup table, so the program's address is used in place of
 *  the table's. */
function lookupsOf({ accounts }: LandedTransaction): Lookup[] {
  const looked = accounts.filter(({ source }) => source === 'lookupTable')
  if (looked.length === 0) return []
  const writable = looked.filter((use) => use.writable).length
  const places = looked.map((_use, index) => index)
  return [{ table: PROGRAMS.bondingCurve, writable: places.slice(0, writable), readonly: places.slice(writable) }]
}
