import { encodeBase58 } from '../../core/base58.ts'
import { ByteReader, Malformed } from '../../core/byte-reader.ts'
import type { Reading, Step } from './reading.ts'
import { takeSeeded } from './system-program.ts'

// Instructions by number, the same in Token and Token-2022 (spl-token-interface); Token-2022's own ones begin at 22 and have no place here.
const TRANSFER = 3
const CLOSE = 9
const TRANSFER_CHECKED = 12
const SYNC_NATIVE = 17
const INITIALIZE = [1, 16, 18]
const TAKE_BACK = new Set(['05', '060300'])
const GIVES_AWAY: Readonly<Record<number, string>> = { 4: 'Approve', 6: 'SetAuthority', 13: 'ApproveChecked' }
const TAKES_AWAY: Readonly<Record<number, string>> = { 8: 'Burn', 15: 'BurnChecked' }

/** What wrapping SOL needs, closing what a sale emptied, and transfers of a co-signer's own tokens. */
export function readToken(step: Step, reading: Reading): void {
  const reader = new ByteReader(step.data)
  const kind = reader.byte()
  const what = `instruction ${step.place}, Token`
  if (takesRightsBack(step, reading)) return
  if (kind === TRANSFER || kind === TRANSFER_CHECKED) readTransfer(step, kind === TRANSFER_CHECKED, reading)
  else if (kind === CLOSE) readClose(step, reading)
  else if (kind === SYNC_NATIVE) readSync(step, reading)
  else if (INITIALIZE.includes(kind)) readInitialize(step, kind, reader, reading)
  else if (kind in GIVES_AWAY)
    reading.refuse(
      'AUTHORITY_CHANGE',
      `${what} ${GIVES_AWAY[kind]}: somebody else could move what is in ${step.accounts[0]}`,
    )
  else if (kind in TAKES_AWAY)
    reading.refuse('TOKEN_TRANSFER', `${what} ${TAKES_AWAY[kind]}: tokens would be destroyed`)
  else reading.refuse('INSTRUCTION_UNKNOWN', `${what} number ${kind}: no trade needs it`)
}

/** The wallet takes back what rights to an account of its own it may have given: Revoke, and SetAuthority of the right to close to nobody. */
function takesRightsBack({ accounts: [account = '', authority, ...more], data }: Step, reading: Reading): boolean {
  const isOurs = authority === reading.wallet && reading.own.has(account) && more.length === 0
  return isOurs && TAKE_BACK.has(Buffer.from(data).toString('hex'))
}

/** From an account of ours only into itself: that checks a balance and moves nothing. */
function readTransfer({ place, accounts }: Step, checked: boolean, reading: Reading): void {
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
