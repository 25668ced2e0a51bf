import { encodeBase58 } from '../../solana/base58.ts'
import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { INITIALIZE_ACCOUNT, SYSTEM, TOKEN } from '../../solana/instructions.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { decodeMessage } from '../../solana/transaction.ts'
import { tokenAccountOf } from '../addresses.ts'
import { LAYOUTS } from '../verifier/program-layouts.ts'
import { priorityFee, readComputeBudget } from '../verifier/read-compute-budget.ts'
import { readSeededAccount } from '../verifier/seeded-account.ts'
import { Findings, guards, revokesRights, type Step, stepsOf } from './message.ts'
import type { SignRequest } from './port.ts'

const MOST_SIGNERS = 4

/** Rules that the signer applies to every message, independent of the engine. */
export interface Rules {
  /** Public key of the wallet, base58. */
  readonly wallet: string
  /** Ids of the trading programs that a message may call; null: any program. */
  readonly programs: ReadonlySet<string> | null
  /** Policy hash that requests must name; null: any hash. */
  readonly policyHash: string | null
}

/** Checks a message without asking the chain. Returns the reason not to sign it; undefined if it may be signed. The
 *  signer reads every instruction. It does not read lookup tables, because an account from a table can neither sign nor
 *  be called as a program. The signer does not know what a called program does. */
export function refusalOf(request: SignRequest, rules: Rules): string | undefined {
  const { message: bytes, boundLamports, guarded, policyHash } = request
  if (rules.policyHash !== null && policyHash !== rules.policyHash)
    return 'the request names a policy other than the one with which this signer was started'
  const decoded = decodeMessage(bytes)
  if (!decoded.ok) return decoded.reason
  const { message } = decoded
  const { wallet } = rules
  if (message.keys[0] !== wallet) return `the fee payer is ${message.keys[0]}, but the wallet is ${wallet}`
  if (message.signers > MOST_SIGNERS)
    return `the message has ${message.signers} signers, but at most ${MOST_SIGNERS} are allowed`
  const steps = stepsOf(message)
  const wrapped = tokenAccountOf(wallet, WSOL_MINT, PROGRAMS.token)
  const findings = new Findings(wallet, message.keys.slice(0, message.signers), wrapped)
  for (const step of steps) {
    readStep(step, findings, rules)
    // The first refusal is enough, so the rest of the message is not read.
    if (findings.refusals.length > 0) return findings.refusals[0]
  }
  if ([...findings.seeded.values()].includes(false))
    findings.refuseFor('an account is opened without an owner, so anyone could take it')
  const isTrade = findings.trades === 1 || (findings.trades === 0 && onlyCloses(steps))
  if (!isTrade) findings.refuseFor(`the message contains ${findings.trades} trades, but an order must have exactly one`)
  if (guarded && !isGuarded(steps, wallet))
    findings.refuseFor('the request says that the message ends with guards (balance checks), but it does not')
  const working = steps.filter(({ program }) => program !== PROGRAMS.computeBudget).length
  const leaving = spentAtMost(findings) + priorityFee(findings, working) + BigInt(BASE_FEE * message.signers)
  if (leaving > boundLamports)
    findings.refuseFor(
      `${leaving} lamports would leave the wallet, but the request allows at most ${boundLamports} lamports`,
    )
  return findings.refusals[0]
}

/** Whether the message only closes token accounts. `readToken` has already checked each of these instructions. */
function onlyCloses(steps: readonly Step[]): boolean {
  const closes = steps.filter(({ program }) => program !== PROGRAMS.computeBudget)
  return closes.length > 0 && closes.every((step) => isClose(step))
}

/** Returns the maximum number of lamports that the readable instructions spend. Wrapped SOL that is not traded also
 *  counts as spent: it still belongs to the wallet, but a trade does not need it. */
function spentAtMost({ spent, wrapped, traded, tradedWrapped, seeded }: Findings): bigint {
  const locked = wrapped - BigInt(TOKEN_ACCOUNT_RENT * seeded.size)
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
    else
      findings.refuseFor(
        `instruction ${step.place} calls ${step.program}, which is not among the programs that this signer allows`,
      )
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    findings.refuseFor(`instruction ${step.place} of ${step.program}: ${error.message}`)
  }
}

const READERS: Readonly<Record<string, (step: Step, findings: Findings) => void>> = {
  [PROGRAMS.system]: readSystem,
  [PROGRAMS.token]: readToken,
  [PROGRAMS.token2022]: readToken,
  [PROGRAMS.associatedToken]: readAssociated,
  [PROGRAMS.computeBudget]: readComputeBudget,
  // A memo moves no money, so every memo is allowed.
  [PROGRAMS.memo]: () => {},
  [PROGRAMS.memo1]: () => {},
}

/** Counts a trade and, for a buy whose layout is known, its maximum cost. */
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

/** Counts the lamports that transfers move, and the lamports that open an account for wrapped SOL. Refuses every other
 *  System instruction. */
