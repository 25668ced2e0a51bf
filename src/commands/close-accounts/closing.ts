import { call, readHead, record, Unread, whole } from '../../chain/read.ts'
import { closingMessage, MOST_CLOSED_AT_ONCE, type RentAccount } from '../../chain/rent.ts'
import { Sender } from '../../chain/sender.ts'
import { encodeBase58, isPublicKey } from '../../core/base58.ts'
import type { Clock, Rpc, Signer } from '../../core/ports.ts'

/** Base fee of one signature: all that leaves the wallet. */
export const CLOSING_FEE = 5_000
const LOOK_EVERY_MS = 1_000
/** A node may be some blocks ahead of the one that told the height. */
const SPARE_BLOCKS = 8

export interface ClosingParts {
  readonly rpcs: { readonly any: Rpc; readonly each: readonly Rpc[] }
  readonly clock: Clock
  readonly signer: Signer
  readonly wallet: string
  readonly policyHash: string
  readonly say: (text: string) => void
}

/** What became of some accounts. */
export interface Closing {
  readonly accounts: readonly RentAccount[]
  readonly signature: string
  /** '' where they are closed. */
  readonly failure: string
}

/** Closes them, as many in a transaction as fit; each transaction is simulated first, and where one does not run, its accounts are tried in
 *  halves, so that one bad account keeps no other from being closed. Where nobody answers or signs any more it ends, and what was closed
 *  until then is told like the rest. */
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

/** Without a signature in what it answers nothing was sent. */
async function closeBatch(parts: ClosingParts, accounts: readonly RentAccount[]): Promise<Closing> {
  const { rpcs, signer, wallet, policyHash, clock, say } = parts
  const { blockhash, lastHeight } = await freshBlockhash(rpcs.any)
  const message = closingMessage(wallet, accounts, blockhash)
  const refusal = await simulated(rpcs.any, message)
  if (refusal !== '') return { accounts, signature: '', failure: refusal }
  const id = `close-${encodeBase58(message.subarray(-8))}-${lastHeight}`
  const signed = await signer.sign({
    ...{ orderId: id, attemptId: id, message, boundLamports: BigInt(CLOSING_FEE), policyHash, guarded: false },
  })
  if (!signed.ok) throw new Unread(`the signer refuses: ${signed.reason}`)
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
  if (!isPublicKey(blockhash)) throw new Unread('no blockhash')
  return { blockhash, lastHeight: whole(lastValidBlockHeight) }
}

/** Why it would fail; '' where it would not. */
async function simulated(rpc: Rpc, message: Uint8Array): Promise<string> {
  const bytes = Buffer.from(transactionOf(new Uint8Array(64), message)).toString('base64')
  const how = { encoding: 'base64', sigVerify: false, commitment: 'confirmed' }
  const { value } = record(await call(rpc, 'simulateTransaction', [bytes, how]))
  const { err } = record(value)
  return err === null || err === undefined ? '' : `the chain would refuse: ${JSON.stringify(err)}`
}

/** Waits until it is confirmed, has failed, or can not land any more. */
async function outcomeOf(rpc: Rpc, clock: Clock, signature: string, lastHeight: number): Promise<string> {
  for (;;) {
    await new Promise<void>((resolve) => void clock.after(LOOK_EVERY_MS, resolve))
    // The height first: what is not there although no block can take it any more never comes.
    const height = await heightOf(rpc)
    const status = await statusOf(rpc, signature)
    if (status?.failed === true) return 'it failed on the chain'
    if (status !== undefined) return ''
    if (height !== undefined && height > lastHeight + SPARE_BLOCKS) return 'it expired and did not land; try again'
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
