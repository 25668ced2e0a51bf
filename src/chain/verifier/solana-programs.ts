import { encodeBase58 } from '../../solana/base58.ts'
import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { seededAddress } from '../addresses.ts'
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

const SYSTEM_TRANSFER = 2
const CREATE_WITH_SEED = 3
const NONCE = new Set([4, 5, 6, 7, 12])
const GIVES_AWAY = new Set([1, 8, 9, 10])
const TOKEN_ACCOUNT_BYTES = 165n
const LONGEST_SEED = 32n

/** A transfer to where the policy allows, or an account for wrapped SOL; nothing else of the System program has a place
 *  in a trade. */
export function readSystem(step: Step, reading: Reading): void {
  const reader = new ByteReader(step.data)
  const kind = reader.uint32()
  const what = `instruction ${step.place}, System ${NAMES[kind] ?? `number ${kind}`}`
  if (kind === SYSTEM_TRANSFER) readSystemTransfer(step, reader, reading)
  else if (kind === CREATE_WITH_SEED) readSeeded(step, reader, reading)
  else if (NONCE.has(kind))
    reading.refuse('DURABLE_NONCE', `${what}: the transaction would hang on a nonce, or opens one`)
  else if (GIVES_AWAY.has(kind))
    reading.refuse('AUTHORITY_CHANGE', `${what}: an account would change its owner or its size`)
  else if (kind === 0) reading.refuse('ACCOUNT_OPENED', `${what}: an account with a key of its own`)
  else if (kind === 11) reading.refuse('SOL_TRANSFER', `${what}: SOL from an account that a seed opened`)
  else reading.refuse('INSTRUCTION_UNKNOWN', what)
}

