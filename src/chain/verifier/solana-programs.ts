import { encodeBase58 } from '../../solana/base58.ts'
import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import { CLEAR_CLOSE_AUTHORITY, INITIALIZE_ACCOUNT, SYSTEM, TOKEN } from '../../solana/instructions.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import type { Reading, Step } from './reading.ts'
import { readSeededAccount } from './seeded-account.ts'

/** Names of the System program's instructions, by number. */
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

const NONCE = new Set<number>([
  ...[SYSTEM.advanceNonce, SYSTEM.withdrawNonce, SYSTEM.initializeNonce, SYSTEM.authorizeNonce, SYSTEM.upgradeNonce],
])
const CHANGES_OWNER = new Set<number>([SYSTEM.assign, SYSTEM.allocate, SYSTEM.allocateWithSeed, SYSTEM.assignWithSeed])

/** Reads a System instruction. Allows only two kinds: a transfer that the policy allows, and the opening of an account
 *  for wrapped SOL. A trade needs no other System instruction. */
export function readSystem(step: Step, reading: Reading): void {
  const reader = new ByteReader(step.data)
  const kind = reader.uint32()
  const what = `instruction ${step.place} (System program, ${NAMES[kind] ?? `instruction number ${kind}`})`
  if (kind === SYSTEM.transfer) readSystemTransfer(step, reader, reading)
  else if (kind === SYSTEM.createWithSeed) readSeeded(step, reader, reading)
  else if (NONCE.has(kind))
    reading.refuse('DURABLE_NONCE', `${what} would make the transaction use a durable nonce, so that it never expires`)
  else if (CHANGES_OWNER.has(kind))
    reading.refuse('AUTHORITY_CHANGE', `${what} would change the owner or the size of an account`)
  else if (kind === SYSTEM.createAccount)
    reading.refuse('ACCOUNT_OPENED', `${what} would open an account that has a key of its own`)
  else if (kind === SYSTEM.transferWithSeed)
    reading.refuse('SOL_TRANSFER', `${what} would move SOL out of an account that was opened with a seed`)
  else reading.refuse('INSTRUCTION_UNKNOWN', `${what} is unknown`)
}

function readSystemTransfer(
  { place, accounts: [from = '', to = '', ...more] }: Step,
  reader: ByteReader,
  reading: Reading,
): void {
  const lamports = reader.uint64()
  if (reader.left > 0 || to === '' || more.length > 0)
    throw new Malformed('the transfer has unexpected accounts or data')
  if (from === reading.wallet) reading.pay(place, to, lamports)
  else if (!reading.coSigners.has(from))
    reading.refuse(
      'SOL_TRANSFER',
      `instruction ${place} moves SOL of ${from}, which is neither the wallet nor a co-signer`,
    )
}

function readSeeded({ place, accounts }: Step, reader: ByteReader, reading: Reading): void {
  const { address = '', lamports, isTokenAccountOfWallet } = readSeededAccount(reader, accounts, reading.wallet)
  if (!isTokenAccountOfWallet || reading.seeded.has(address)) {
    const reason = `instruction ${place} opens ${address}, which is not an account for wrapped SOL of the wallet`
    reading.refuse('ACCOUNT_OPENED', reason)
    return
  }
  reading.seeded.set(address, false)
  reading.wrapped += lamports
}

/** Records that a seeded account was initialized as the wallet's wrapped SOL account. Before its initialization, any
 *  program could take the account. */
function initializeSeeded(step: Step, account: string, mint: string, owner: string, reading: Reading): void {
  const isFit = reading.seeded.get(account) === false && mint === WSOL_MINT && owner === reading.wallet
  if (!isFit || step.program !== PROGRAMS.token) {
    reading.refuse(
      'ACCOUNT_OPENED',
      `instruction ${step.place} initializes ${account} for the owner ${owner} and the mint ${mint}; this trade does not need that account`,
    )
    return
  }
  reading.seeded.set(account, true)
  reading.own.set(account, { mint, program: PROGRAMS.token })
}

/** Data of the instructions that revoke rights, in hex: Revoke, and SetAuthority that clears the close authority. */
const REVOKES = new Set(
  [Buffer.of(TOKEN.revoke), CLEAR_CLOSE_AUTHORITY].map((data) => Buffer.from(data).toString('hex')),
)
const GIVES_RIGHTS: Readonly<Record<number, string>> = {
  ...{ [TOKEN.approve]: 'Approve', [TOKEN.setAuthority]: 'SetAuthority', [TOKEN.approveChecked]: 'ApproveChecked' },
}
const BURNS: Readonly<Record<number, string>> = { [TOKEN.burn]: 'Burn', [TOKEN.burnChecked]: 'BurnChecked' }

/** Reads a token instruction. Allows the wrapping of SOL, the closing of an emptied account, and a transfer of a
 *  co-signer's own tokens. */
