import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Refusal } from '../../core/errors.ts'
import { keyBytes, type TransactionBytes } from '../../core/transaction-bytes.ts'

/** What an SPKI of an ed25519 key begins with. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** The wallet pays and has not signed; whoever else signs is listed and has. */
export function checkSignatures(
  { signatures, message, messageBytes }: TransactionBytes,
  wallet: string,
  coSigners: readonly string[],
): Refusal[] {
  const refusals: Refusal[] = []
  const refuse = (code: Refusal['code'], reason: string) => refusals.push({ code, reason })
  for (const [index, signature] of signatures.entries()) {
    const signer = message.keys[index] as string
    const isEmpty = signature.every((byte) => byte === 0)
    if (index === 0 && signer !== wallet) refuse('FEE_PAYER', `the fee is paid by ${signer}, the wallet is ${wallet}`)
    if (signer === wallet) {
      if (!isEmpty)
        refuse('SIGNATURE_PRESENT', "the wallet's own signature stands there already, and nobody here made it")
    } else if (!coSigners.includes(signer)) refuse('CO_SIGNER', `${signer} signs too and is not in coSigners`)
    else if (isEmpty) refuse('CO_SIGNER', `${signer} has to sign too and has not`)
    else if (!verify(null, messageBytes, publicKey(signer), signature))
      refuse('CO_SIGNER', `the signature of ${signer} is not over this message`)
  }
  return refusals
}

function publicKey(address: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI, keyBytes(address)]), format: 'der', type: 'spki' })
}
