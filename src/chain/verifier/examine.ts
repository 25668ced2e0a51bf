import type { ErrorCode, Refusal } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import type { AskedTrade } from '../../orders/asked-trade.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import type { AccountState } from '../../solana/token-account.ts'
import type { TransactionBytes } from '../../solana/transaction.ts'
import { call, readHead, record, Unread, whole } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { type ChainFacts, readFacts, readRent } from './chain-facts.ts'
import { type GuardRoom, guardTransaction } from './guards.ts'
import { judgeSimulated } from './judge.ts'
import { resolveAccounts } from './lookup-tables.ts'
import { sol } from './reading.ts'
import { type Simulation, simulateTransaction, writableOf } from './simulate.ts'
import { NOTHING_FOUND, type Verdict, verifyTransaction } from './verify.ts'

/** What is known of a transaction; signed only where there are no refusals. */
export interface Examination extends Verdict {
  /** By how much the wallet would change; undefined where it was not simulated, or fails. */
  readonly simulated: { readonly lamports: bigint; readonly tokens: bigint } | undefined
  /** What was verified and simulated: what is to be signed. */
  readonly transaction: TransactionBytes
  /** Guards of ours stand at its end. */
  readonly guarded: boolean
  /** The last height at which it may land; undefined where nobody was asked. */
  readonly lastHeight: number | undefined
}

export interface ExamineParts {
  readonly transaction: TransactionBytes
  readonly asked: AskedTrade
  readonly policy: BuilderPolicy
  /** Absent: nothing is asked of the chain, and the examination says what is not known for that. */
  readonly chain?: ChainAccess
  /** The last height at which it may land, as the builder says. */
  readonly lastValidBlockHeight?: number | undefined
  /** Absent: it is looked at as it is. */
  readonly guard?: GuardRoom
}

export interface ChainAccess {
  readonly rpc: Rpc
  readonly clock: Clock
  /** Rent of a token account; absent: asked for each time. */
  readonly rent?: (rpc: Rpc) => Promise<bigint>
}

/** A token account's rent as it was for years; the chain has lowered it since, so it is a bound. */
const USUAL_RENT_LAMPORTS = 2_039_280n
/** A node that is a few slots behind the builder does not know the newest blockhash yet, or tokens that have just
 *  arrived. */
const BEHIND_TRIES = 5
const BEHIND_WAIT_MS = 200
/** What another order of the wallet did between reading its accounts and simulating looks as if this one did it. */
const LOSS_TRIES = 3
const MOVES: ReadonlySet<ErrorCode> = new Set(['SIMULATION_LOSS', 'MIN_OUT'])
const NOTHING_READ = new Map<string, never>()

/** First what can be read, then what the chain would make of it. */
export async function examine(parts: ExamineParts): Promise<Examination> {
  const { transaction, asked, policy, chain } = parts
  const plain = { transaction, guarded: false, lastHeight: undefined, simulated: undefined }
  try {
    if (chain !== undefined) return await examineOnChain(parts, chain)
    const resolved = await resolveAccounts(transaction.message, policy, undefined)
    const accounts = resolved.ok ? resolved.accounts : undefined
    const verdict = verifyTransaction(transaction, accounts, asked, policy, { rentLamports: USUAL_RENT_LAMPORTS })
    const unknown = 'it was not simulated, and its blockhash not looked up: give --rpc'
    const refusals = [...verdict.refusals, ...(resolved.ok ? [] : resolved.refusals)]
    return { ...plain, ...verdict, refusals, notUnderstood: [unknown, ...verdict.notUnderstood] }
  } catch (error) {
    if (!(error instanceof Unread)) throw error
    return { ...plain, ...NOTHING_FOUND, refusals: [{ code: 'CHAIN_SILENT', reason: error.message }] }
  }
}

async function examineOnChain(parts: ExamineParts, chain: ChainAccess): Promise<Examination> {
  const { transaction, asked, policy, guard, lastValidBlockHeight } = parts
  const { message } = transaction
  const resolving = resolveAccounts(message, policy, chain.rpc)
  const [resolved, { facts, read, verdict }, slot] = await Promise.all([
    resolving,
    judgeOnChain(parts, chain, resolving),
    blockhashKnownAt(chain, message.blockhash),
  ])
  const accounts = resolved.ok ? resolved.accounts : undefined
  const plain = { ...verdict, transaction, guarded: false, lastHeight: undefined, simulated: undefined }
  // A node that does not know the blockhash is behind the builder, and may not know the tokens either.
  const judged = slot === undefined ? verdict.refusals.filter((one) => !isOverShare(one, asked)) : verdict.refusals
  const found = [...judged, ...(resolved.ok ? [] : resolved.refusals)]
  if (found.length === 0) found.push(...uncovered(verdict, facts))
  if (found.length === 0 && slot === undefined)
    found.push({ code: 'BLOCKHASH_UNKNOWN', reason: `${message.blockhash} is not one of the last 150` })
  if (found.length > 0 || accounts === undefined || slot === undefined) return { ...plain, refusals: found }
  const run = async (subject: TransactionBytes, all: readonly string[], of: Verdict): Promise<Simulation> => {
    let before = read
    for (let tries = 1; ; tries++) {
      const simulation = await simulateTransaction(
        chain.rpc,
        subject,
        { accounts: all, slot, before },
        asked,
        policy,
        of,
      )
      if (tries === LOSS_TRIES || !simulation.refusals.some(({ code }) => MOVES.has(code)))
        return of.trade === undefined ? withinOrder(simulation, { asked, policy }, facts, of) : simulation
      before = NOTHING_READ
    }
  }
  const unguarded = { ...plain, accounts }
  const subject =
    guard === undefined ? unguarded : await guardTransaction({ ...unguarded, asked, policy, facts, guard, run })
  if (subject.refusals.length > 0) return { ...plain, refusals: subject.refusals }
  const [simulation, expiry] = await Promise.all([
    run(subject.transaction, subject.accounts, subject),
    readExpiry(chain.rpc, slot, lastValidBlockHeight),
  ])
  return joined({ ...plain, ...subject }, simulation, expiry)
}

