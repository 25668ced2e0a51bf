import { encodeBase58 } from '../../core/base58.ts'
import { ByteReader, Malformed } from '../../core/byte-reader.ts'
import { PROGRAMS, WSOL_MINT } from '../../core/programs.ts'
import { seededAddress } from './addresses.ts'
import type { Reading, Step } from './reading.ts'

/** Instructions by number (solana-system-interface). */
const NAMES = [
  'CreateAccount',
  'Assign',
  'Transfer',
  'CreateAccountWithSeed',
  'AdvanceNonceAccount',
  'WithdrawNonceAccount',
  'InitializeNonceAccount',
  'AuthorizeNonceAccount',
  'Allocate',
  'AllocateWithSeed',
  'AssignWithSeed',
  'TransferWithSeed',
  'UpgradeNonceAccount',
]
const TRANSFER = 2
const CREATE_WITH_SEED = 3
const NONCE = new Set([4, 5, 6, 7, 12])
const GIVES_AWAY = new Set([1, 8, 9, 10])
const TOKEN_ACCOUNT_BYTES = 165n
const LONGEST_SEED = 32n

/** A transfer to where the policy allows, or an account for wrapped SOL; nothing else of the System program has a place in a trade. */
export function readSystem(step: Step, reading: Reading): void {
  const reader = new ByteReader(step.data)
  const kind = reader.uint32()
  const what = `instruction ${step.place}, System ${NAMES[kind] ?? `number ${kind}`}`
  if (kind === TRANSFER) readTransfer(step, reader, reading)
  else if (kind === CREATE_WITH_SEED) readSeeded(step, reader, reading)
  else if (NONCE.has(kind))
    reading.refuse('DURABLE_NONCE', `${what}: the transaction would hang on a nonce, or opens one`)
  else if (GIVES_AWAY.has(kind))
    reading.refuse('AUTHORITY_CHANGE', `${what}: an account would change its owner or its size`)
  else if (kind === 0) reading.refuse('ACCOUNT_OPENED', `${what}: an account with a key of its own`)
  else if (kind === 11) reading.refuse('SOL_TRANSFER', `${what}: SOL from an account that a seed opened`)
  else reading.refuse('INSTRUCTION_UNKNOWN', what)
}

function readTransfer(
  { place, accounts: [from = '', to = '', ...more] }: Step,
  reader: ByteReader,
  reading: Reading,
): void {
  const lamports = reader.uint64()
  if (reader.left > 0 || to === '' || more.length > 0) throw new Malformed('a transfer of another shape')
  if (from === reading.wallet) reading.pay(place, to, lamports)
  else if (!reading.coSigners.has(from))
    reading.refuse('SOL_TRANSFER', `instruction ${place} moves SOL of ${from}, who is not the wallet and does not sign`)
}

function readSeeded({ place, accounts, data: _ }: Step, reader: ByteReader, reading: Reading): void {
  const base = encodeBase58(reader.bytes(32))
  const length = reader.uint64()
  if (length > LONGEST_SEED) throw new Malformed('a seed that is too long')
  const seed = reader.bytes(Number(length))
  const lamports = reader.uint64()
  const space = reader.uint64()
  const owner = encodeBase58(reader.bytes(32))
  const [from, opened = '', third = base, ...more] = accounts
  if (reader.left > 0 || more.length > 0) throw new Malformed('an account opened in another way')
  const isOurs = from === reading.wallet && base === reading.wallet && third === base
  const isToken = owner === PROGRAMS.token && space === TOKEN_ACCOUNT_BYTES
  if (!isOurs || !isToken || opened !== seededAddress(base, seed, owner) || reading.seeded.has(opened)) {
    reading.refuse(
      'ACCOUNT_OPENED',
      `instruction ${place} opens ${opened}, which is no account for wrapped SOL of the wallet`,
    )
    return
  }
  reading.seeded.set(opened, false)
  reading.wrapped += lamports
}

/** A seeded account becomes the wallet's own wrapped SOL; until then whoever comes first could make it his. */
export function takeSeeded(step: Step, account: string, mint: string, owner: string, reading: Reading): void {
  const isFit = reading.seeded.get(account) === false && mint === WSOL_MINT && owner === reading.wallet
  if (!isFit || step.program !== PROGRAMS.token) {
    reading.refuse('ACCOUNT_OPENED', `instruction ${step.place} makes ${account} an account of ${owner} for ${mint}`)
    return
  }
  reading.seeded.set(account, true)
  reading.own.set(account, { mint, program: PROGRAMS.token })
}
