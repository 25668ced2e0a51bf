import { ByteReader, Malformed } from '../../core/byte-reader.ts'
import type { SignRequest } from '../../core/ports.ts'
import { PROGRAMS, WSOL_MINT } from '../../core/programs.ts'
import { decodeMessage } from '../../core/transaction-bytes.ts'
import { tokenAccountOf } from '../verifier/addresses.ts'
import { priorityFee, readComputeBudget } from '../verifier/compute-budget.ts'
import { LAYOUTS } from '../verifier/venue-layouts.ts'
import { Findings, guards, type Step, stepsOf } from './message.ts'
import { readSystem } from './system-rules.ts'
import { isClose, readAssociated, readToken } from './token-rules.ts'

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

/** Reads a message without the chain, and says why it is not signed; undefined where it may be. It sees every instruction, and of lookup
 *  tables that nobody in them signs and nothing in them runs; what programs do inside it cannot see. */
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