/** A share of what the wallet holds is more for a builder that sees newer tokens than our node does, so our node is
 *  asked again before such a sale is refused. */
async function judgeOnChain(
  { transaction, asked, policy, guard }: ExamineParts,
  chain: ChainAccess,
  resolving: ReturnType<typeof resolveAccounts>,
): Promise<{ facts: ChainFacts; read: ReadonlyMap<string, AccountState | null>; verdict: Verdict }> {
  const { message } = transaction
  const wanted = { rent: chain.rent ?? readRent, others: writableOf(message, message.keys) }
  for (let tries = 1; ; tries++) {
    const [resolved, { facts: known, read }] = await Promise.all([resolving, readFacts(chain.rpc, asked, wanted)])
    const facts = { ...known, guardLamports: guard?.mayGuard(message) ? guard.boundLamports : undefined }
    const accounts = resolved.ok ? resolved.accounts : undefined
    const verdict = verifyTransaction(transaction, accounts, asked, policy, facts)
    const isOver = verdict.refusals.some((one) => isOverShare(one, asked))
    if (tries === BEHIND_TRIES || !isOver) return { facts, read, verdict }
    await pause(chain.clock)
  }
}

/** A sale of a share sells more than that share of what our node shows. */
function isOverShare({ code }: Refusal, asked: AskedTrade): boolean {
  return code === 'AMOUNT_OVER' && asked.side === 'sell' && asked.amount.kind === 'percent'
}

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.after(BEHIND_WAIT_MS, resolve))
}

/** Of a program that is not understood nothing but the simulation says how much it pays or sells. */
function withinOrder(
  simulation: Simulation,
  terms: Pick<ExamineParts, 'asked' | 'policy'>,
  facts: ChainFacts,
  { orderedLamports }: Verdict,
): Simulation {
  const { lamports, tokens, refusals } = simulation
  if (lamports === undefined || tokens === undefined || refusals.length > 0) return simulation
  return { ...simulation, refusals: judgeSimulated(terms, facts, orderedLamports, { lamports, tokens }) }
}

/** Told before it is sent, and with the rent as the chain has it. */
function uncovered({ bound }: Verdict, { walletLamports }: ChainFacts): Refusal[] {
  if (bound === null || walletLamports === undefined || walletLamports >= bound) return []
  const reason = `the wallet holds ${sol(walletLamports)} SOL, and trade, fees and rent may take ${sol(bound)}`
  return [{ code: 'BALANCE_LOW', reason }]
}

function joined(examination: Examination, simulation: Simulation, expiry: Expiry): Examination {
  const { lamports, tokens } = simulation
  return {
    ...examination,
    refusals: [...simulation.refusals, ...expiry.refusals],
    lastHeight: expiry.height,
    notUnderstood: [...examination.notUnderstood, ...simulation.notUnderstood],
    simulated: lamports === undefined || tokens === undefined ? undefined : { lamports, tokens },
  }
}

/** The slot at which the chain says so; undefined where it does not know the blockhash. A node that does not cannot
 *  simulate either. */
async function blockhashKnownAt({ rpc, clock }: ChainAccess, blockhash: string): Promise<number | undefined> {
  for (let tries = 1; ; tries++) {
    const how = { commitment: 'confirmed' }
    const { context, value } = record(await call(rpc, 'isBlockhashValid', [blockhash, how]))
    if (value === true) return whole(record(context).slot)
    if (tries === BEHIND_TRIES) return undefined
    await pause(clock)
  }
}

/** How long what is built on a blockhash may land, in blocks (MAX_PROCESSING_AGE), and how far a node's word may be
 *  off. */
const BLOCKHASH_BLOCKS = 150
const SLACK_BLOCKS = 8
/** So far above our own the builder's number may be: its node may be ahead of ours. */
const AHEAD_BLOCKS = 32

export interface Expiry {
  /** The last height at which the transaction may land. */
  readonly height: number
  readonly refusals: readonly Refusal[]
}

/** When a transaction expires whose blockhash our own node knew at `slot`: by our own node's height, never by the
 *  builder's number. That is only compared: one that cannot be means another chain, or somebody who wants us to wait
 *  for ever. Unread where no node says. */
async function readExpiry(rpc: Rpc, slot: number, told: number | undefined): Promise<Expiry> {
  const head = await readHead(rpc, 'processed', slot)
  const height = head.height + BLOCKHASH_BLOCKS + SLACK_BLOCKS
  // A blockhash is at most 150 blocks old, so that it may end anywhere between now and then.
  const isPlausible = told === undefined || (told >= head.height && told <= height + AHEAD_BLOCKS)
  const reason = `the builder says height ${told}, our node is at ${head.height}`
  return { height, refusals: isPlausible ? [] : [{ code: 'EXPIRY_IMPLAUSIBLE', reason }] }
}