function readSystem(step: Step, findings: Findings): void {
  const reader = new ByteReader(step.data)
  const kind = reader.uint32()
  if (kind === SYSTEM.transfer) readTransfer(step, reader, findings)
  else if (kind === SYSTEM.createWithSeed) readSeeded(step, reader, findings)
  else
    findings.refuseFor(`instruction ${step.place} (System program, instruction number ${kind}) is not part of a trade`)
}

function readTransfer({ place, accounts }: Step, reader: ByteReader, findings: Findings): void {
  const lamports = reader.uint64()
  const [from, to] = accounts
  if (reader.left > 0 || accounts.length !== 2) throw new Malformed('the transfer has unexpected accounts or data')
  if (from === findings.wallet) {
    if (to === findings.wallet) return
    if (to === findings.wrappedAccount || (to !== undefined && findings.seeded.has(to))) findings.wrapped += lamports
    else findings.spent += lamports
  } else if (!findings.isCoSigner(from))
    findings.refuseFor(`instruction ${place} moves SOL out of an account that does not sign`)
}

function readSeeded({ place, accounts }: Step, reader: ByteReader, findings: Findings): void {
  const { wallet, seeded } = findings
  const { address, lamports, isTokenAccountOfWallet } = readSeededAccount(reader, accounts, wallet)
  if (address === undefined || !isTokenAccountOfWallet || seeded.size > 0) {
    findings.refuseFor(`instruction ${place} opens an account that is not for wrapped SOL of the wallet`)
    return
  }
  seeded.set(address, false)
  findings.wrapped += lamports
}

/** Maximum number of accounts that one trade opens: one for the traded token, one for wrapped SOL, and one spare. */
const MOST_OPENED = 3

/** Checks a token instruction. Tokens may leave the wallet only by a trade, no other key may get rights to them, and
 *  the SOL of a closed account must go to the wallet. */
function readToken(step: Step, findings: Findings): void {
  const reader = new ByteReader(step.data)
  const kind = reader.byte()
  const refuse = (what: string) =>
    findings.refuseFor(`instruction ${step.place} (token program, instruction number ${kind}): ${what}`)
  const { accounts, places } = step
  const { wallet } = findings
  if (kind === TOKEN.transfer || kind === TOKEN.transferChecked) {
    const authority = accounts[kind === TOKEN.transfer ? 2 : 3]
    if (places.length !== (kind === TOKEN.transfer ? 3 : 4))
      throw new Malformed('the transfer has unexpected accounts or data')
    const isItself = authority === wallet && places[0] === places[kind === TOKEN.transfer ? 1 : 2]
    if (!isItself && !findings.isCoSigner(authority)) refuse('tokens would leave the wallet outside of the trade')
  } else if (kind === TOKEN.closeAccount) {
    const isOurs = accounts.length === 3 && accounts[1] === wallet && accounts[2] === wallet
    if (!isOurs) refuse('the account must be closed by the wallet, and its SOL must go to the wallet')
  } else if (kind === TOKEN.syncNative) {
    if (accounts.length !== 1) throw new Malformed('SyncNative must have exactly one account')
  } else if (revokesRights(step, wallet)) return
  else if (INITIALIZE_ACCOUNT.includes(kind)) readInitialize(step, kind, reader, findings)
  else refuse('the instruction is not part of a trade')
}

/** Whether an instruction is a CloseAccount. `readToken` has already checked which account receives the rent. */
function isClose({ program, data }: Step): boolean {
  const isToken = program === PROGRAMS.token || program === PROGRAMS.token2022
  return isToken && data.length === 1 && data[0] === TOKEN.closeAccount
}

/** Allows the initialization of an account that this message opens with a seed, if its owner is the wallet. Until it is
 *  initialized, anyone could take the account. */
function readInitialize(step: Step, kind: number, reader: ByteReader, findings: Findings): void {
  const [account] = step.accounts
  const owner = kind === TOKEN.initializeAccount ? step.accounts[2] : encodeBase58(reader.bytes(32))
  const { seeded, wallet } = findings
  const isFit = account !== undefined && seeded.get(account) === false && step.program === PROGRAMS.token
  if (isFit && owner === wallet && reader.left === 0) seeded.set(account, true)
  else
    findings.refuseFor(
      `instruction ${step.place} initializes an account that is not new, or that the wallet does not own`,
    )
}

/** Allows the opening of associated token accounts of the wallet. The program itself checks their addresses. */
function readAssociated({ place, accounts, data }: Step, findings: Findings): void {
  const [payer, , owner] = accounts
  const isCreate = data.length === 0 || (data.length === 1 && (data[0] as number) <= 1)
  const pays = payer === findings.wallet || findings.isCoSigner(payer)
  findings.opened++
  if (!isCreate || accounts.length < 6 || accounts.length > 7 || owner !== findings.wallet || !pays)
    findings.refuseFor(`instruction ${place} (Associated Token) does not open an account of the wallet`)
  else if (findings.opened > MOST_OPENED)
    findings.refuseFor(`instruction ${place} opens more accounts than a trade needs`)
}