function readSystemTransfer(
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
function takeSeeded(step: Step, account: string, mint: string, owner: string, reading: Reading): void {
  const isFit = reading.seeded.get(account) === false && mint === WSOL_MINT && owner === reading.wallet
  if (!isFit || step.program !== PROGRAMS.token) {
    reading.refuse('ACCOUNT_OPENED', `instruction ${step.place} makes ${account} an account of ${owner} for ${mint}`)
    return
  }
  reading.seeded.set(account, true)
  reading.own.set(account, { mint, program: PROGRAMS.token })
}

// Instructions by number, the same in Token and Token-2022 (spl-token-interface); Token-2022's own ones begin at 22 and
// have no place here.
const TOKEN_TRANSFER = 3
const CLOSE = 9
const TRANSFER_CHECKED = 12
const SYNC_NATIVE = 17
const INITIALIZE = [1, 16, 18]
const TAKE_BACK = new Set(['05', '060300'])
const GIVES_TOKENS_AWAY: Readonly<Record<number, string>> = { 4: 'Approve', 6: 'SetAuthority', 13: 'ApproveChecked' }
const TAKES_AWAY: Readonly<Record<number, string>> = { 8: 'Burn', 15: 'BurnChecked' }

/** What wrapping SOL needs, closing what a sale emptied, and transfers of a co-signer's own tokens. */
export function readToken(step: Step, reading: Reading): void {
  const reader = new ByteReader(step.data)
  const kind = reader.byte()
  const what = `instruction ${step.place}, Token`
  if (takesRightsBack(step, reading)) return
  if (kind === TOKEN_TRANSFER || kind === TRANSFER_CHECKED) readTokenTransfer(step, kind === TRANSFER_CHECKED, reading)
  else if (kind === CLOSE) readClose(step, reading)
  else if (kind === SYNC_NATIVE) readSync(step, reading)
  else if (INITIALIZE.includes(kind)) readInitialize(step, kind, reader, reading)
  else if (kind in GIVES_TOKENS_AWAY)
    reading.refuse(
      'AUTHORITY_CHANGE',
      `${what} ${GIVES_TOKENS_AWAY[kind]}: somebody else could move what is in ${step.accounts[0]}`,
    )
  else if (kind in TAKES_AWAY)
    reading.refuse('TOKEN_TRANSFER', `${what} ${TAKES_AWAY[kind]}: tokens would be destroyed`)
  else reading.refuse('INSTRUCTION_UNKNOWN', `${what} number ${kind}: no trade needs it`)
}

/** The wallet takes back what rights to an account of its own it may have given: Revoke, and SetAuthority of the right
 *  to close to nobody. */
function takesRightsBack({ accounts: [account = '', authority, ...more], data }: Step, reading: Reading): boolean {
  const isOurs = authority === reading.wallet && reading.own.has(account) && more.length === 0
  return isOurs && TAKE_BACK.has(Buffer.from(data).toString('hex'))
}

/** From an account of ours only into itself: that checks a balance and moves nothing. */
function readTokenTransfer({ place, accounts }: Step, checked: boolean, reading: Reading): void {
  const [from = '', to = '', authority = '', ...more] = checked ? accounts.toSpliced(1, 1) : accounts
  if (authority === '' || more.length > 0) throw new Malformed('a transfer of another shape')
  const isCoSigners = reading.coSigners.has(authority) && !reading.own.has(from)
  const isGuard = authority === reading.wallet && from === to && reading.own.has(from)
  if (!isCoSigners && !isGuard)
    reading.refuse(
      'TOKEN_TRANSFER',
      `instruction ${place} moves tokens from ${from} to ${to} by a transfer, not by a trade`,
    )
}

function readClose({ place, accounts: [account = '', to = '', owner = '', ...more] }: Step, reading: Reading): void {
  if (owner === '' || more.length > 0) throw new Malformed('an account closed in another way')
  const own = reading.own.get(account)
  const mayClose = own !== undefined && (reading.isWrapped(account) || reading.asked.side === 'sell')
  if (owner === reading.wallet && to === reading.wallet && mayClose) reading.closed.add(account)
  else reading.refuse('ACCOUNT_CLOSED', `instruction ${place} closes ${account}, what is in it goes to ${to}`)
}

function readSync({ place, accounts: [account, ...more] }: Step, reading: Reading): void {
  if (more.length > 0 || !reading.isWrapped(account))
    reading.refuse(
      'INSTRUCTION_UNKNOWN',
      `instruction ${place} counts the SOL of ${account}, which is no wrapped SOL of the wallet`,
    )
}

function readInitialize(step: Step, kind: number, reader: ByteReader, reading: Reading): void {
  const [account = '', mint = '', third = ''] = step.accounts
  const owner = kind === 1 ? third : encodeBase58(reader.bytes(32))
  if (reader.left > 0) throw new Malformed('an account made in another way')
  takeSeeded(step, account, mint, owner, reading)
}

/** Opens the wallet's own account of the traded token or of wrapped SOL; anybody else's would be his rent at our
 *  cost. */
export function readAssociated({ place, accounts, data }: Step, reading: Reading): void {
  const [payer = '', account = '', owner = '', mint = '', system = '', program = ''] = accounts
  // Nothing and 0: create; 1: create unless it is there. The seventh account is the rent, as it was asked for long ago.
  const isCreate = data.length === 0 || (data.length === 1 && (data[0] as number) <= 1)
  if (!isCreate || accounts.length < 6 || accounts.length > 7 || system !== PROGRAMS.system) {
    reading.refuse('INSTRUCTION_UNKNOWN', `instruction ${place}, Associated Token: no trade needs it`)
    return
  }
  const own = reading.own.get(account)
  const isOurs = owner === reading.wallet && own !== undefined && own.mint === mint && own.program === program
  if (!isOurs || reading.seeded.has(account)) {
    reading.refuse('ACCOUNT_OPENED', `instruction ${place} opens ${account} of ${owner} for ${mint}`)
    return
  }
  if (payer === reading.wallet) reading.opened.set(account, program)
  else if (!reading.coSigners.has(payer))
    reading.refuse('ACCOUNT_OPENED', `instruction ${place} lets ${payer} pay, who does not sign`)
}
