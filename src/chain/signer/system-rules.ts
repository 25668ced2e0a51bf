import { encodeBase58 } from '../../core/base58.ts'
import { ByteReader, Malformed } from '../../core/byte-reader.ts'
import { PROGRAMS } from '../../core/programs.ts'
import { seededAddress } from '../verifier/addresses.ts'
import type { Findings, Step } from './message.ts'

const TRANSFER = 2
const CREATE_WITH_SEED = 3
const TOKEN_ACCOUNT_BYTES = 165n
const LONGEST_SEED = 32n

/** SOL is counted, an account for wrapped SOL may be opened; owners, sizes and nonces are left alone. */
export function readSystem(step: Step, findings: Findings): void {
  const reader = new ByteReader(step.data)
  const kind = reader.uint32()
  if (kind === TRANSFER) readTransfer(step, reader, findings)
  else if (kind === CREATE_WITH_SEED) readSeeded(step, reader, findings)
  else findings.object(`instruction ${step.place}, System number ${kind}: no trade needs it`)
}

function readTransfer({ place, accounts }: Step, reader: ByteReader, findings: Findings): void {
  const lamports = reader.uint64()
  const [from, to] = accounts
  if (reader.left > 0 || accounts.length !== 2) throw new Malformed('a transfer of another shape')
  if (from === findings.wallet) {
    if (to === findings.wallet) return
    if (to === findings.wrappedAccount || (to !== undefined && findings.seeded.has(to))) findings.wrapped += lamports
    else findings.spent += lamports
  } else if (!findings.isCoSigner(from)) findings.object(`instruction ${place} moves SOL of somebody who does not sign`)
}

function readSeeded({ place, accounts }: Step, reader: ByteReader, findings: Findings): void {
  const { wallet, seeded } = findings
  const base = encodeBase58(reader.bytes(32))
  const length = reader.uint64()
  if (length > LONGEST_SEED) throw new Malformed('a seed that is too long')
  const seed = reader.bytes(Number(length))
  const lamports = reader.uint64()
  const space = reader.uint64()
  const owner = encodeBase58(reader.bytes(32))
  const [from, opened, third = base, ...more] = accounts
  if (reader.left > 0 || more.length > 0) throw new Malformed('an account opened in another way')
  const isOurs = from === wallet && base === wallet && third === wallet
  const isToken = owner === PROGRAMS.token && space === TOKEN_ACCOUNT_BYTES
  if (!isOurs || !isToken || opened !== seededAddress(base, seed, owner) || seeded.size > 0) {
    findings.object(`instruction ${place} opens an account that is none for wrapped SOL of the wallet`)
    return
  }
  seeded.set(opened, false)
  findings.wrapped += lamports
}
