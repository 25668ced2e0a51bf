import { encodeBase58 } from '../../solana/base58.ts'
import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { decodeMessage } from '../../solana/transaction.ts'
import { seededAddress, tokenAccountOf } from '../addresses.ts'
import { priorityFee, readComputeBudget } from '../verifier/compute-budget.ts'
import { LAYOUTS } from '../verifier/program-layouts.ts'
import { Findings, guards, type Step, stepsOf, takesBack } from './message.ts'
import type { SignRequest } from './signer.ts'

const SIGNATURE_LAMPORTS = 5_000n
/** Rent of a token account as it was for years; the chain has lowered it since. It comes back. */
const RENT_LAMPORTS = 2_039_280n
const MOST_SIGNERS = 4

/** What a signer holds every message against, whatever the engine says of it. */
export interface Rules {
  /** Base58. */
  readonly wallet: string
  /** Programs that may be called beside Solana's own; null: any. */
  readonly programs: ReadonlySet<string> | null
  /** The policy that requests have to name; null: any. */
  readonly policyHash: string | null
}

/** Reads a message without the chain, and says why it is not signed; undefined where it may be. It sees every
 *  instruction, and of lookup tables that nobody in them signs and nothing in them runs; what programs do inside it
 *  cannot see. */
export function refusalOf(request: SignRequest, rules: Rules): string | undefined {
  const { message: bytes, boundLamports, guarded, policyHash } = request
  if (rules.policyHash !== null && policyHash !== rules.policyHash)
    return 'held against another policy than this signer was started for'
  const decoded = decodeMessage(bytes)
  if (!decoded.ok) return decoded.reason
  const { message } = decoded
  const { wallet } = rules
  if (message.keys[0] !== wallet) return `the fee is paid by ${message.keys[0]}, the wallet is ${wallet}`
  if (message.signers > MOST_SIGNERS) return `${message.signers} sign it, and at most ${MOST_SIGNERS} may`
  const steps = stepsOf(message)
  const wrapped = tokenAccountOf(wallet, WSOL_MINT, PROGRAMS.token)
  const findings = new Findings(wallet, message.keys.slice(0, message.signers), wrapped)
  for (const step of steps) {
    readStep(step, findings, rules)
    // One is enough, and hostile messages are not worth the time.
    if (findings.refusals.length > 0) return findings.refusals[0]
  }
  if ([...findings.seeded.values()].includes(false)) findings.object('an account is opened and belongs to nobody')
  const isTrade = findings.trades === 1 || (findings.trades === 0 && onlyCloses(steps))
  if (!isTrade) findings.object(`${findings.trades} trades in it, and exactly one is what an order is`)
  if (guarded && !isGuarded(steps, wallet)) findings.object('said to be guarded, and no guard stands at its end')
  const working = steps.filter(({ program }) => program !== PROGRAMS.computeBudget).length
  const leaving = spentAtMost(findings) + priorityFee(findings, working) + SIGNATURE_LAMPORTS * BigInt(message.signers)
  if (leaving > boundLamports)
    findings.object(`${leaving} lamports would leave the wallet, and the order is bound to ${boundLamports}`)
  return findings.refusals[0]
}

/** It gives rent back and does nothing else: what each close is for was read already. */
function onlyCloses(steps: readonly Step[]): boolean {
  const closes = steps.filter(({ program }) => program !== PROGRAMS.computeBudget)
  return closes.length > 0 && closes.every((step) => isClose(step))
}

/** As far as it can be read; what is wrapped and not traded stays the wallet's, but no trade needs it. */
function spentAtMost({ spent, wrapped, traded, tradedWrapped, seeded }: Findings): bigint {
  const locked = wrapped - RENT_LAMPORTS * BigInt(seeded.size)
  return spent + traded + (locked > tradedWrapped ? locked : tradedWrapped)
}

function isGuarded(steps: readonly Step[], wallet: string): boolean {
  for (const step of steps.toReversed()) {
    const kind = guards(step, wallet)
    if (kind !== 'tokens') return kind === 'lamports'
  }
  return false
}

