import { encodeBase58 } from '../../core/base58.ts'
import { ByteReader, Malformed } from '../../core/byte-reader.ts'
import { PROGRAMS } from '../../core/programs.ts'
import { type Findings, type Step, takesBack } from './message.ts'

// Instructions by number, the same in Token and Token-2022 (spl-token-interface).
const TRANSFER = 3
const CLOSE = 9
const TRANSFER_CHECKED = 12
const SYNC_NATIVE = 17
const INITIALIZE = [1, 16, 18]
/** The traded token's, wrapped SOL's, and one to spare. */
const MOST_OPENED = 3

/** Tokens of the wallet move by a trade only; nobody gets a right to them; what is closed pays the wallet. */
export function readToken(step: Step, findings: Findings): void {
  const reader = new ByteReader(step.data)
  const kind = reader.byte()
  const refuse = (what: string) => findings.object(`instruction ${step.place}, Token number ${kind}: ${what}`)
  const { accounts, places } = step
  const { wallet } = findings
  if (kind === TRANSFER || kind === TRANSFER_CHECKED) {
    const authority = accounts[kind === TRANSFER ? 2 : 3]
    if (places.length !== (kind === TRANSFER ? 3 : 4)) throw new Malformed('a transfer of another shape')
    const isItself = authority === wallet && places[0] === places[kind === TRANSFER ? 1 : 2]
    if (!isItself && !findings.isCoSigner(authority)) refuse('tokens would leave by a transfer, not by a trade')
  } else if (kind === CLOSE) {
    const isOurs = accounts.length === 3 && accounts[1] === wallet && accounts[2] === wallet
    if (!isOurs) refuse('an account would be closed, and not to the wallet')
  } else if (kind === SYNC_NATIVE) {
    if (accounts.length !== 1) throw new Malformed('wrapped SOL counted in another way')
  } else if (takesBack(step, wallet)) return
  else if (INITIALIZE.includes(kind)) readInitialize(step, kind, reader, findings)
  else refuse('no trade needs it')
}

/** Whether it closes a token account, and nothing more stands in it. Where the rent goes, `readToken` has seen. */
export function isClose({ program, data }: Step): boolean {
  const isToken = program === PROGRAMS.token || program === PROGRAMS.token2022
  return isToken && data.length === 1 && data[0] === CLOSE
}

/** What a seed opened becomes the wallet's; until then whoever comes first could make it his. */
function readInitialize(step: Step, kind: number, reader: ByteReader, findings: Findings): void {
  const [account] = step.accounts
  const owner = kind === 1 ? step.accounts[2] : encodeBase58(reader.bytes(32))
  const { seeded, wallet } = findings
  const isFit = account !== undefined && seeded.get(account) === false && step.program === PROGRAMS.token
  if (isFit && owner === wallet && reader.left === 0) seeded.set(account, true)
  else findings.object(`instruction ${step.place} makes an account somebody else's, or one that is not new`)
}

/** Opens accounts of the wallet only; the program itself sees to it that they are the associated ones. */
export function readAssociated({ place, accounts, data }: Step, findings: Findings): void {
  const [payer, , owner] = accounts
  const isCreate = data.length === 0 || (data.length === 1 && (data[0] as number) <= 1)
  const pays = payer === findings.wallet || findings.isCoSigner(payer)
  findings.opened++
  if (!isCreate || accounts.length < 6 || accounts.length > 7 || owner !== findings.wallet || !pays)
    findings.object(`instruction ${place}, Associated Token: opens no account of the wallet`)
  else if (findings.opened > MOST_OPENED)
    findings.object(`instruction ${place} opens one account more than a trade needs`)
}