export function readToken(step: Step, reading: Reading): void {
  const reader = new ByteReader(step.data)
  const kind = reader.byte()
  const what = `instruction ${step.place} (token program)`
  if (revokesRights(step, reading)) return
  if (kind === TOKEN.transfer || kind === TOKEN.transferChecked)
    readTokenTransfer(step, kind === TOKEN.transferChecked, reading)
  else if (kind === TOKEN.closeAccount) readClose(step, reading)
  else if (kind === TOKEN.syncNative) readSync(step, reading)
  else if (INITIALIZE_ACCOUNT.includes(kind)) readInitialize(step, kind, reader, reading)
  else if (kind in GIVES_RIGHTS)
    reading.refuse(
      'AUTHORITY_CHANGE',
      `${what} is ${GIVES_RIGHTS[kind]}: another key could move the tokens in ${step.accounts[0]}`,
    )
  else if (kind in BURNS) reading.refuse('TOKEN_TRANSFER', `${what} is ${BURNS[kind]}, which would destroy tokens`)
  else reading.refuse('INSTRUCTION_UNKNOWN', `${what} has the instruction number ${kind}, which is not part of a trade`)
}

/** Whether an instruction of the wallet revokes rights to one of the wallet's own accounts. */
function revokesRights({ accounts: [account = '', authority, ...more], data }: Step, reading: Reading): boolean {
  const isOurs = authority === reading.wallet && reading.own.has(account) && more.length === 0
  return isOurs && REVOKES.has(Buffer.from(data).toString('hex'))
}

/** Checks a token transfer. A transfer from an account of the wallet is allowed only to the same account; such a
 *  transfer checks a balance and moves nothing. */
function readTokenTransfer({ place, accounts }: Step, checked: boolean, reading: Reading): void {
  const [from = '', to = '', authority = '', ...more] = checked ? accounts.toSpliced(1, 1) : accounts
  if (authority === '' || more.length > 0) throw new Malformed('the transfer has unexpected accounts or data')
  const isCoSigners = reading.coSigners.has(authority) && !reading.own.has(from)
  const isGuard = authority === reading.wallet && from === to && reading.own.has(from)
  if (!isCoSigners && !isGuard)
    reading.refuse(
      'TOKEN_TRANSFER',
      `instruction ${place} transfers tokens from ${from} to ${to}, which is not part of the trade`,
    )
}

function readClose({ place, accounts: [account = '', to = '', owner = '', ...more] }: Step, reading: Reading): void {
  if (owner === '' || more.length > 0) throw new Malformed('CloseAccount must have exactly three accounts')
  const own = reading.own.get(account)
  const mayClose = own !== undefined && (reading.isWrapped(account) || reading.asked.side === 'sell')
  if (owner === reading.wallet && to === reading.wallet && mayClose) reading.closed.add(account)
  else
    reading.refuse(
      'ACCOUNT_CLOSED',
      `instruction ${place} closes ${account} and sends its SOL to ${to}, which this trade does not allow`,
    )
}

function readSync({ place, accounts: [account, ...more] }: Step, reading: Reading): void {
  if (more.length > 0 || !reading.isWrapped(account))
    reading.refuse(
      'INSTRUCTION_UNKNOWN',
      `instruction ${place} (SyncNative) is for ${account}, which is not a wrapped SOL account of the wallet`,
    )
}

function readInitialize(step: Step, kind: number, reader: ByteReader, reading: Reading): void {
  const [account = '', mint = '', third = ''] = step.accounts
  const owner = kind === TOKEN.initializeAccount ? third : encodeBase58(reader.bytes(32))
  if (reader.left > 0) throw new Malformed('InitializeAccount has bytes after its arguments')
  initializeSeeded(step, account, mint, owner, reading)
}

/** Allows the opening of the wallet's account for the traded token or for wrapped SOL. For any other account, the
 *  wallet would lose the rent. */
export function readAssociated({ place, accounts, data }: Step, reading: Reading): void {
  const [payer = '', account = '', owner = '', mint = '', system = '', program = ''] = accounts
  // No data or the byte 0 means Create, and 1 means CreateIdempotent. Older clients pass the rent sysvar as a seventh
  // account.
  const isCreate = data.length === 0 || (data.length === 1 && (data[0] as number) <= 1)
  if (!isCreate || accounts.length < 6 || accounts.length > 7 || system !== PROGRAMS.system) {
    reading.refuse(
      'INSTRUCTION_UNKNOWN',
      `instruction ${place} (Associated Token) does not open an account, so it is not part of a trade`,
    )
    return
  }
  const own = reading.own.get(account)
  const isOurs = owner === reading.wallet && own !== undefined && own.mint === mint && own.program === program
  if (!isOurs || reading.seeded.has(account)) {
    reading.refuse(
      'ACCOUNT_OPENED',
      `instruction ${place} opens ${account} for the owner ${owner} and the mint ${mint}; this trade does not need that account`,
    )
    return
  }
  if (payer === reading.wallet) reading.opened.set(account, program)
  else if (!reading.coSigners.has(payer))
    reading.refuse(
      'ACCOUNT_OPENED',
      `instruction ${place} lets ${payer} pay, which is neither the wallet nor a co-signer`,
    )
}
