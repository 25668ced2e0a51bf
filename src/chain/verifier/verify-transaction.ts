import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Refusal } from '../../base/errors.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import type { AskedTrade } from '../../orders/trade-request.ts'
import { Malformed } from '../../solana/byte-reader.ts'
import { DENIED_MINTS, PROGRAMS } from '../../solana/programs.ts'
import { keyBytes, type TransactionBytes } from '../../solana/transaction.ts'
import type { ChainFacts } from './chain-facts.ts'
import { checkTerms, type Part } from './cost-limits.ts'
import { readComputeBudget } from './read-compute-budget.ts'
import { Reading, type Step, type Trade } from './reading.ts'
import { readAssociated, readSystem, readToken } from './solana-programs.ts'
import { readOpaque, readVenue } from './trading-programs.ts'

export interface Verdict {
  /** Reasons not to sign. The list is empty if every instruction is understood, allowed, and within the order. */
  readonly refusals: readonly Refusal[]
  /** The trade; undefined if no instruction can be read as a trade. */
  readonly trade: Trade | undefined
  /** Maximum number of lamports that may leave the wallet, no matter how the price moves; null if it is not known. */
  readonly bound: bigint | null
  /** Upper limit, in lamports, of the cost that the simulation may show for a buy; null if `bound` alone is enough. It
   *  is set for a transaction without guards that calls a program whose instructions cannot be decoded. */
  readonly orderedLamports: bigint | null
  readonly parts: readonly Part[]
  readonly notUnderstood: readonly string[]
  /** The wallet's token accounts that the transaction may use. */
  readonly own: readonly string[]
  /** Accounts of the wallet that the transaction closes. */
  readonly closed: readonly string[]
}

/** Verdict on a transaction that could not be verified. */
export const NOTHING_FOUND: Omit<Verdict, 'refusals'> = {
  trade: undefined,
  bound: null,
  orderedLamports: null,
  parts: [],
  notUnderstood: [],
  own: [],
  closed: [],
}

/** Compares a transaction with the order and the policy, without I/O. `accounts`: the keys of the message, then the
 *  accounts from lookup tables (writable ones first); undefined if the lookup tables were not read. */
export function verifyTransaction(
  transaction: TransactionBytes,
  accounts: readonly string[] | undefined,
  asked: AskedTrade,
  policy: BuilderPolicy,
  facts: ChainFacts,
): Verdict {
  const { message } = transaction
  const signers = message.keys.slice(0, message.signers)
  // The wallet is never a co-signer, even if the policy lists it.
  const coSigners = new Set(signers.filter((key) => key !== asked.wallet && policy.coSigners.includes(key)))
  const reading = new Reading(asked, policy, coSigners)
  reading.refusals.push(...checkSignatures(transaction, asked.wallet, policy.coSigners))
  if (DENIED_MINTS.has(asked.mint))
    reading.refuse(
      'MINT_DENIED',
      `the order is for the mint ${asked.mint}, which is a currency and not a token to trade`,
    )
  if (accounts === undefined) return { ...NOTHING_FOUND, refusals: reading.refusals }
  const steps = message.instructions.map(({ program, accounts: places, data }, index) => ({
    place: index + 1,
    program: accounts[program] as string,
    accounts: places.map((place) => accounts[place] as string),
    data,
  }))
  for (const step of steps) readStep(step, reading)
  const working = steps.filter(({ program }) => program !== PROGRAMS.computeBudget).length
  const { parts, bound, orderedLamports } = checkTerms(reading, message.signers, working, facts)
  const { refusals, notUnderstood, trades, own, closed } = reading
  // After a refusal the sum of the costs may be incomplete, so no maximum cost is returned.
  const holds = refusals.length === 0 ? bound : null
  const ours = { own: [...own.keys()], closed: [...closed] }
  return { refusals, trade: trades[0], bound: holds, orderedLamports, parts, notUnderstood, ...ours }
}

function readStep(step: Step, reading: Reading): void {
  try {
    readProgram(step, reading)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    reading.refuse('INSTRUCTION_UNKNOWN', `instruction ${step.place} of ${step.program}: ${error.message}`)
  }
}

/** Readers of Solana's own programs. They apply under every policy. */
const READERS: Readonly<Record<string, (step: Step, reading: Reading) => void>> = {
  [PROGRAMS.system]: readSystem,
  [PROGRAMS.token]: readToken,
  [PROGRAMS.token2022]: readToken,
  [PROGRAMS.associatedToken]: readAssociated,
  [PROGRAMS.computeBudget]: readComputeBudget,
  [PROGRAMS.memo]: readMemo,
  [PROGRAMS.memo1]: readMemo,
}

function readProgram(step: Step, reading: Reading): void {
  const read = READERS[step.program]
  const program = reading.policy.programs.find(({ id }) => id === step.program)
  if (read !== undefined) read(step, reading)
  else if (program === undefined)
    reading.refuse('PROGRAM_UNKNOWN', `instruction ${step.place} calls ${step.program}, which the policy does not list`)
  else if (program.decode === 'opaque') readOpaque(step, program, reading)
  else readVenue(step, program.decode, reading)
}

/** Lists a memo for a person to read. A memo moves no money, but the wallet signs its text. */
function readMemo({ place, data }: Step, reading: Reading): void {
  const text = new TextDecoder().decode(data)
  reading.notUnderstood.push(`instruction ${place} writes a memo: ${JSON.stringify(text.slice(0, 120))}`)
}

/** Prefix of the SPKI encoding of an ed25519 key. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** Checks that the wallet pays the fee and has not signed yet, and that every other signer is listed and has signed. */
function checkSignatures(
  { signatures, message, messageBytes }: TransactionBytes,
  wallet: string,
  coSigners: readonly string[],
): Refusal[] {
  const refusals: Refusal[] = []
  const refuse = (code: Refusal['code'], reason: string) => refusals.push({ code, reason })
  for (const [index, signature] of signatures.entries()) {
    const signer = message.keys[index] as string
    const isEmpty = signature.every((byte) => byte === 0)
    if (index === 0 && signer !== wallet) refuse('FEE_PAYER', `the fee payer is ${signer}, but the wallet is ${wallet}`)
    if (signer === wallet) {
      if (!isEmpty)
        refuse('SIGNATURE_PRESENT', "the wallet's signature is already filled in, and Sluice did not make it")
    } else if (!coSigners.includes(signer))
      refuse('CO_SIGNER', `${signer} signs the transaction, but is not in coSigners of the policy`)
    else if (isEmpty) refuse('CO_SIGNER', `the signature of ${signer} is missing`)
    else if (!verify(null, messageBytes, publicKey(signer), signature))
      refuse('CO_SIGNER', `the signature of ${signer} is not valid for this message`)
  }
  return refusals
}

function publicKey(address: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI, keyBytes(address)]), format: 'der', type: 'spki' })
}
