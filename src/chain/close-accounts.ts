import type { Clock } from '../base/machine.ts'
import { encodeBase58, isPublicKey } from '../solana/base58.ts'
import { BASE_FEE } from '../solana/constants.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { tokenAccountOf } from '../solana/token-account.ts'
import { accountOf } from './rpc/accounts.ts'
import { call, readHead, record, Unread, whole } from './rpc/read.ts'
import type { Rpc } from './rpc/rpc.ts'
import { Sender } from './sender.ts'
import type { Signer } from './signer/port.ts'

/** A token account of a wallet. `keptBecause` is the reason to keep the account; '' if it may be closed. */
export interface RentAccount {
  readonly address: string
  readonly program: string
  readonly mint: string
  /** Lamports that are returned when the account is closed. */
  readonly lamports: bigint
  readonly keptBecause: string
}

/** Maximum number of accounts that one transaction closes. More instructions do not fit into one packet. */
const MOST_CLOSED_AT_ONCE = 20
const TOKEN_PROGRAMS: readonly string[] = [PROGRAMS.token, PROGRAMS.token2022]
/** Data of the CloseAccount instruction, which is the same in Token and Token-2022 (spl-token-interface). */
const CLOSE = Uint8Array.of(9)
/** Offset of the close authority, which is a COption<Pubkey> and the last field of a token account (spl-token
 *  state.rs). */
const CLOSE_AUTHORITY = 129

/** Reads all token accounts of a wallet at commitment `confirmed`. Throws Unread if no node answers. `inUse`: mints of
 *  open positions and orders, whose accounts are kept. */
export async function readRentAccounts(rpc: Rpc, wallet: string, inUse: ReadonlySet<string>): Promise<RentAccount[]> {
  const accounts: RentAccount[] = []
  for (const programId of TOKEN_PROGRAMS) {
    const how = { commitment: 'confirmed', encoding: 'base64' }
    const { value } = record(await call(rpc, 'getTokenAccountsByOwner', [wallet, { programId }, how]))
    if (!Array.isArray(value)) throw new Unread('the answer is not a list of token accounts')
    for (const row of value) accounts.push(rentAccountOf(row, wallet, inUse))
  }
  return accounts.sort((a, b) => (a.address < b.address ? -1 : 1))
}

function rentAccountOf(row: unknown, wallet: string, inUse: ReadonlySet<string>): RentAccount {
  const { pubkey: address, account } = record(row)
  const state = accountOf(account)
  const held = tokenAccountOf(state)
  if (state === null || held === undefined || !isPublicKey(address))
    throw new Unread('the answer contains an entry that is not a token account')
  const closer =
    state.data[CLOSE_AUTHORITY] === 1 ? state.data.subarray(CLOSE_AUTHORITY + 4, CLOSE_AUTHORITY + 36) : null
  const keptBecause =
    held.owner !== wallet
      ? 'another wallet owns it'
      : held.tokens > 0n
        ? `it holds ${held.tokens} base units`
        : inUse.has(held.mint)
          ? 'a position or an order of its token is open'
          : closer !== null && encodeBase58(closer) !== wallet
            ? 'another key has the right to close it'
            : ''
  return { address, program: state.owner, mint: held.mint, lamports: state.lamports, keptBecause }
}

/** Builds the message of a transaction that closes these accounts and returns their rent to the wallet. The chain
 *  refuses to close an account that holds tokens. */
async function closingMessage(
  wallet: string,
  accounts: readonly RentAccount[],
  blockhash: string,
): Promise<Uint8Array> {
  const { newMessage } = await import('./web3.ts')
  const owner = { address: wallet, isSigner: true, isWritable: true }
  const instructions = accounts.map(({ program, address }) => {
    return { program, accounts: [{ address, isSigner: false, isWritable: true }, owner, owner], data: CLOSE }
  })
  const compiled = newMessage(wallet, blockhash, instructions)
  if (!compiled.ok) throw new Unread(compiled.reason ?? 'the message does not fit into a packet')
  return compiled.messageBytes
}

const LOOK_EVERY_MS = 1000
/** A transaction counts as expired once the chain is more than this number of blocks past its last valid height. This
 *  is a margin, because nodes may be at different heights. */
const SPARE_BLOCKS = 8

export interface ClosingParts {
  readonly rpcs: { readonly any: Rpc; readonly each: readonly Rpc[] }
  readonly clock: Clock
  readonly signer: Signer
  readonly wallet: string
  readonly policyHash: string
  readonly say: (text: string) => void
}

/** Result of one transaction that was built to close accounts. */
export interface Closing {
  readonly accounts: readonly RentAccount[]
  readonly signature: string
  /** Reason why the accounts were not closed; '' if they were closed. */
  readonly failure: string
}

/** Closes the accounts, as many per transaction as fit. Each transaction is simulated first. If the simulation fails,
 *  the accounts of this transaction are tried again in two halves, so that one bad account does not block the others.
 *  If no node answers or the signer refuses, closing stops, and the last entry of the result contains the remaining
 *  accounts and the reason. */
