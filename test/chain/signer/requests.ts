import { SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import type { SignRequest } from '../../../src/chain/signer/port.ts'
import { address, keypair } from '../verifier/draft.ts'
import * as parts from '../verifier/parts.ts'

export const PAIR = keypair('wallet of the signer')
export const WALLET = PAIR.publicKey.toBase58()
const MINT = address('mint of the signer')

/** Returns a request to sign a buy with a unique message, and the signature that web3.js makes for it. */
export function buy(lamports: number, nonce = 0): { request: SignRequest; signature: Uint8Array } {
  const user = PAIR.publicKey
  const instructions = [
    parts.pumpBuy({ user, mint: MINT, one: 1_000n, two: BigInt(lamports) }),
    SystemProgram.transfer({ fromPubkey: user, toPubkey: user, lamports: 1 }),
  ]
  const recentBlockhash = address(`blockhash ${nonce}`).toBase58()
  const message = new TransactionMessage({ payerKey: user, recentBlockhash, instructions }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  transaction.sign([PAIR])
  const names = { orderId: `order ${nonce}`, attemptId: `attempt ${nonce}`, policyHash: 'policy' }
  const request = {
    ...{ ...names, message: message.serialize(), boundLamports: BigInt(lamports) + 5_000n, guarded: true },
  }
  return { request, signature: transaction.signatures[0] as Uint8Array }
}