function readStep(step: Step, findings: Findings, rules: Rules): void {
  try {
    const read = READERS[step.program]
    if (read !== undefined) read(step, findings)
    else if (rules.programs === null || rules.programs.has(step.program)) readTrade(step, findings)
    else findings.object(`instruction ${step.place} calls ${step.program}, which this signer was not started for`)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    findings.object(`instruction ${step.place} of ${step.program}: ${error.message}`)
  }
}

const READERS: Readonly<Record<string, (step: Step, findings: Findings) => void>> = {
  [PROGRAMS.system]: readSystem,
  [PROGRAMS.token]: readToken,
  [PROGRAMS.token2022]: readToken,
  [PROGRAMS.associatedToken]: readAssociated,
  [PROGRAMS.computeBudget]: readComputeBudget,
  // It moves nothing.
  [PROGRAMS.memo]: () => {},
  [PROGRAMS.memo1]: () => {},
}

/** What a buy costs at most, where the program's layout is known. */
function readTrade({ program, data }: Step, findings: Findings): void {
  findings.trades++
  const venue = VENUES[program]
  const layout = venue && LAYOUTS[venue][Buffer.from(data.subarray(0, 8)).toString('hex')]
  if (layout?.side !== 'buy') return
  const reader = new ByteReader(data.subarray(8))
  const [one, two] = [reader.uint64(), reader.uint64()]
  const cost = layout.first === 'lamports' ? one : two
  if (layout.wraps) findings.tradedWrapped += cost
  else findings.traded += cost
}

const VENUES: Readonly<Record<string, keyof typeof LAYOUTS>> = {
  [PROGRAMS.bondingCurve]: 'pump',
  [PROGRAMS.pumpSwap]: 'pump-swap',
}

const TRANSFER = 2
const CREATE_WITH_SEED = 3
const TOKEN_ACCOUNT_BYTES = 165n
const LONGEST_SEED = 32n

/** SOL is counted, an account for wrapped SOL may be opened; owners, sizes and nonces are left alone. */
function readSystem(step: Step, findings: Findings): void {
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

// Instructions by number, the same in Token and Token-2022 (spl-token-interface).
const TOKEN_TRANSFER = 3
const CLOSE = 9
const TRANSFER_CHECKED = 12
const SYNC_NATIVE = 17
const INITIALIZE = [1, 16, 18]
/** The traded token's, wrapped SOL's, and one to spare. */
const MOST_OPENED = 3

/** Tokens of the wallet move by a trade only; nobody gets a right to them; what is closed pays the wallet. */
function readToken(step: Step, findings: Findings): void {
  const reader = new ByteReader(step.data)
  const kind = reader.byte()
  const refuse = (what: string) => findings.object(`instruction ${step.place}, Token number ${kind}: ${what}`)
  const { accounts, places } = step
  const { wallet } = findings
  if (kind === TOKEN_TRANSFER || kind === TRANSFER_CHECKED) {
    const authority = accounts[kind === TOKEN_TRANSFER ? 2 : 3]
    if (places.length !== (kind === TOKEN_TRANSFER ? 3 : 4)) throw new Malformed('a transfer of another shape')
    const isItself = authority === wallet && places[0] === places[kind === TOKEN_TRANSFER ? 1 : 2]
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
function isClose({ program, data }: Step): boolean {
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
function readAssociated({ place, accounts, data }: Step, findings: Findings): void {
  const [payer, , owner] = accounts
  const isCreate = data.length === 0 || (data.length === 1 && (data[0] as number) <= 1)
  const pays = payer === findings.wallet || findings.isCoSigner(payer)
  findings.opened++
  if (!isCreate || accounts.length < 6 || accounts.length > 7 || owner !== findings.wallet || !pays)
    findings.object(`instruction ${place}, Associated Token: opens no account of the wallet`)
  else if (findings.opened > MOST_OPENED)
    findings.object(`instruction ${place} opens one account more than a trade needs`)
}