export async function closeAll(parts: ClosingParts, accounts: readonly RentAccount[]): Promise<Closing[]> {
  const done: Closing[] = []
  const waiting: RentAccount[][] = []
  for (let from = 0; from < accounts.length; from += MOST_CLOSED_AT_ONCE)
    waiting.push(accounts.slice(from, from + MOST_CLOSED_AT_ONCE))
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    const closing = await closeBatch(parts, batch).catch((error: unknown) => {
      if (!(error instanceof Unread)) throw error
      return error.message
    })
    if (typeof closing === 'string')
      return [...done, { accounts: [...batch, ...waiting.flat()], signature: '', failure: closing }]
    const isHalved = closing.failure !== '' && closing.signature === '' && batch.length > 1
    if (isHalved) waiting.unshift(batch.slice(0, batch.length / 2), batch.slice(batch.length / 2))
    else done.push(closing)
  }
  return done
}

/** Closes the accounts in one transaction. `signature` in the result is '' if nothing was sent. */
async function closeBatch(parts: ClosingParts, accounts: readonly RentAccount[]): Promise<Closing> {
  const { rpcs, signer, wallet, policyHash, clock, say } = parts
  const { blockhash, lastHeight } = await freshBlockhash(rpcs.any)
  const message = await closingMessage(wallet, accounts, blockhash)
  const refusal = await simulated(rpcs.any, message)
  if (refusal !== '') return { accounts, signature: '', failure: refusal }
  const id = `close-${encodeBase58(message.subarray(-8))}-${lastHeight}`
  const signed = await signer.sign({
    ...{ orderId: id, attemptId: id, message, boundLamports: BigInt(BASE_FEE), policyHash, guarded: false },
  })
  if (!signed.ok) throw new Unread(`the signer refused: ${signed.reason}`)
  const signature = encodeBase58(signed.signature)
  say(`closing ${accounts.length} accounts: ${signature}`)
  const sender = new Sender({ providers: rpcs.each, clock, alarm: say })
  const stop = sender.send(Buffer.from(transactionOf(signed.signature, message)).toString('base64'), signature)
  try {
    return { accounts, signature, failure: await outcomeOf(rpcs.any, clock, signature, lastHeight) }
  } finally {
    stop()
  }
}

async function freshBlockhash(rpc: Rpc): Promise<{ blockhash: string; lastHeight: number }> {
  const { value } = record(await call(rpc, 'getLatestBlockhash', [{ commitment: 'confirmed' }]))
  const { blockhash, lastValidBlockHeight } = record(value)
  if (!isPublicKey(blockhash)) throw new Unread('the answer contains no valid blockhash')
  return { blockhash, lastHeight: whole(lastValidBlockHeight) }
}

/** Returns the reason why the simulation failed; '' if it passed. */
async function simulated(rpc: Rpc, message: Uint8Array): Promise<string> {
  const bytes = Buffer.from(transactionOf(new Uint8Array(64), message)).toString('base64')
  const how = { encoding: 'base64', sigVerify: false, commitment: 'confirmed' }
  const { value } = record(await call(rpc, 'simulateTransaction', [bytes, how]))
  const { err } = record(value)
  return err === null || err === undefined ? '' : `the simulation failed: ${JSON.stringify(err)}`
}

/** Waits until the transaction is confirmed, has failed, or has expired. Returns the reason of a failure; '' if it is
 *  confirmed. */
async function outcomeOf(rpc: Rpc, clock: Clock, signature: string, lastHeight: number): Promise<string> {
  for (;;) {
    await new Promise<void>((resolve) => void clock.after(LOOK_EVERY_MS, resolve))
    // The height is read before the status. If the height is past the last valid one and there is no status, the
    // transaction can no longer land.
    const height = await heightOf(rpc)
    const status = await statusOf(rpc, signature)
    if (status?.failed === true) return 'the transaction failed on the chain'
    if (status !== undefined) return ''
    if (height !== undefined && height > lastHeight + SPARE_BLOCKS)
      return 'the transaction expired before it landed; try again'
  }
}

async function heightOf(rpc: Rpc): Promise<number | undefined> {
  try {
    return (await readHead(rpc, 'finalized')).height
  } catch (error) {
    if (!(error instanceof Unread)) throw error
    return undefined
  }
}

async function statusOf(rpc: Rpc, signature: string): Promise<{ failed: boolean } | undefined> {
  const answer = await rpc('getSignatureStatuses', [[signature], { searchTransactionHistory: true }])
  const [row] = answer.ok ? ((answer.value as { value?: unknown[] } | null)?.value ?? []) : []
  if (typeof row !== 'object' || row === null) return undefined
  const { confirmationStatus, err } = row as { confirmationStatus?: unknown; err?: unknown }
  const isSeen = confirmationStatus === 'confirmed' || confirmationStatus === 'finalized'
  return isSeen ? { failed: err !== null && err !== undefined } : undefined
}

function transactionOf(signature: Uint8Array, message: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.of(1), signature, message])
}
