import type { ErrorCode, Refusal } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import { formatSol } from '../../base/units.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import type { AskedTrade } from '../../orders/trade-request.ts'
import { BLOCKHASH_BLOCKS, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import type { AccountState } from '../../solana/token-account.ts'
import type { TransactionBytes } from '../../solana/transaction.ts'
import { call, readHead, record, Unread, whole } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { disagreement } from '../web3.ts'
import { type ChainFacts, readFacts, readRent } from './chain-facts.ts'
import type { GuardRoom } from './guard-room.ts'
import { guardTransaction } from './guards.ts'
import { resolveAccounts } from './lookup-tables.ts'
import { judgeSimulated } from './order-match.ts'
import { type Simulation, simulateTransaction, writableOf } from './simulate.ts'
import { NOTHING_FOUND, type Verdict, verifyTransaction } from './verify-transaction.ts'

/** Result of all checks of a built transaction. The transaction may be signed only if there are no refusals. */
export interface Examination extends Verdict {
  /** Changes of the wallet's lamports and tokens in the simulation; undefined if there was no simulation or it
   *  failed. */
  readonly simulated: { readonly lamports: bigint; readonly tokens: bigint } | undefined
  /** The transaction that was verified and simulated, guards included. Exactly these bytes are signed. */
  readonly transaction: TransactionBytes
  /** Whether guards (instructions that check balances) were appended. */
  readonly guarded: boolean
  /** Last block height at which the transaction may land; undefined if no node was asked. */
  readonly lastHeight: number | undefined
}

export interface ExamineParts {
  readonly transaction: TransactionBytes
  readonly asked: AskedTrade
  readonly policy: BuilderPolicy
  /** Access to the chain. If absent, no node is asked, and the examination lists the facts that remain unknown. */
  readonly chain?: ChainAccess
  /** Last block height at which the transaction may land, according to the builder. */
  readonly lastValidBlockHeight?: number | undefined
  /** Amounts that the guards (instructions that check balances) must allow to leave the wallet; if absent, no guards
   *  are appended. */
  readonly guard?: GuardRoom
}

export type Examine = (parts: ExamineParts) => Promise<Examination>

export interface ChainAccess {
  readonly rpc: Rpc
  readonly clock: Clock
  /** Reads the rent of a token account; if absent, each examination asks the node. */
  readonly rent?: (rpc: Rpc) => Promise<bigint>
}

/** Maximum number of tries. A node that is a few slots behind the builder does not know the newest blockhash yet, or
 *  tokens that have just arrived. */
const BEHIND_TRIES = 5
const BEHIND_WAIT_MS = 200
/** Maximum number of simulations. If another order of the wallet lands between the reading of the wallet's accounts and
 *  the simulation, the simulation shows the cost of that order as a loss of this order. */
const LOSS_TRIES = 3
const CAUSED_BY_OTHERS: ReadonlySet<ErrorCode> = new Set(['SIMULATION_LOSS', 'MIN_OUT'])
const NOTHING_READ = new Map<string, never>()

/** Verifies a built transaction. Our reader and that of web3.js must agree on the content of the transaction, and the
 *  content must match the order and the policy. In a simulation, the transaction must not spend more than the maximum
 *  that was computed for it. */
export async function examine(parts: ExamineParts): Promise<Examination> {
  try {
    return await (parts.chain === undefined ? examineOffline(parts) : examineOnChain(parts, parts.chain))
  } catch (error) {
    if (!(error instanceof Unread)) throw error
    return { ...unexamined(parts), ...NOTHING_FOUND, refusals: [{ code: 'CHAIN_SILENT', reason: error.message }] }
  }
}

function unexamined({ transaction }: ExamineParts) {
  return { transaction, guarded: false, lastHeight: undefined, simulated: undefined }
}

async function examineOffline(parts: ExamineParts): Promise<Examination> {
  const { transaction, asked, policy } = parts
  const resolved = await resolveAccounts(transaction.message, policy, undefined)
  const accounts = resolved.ok ? resolved.accounts : undefined
  const rentLamports = BigInt(TOKEN_ACCOUNT_RENT)
  const verdict = verifyTransaction(transaction, accounts, asked, policy, { rentLamports })
  const refusals = [
    ...listed(disagreement(transaction, accounts, [])),
    ...verdict.refusals,
    ...(resolved.ok ? [] : resolved.refusals),
  ]
  const unknown = 'the transaction was not simulated, and its blockhash was not looked up: add the option --rpc'
  return { ...unexamined(parts), ...verdict, refusals, notUnderstood: [unknown, ...verdict.notUnderstood] }
}

function listed(refusal: Refusal | undefined): Refusal[] {
  return refusal === undefined ? [] : [refusal]
}

async function examineOnChain(parts: ExamineParts, chain: ChainAccess): Promise<Examination> {
  const { transaction, asked, policy, guard } = parts
  const { message } = transaction
  const resolving = resolveAccounts(message, policy, chain.rpc)
  const [resolved, { facts, read, verdict }, slot] = await Promise.all([
    resolving,
    judgeOnChain(parts, chain, resolving),
    blockhashKnownAt(chain, message.blockhash),
  ])
  const { accounts, tables } = resolved.ok ? resolved : { accounts: undefined, tables: [] }
  const plain = { ...unexamined(parts), ...verdict }
  // A node that does not know the blockhash is behind the builder of the transaction. Its token balances may also be
  // outdated, so they cannot show that a sale exceeds its percentage.
  const judged = slot === undefined ? verdict.refusals.filter((one) => !isOverShare(one, asked)) : verdict.refusals
  const found = [
    ...listed(disagreement(transaction, accounts, tables)),
    ...judged,
    ...(resolved.ok ? [] : resolved.refusals),
  ]
  if (found.length === 0) found.push(...uncovered(verdict, facts))
  if (found.length === 0 && slot === undefined) {
    const reason = `the blockhash ${message.blockhash} is not among the last ${BLOCKHASH_BLOCKS} that the RPC node knows`
    found.push({ code: 'BLOCKHASH_UNKNOWN', reason })
  }
  if (found.length > 0 || accounts === undefined || slot === undefined) return { ...plain, refusals: found }
  const run = simulator(parts, chain.rpc, { slot, read, facts })
  const unguarded = { ...plain, accounts }
  const subject =
    guard === undefined ? unguarded : await guardTransaction({ ...unguarded, asked, policy, facts, guard, run })
  const refusals = subject.guarded
    ? [...subject.refusals, ...listed(disagreement(subject.transaction, subject.accounts, tables))]
    : subject.refusals
  if (refusals.length > 0) return { ...plain, refusals }
  const [simulation, expiry] = await Promise.all([
    run(subject.transaction, subject.accounts, subject),
    readExpiry(chain.rpc, slot, parts.lastValidBlockHeight),
  ])
  return joined({ ...plain, ...subject }, simulation, expiry)
}

/** Returns a function that simulates a transaction. The function simulates again if another order of the wallet may
 *  have caused the refusal. */
function simulator(
  { asked, policy }: ExamineParts,
  rpc: Rpc,
  { slot, read, facts }: { slot: number; read: ReadonlyMap<string, AccountState | null>; facts: ChainFacts },
) {
  return async (subject: TransactionBytes, accounts: readonly string[], verdict: Verdict): Promise<Simulation> => {
    let before = read
    for (let tries = 1; ; tries++) {
      const simulation = await simulateTransaction(rpc, subject, { accounts, slot, before }, asked, policy, verdict)
      if (tries === LOSS_TRIES || !simulation.refusals.some(({ code }) => CAUSED_BY_OTHERS.has(code)))
        return verdict.trade === undefined ? withinOrder(simulation, { asked, policy }, facts, verdict) : simulation
      before = NOTHING_READ
    }
  }
}

/** Reads the wallet and verifies the transaction. A builder may already see tokens that our node does not see yet. If a
 *  sale of a share of the balance seems to sell too much, the wallet is therefore read again, and the sale is verified
 *  again before it is refused. */
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

/** Whether this refusal says that a sale of a share of the balance sells too much, compared with the balance that our
 *  node reports. */
function isOverShare({ code }: Refusal, asked: AskedTrade): boolean {
  return code === 'AMOUNT_OVER' && asked.side === 'sell' && asked.amount.kind === 'percent'
}

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.after(BEHIND_WAIT_MS, resolve))
}

/** Compares the simulated amounts of an opaque trade, whose instruction cannot be decoded, with the order. */
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

/** Refuses a trade whose maximum cost, including the rent of new accounts, the wallet cannot pay. */
function uncovered({ bound }: Verdict, { walletLamports }: ChainFacts): Refusal[] {
  if (bound === null || walletLamports === undefined || walletLamports >= bound) return []
  const reason = `the wallet holds ${formatSol(walletLamports)} SOL, but the trade with fees and rent may cost ${formatSol(bound)} SOL`
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

/** Returns the slot at which our node knows the blockhash; undefined if the node does not know it, in which case it
 *  cannot simulate the transaction either. */
async function blockhashKnownAt({ rpc, clock }: ChainAccess, blockhash: string): Promise<number | undefined> {
  for (let tries = 1; ; tries++) {
    const how = { commitment: 'confirmed' }
    const { context, value } = record(await call(rpc, 'isBlockhashValid', [blockhash, how]))
    if (value === true) return whole(record(context).slot)
    if (tries === BEHIND_TRIES) return undefined
    await pause(clock)
  }
}

/** Number of blocks by which the heights of nodes may differ. */
const SLACK_BLOCKS = 8
/** Number of blocks by which the builder's node may be ahead of ours. */
const AHEAD_BLOCKS = 32

export interface Expiry {
  /** Last block height at which the transaction may land. */
  readonly height: number
  readonly refusals: readonly Refusal[]
}

/** Computes the block height at which a transaction expires from the height of our node. `slot`: a Solana slot at which
 *  our node knew the transaction's blockhash. The height that the builder names is only checked: if it is impossible,
 *  the builder uses another chain, or tries to make Sluice wait forever. Throws Unread if no node answers. */
async function readExpiry(rpc: Rpc, slot: number, builtFor: number | undefined): Promise<Expiry> {
  const head = await readHead(rpc, 'processed', slot)
  const height = head.height + BLOCKHASH_BLOCKS + SLACK_BLOCKS
  // A blockhash is up to 150 blocks old, so it may expire at any height between now and 150 blocks later.
  const isPlausible = builtFor === undefined || (builtFor >= head.height && builtFor <= height + AHEAD_BLOCKS)
  const reason = `the builder names ${builtFor} as last valid block height, but the RPC node is at height ${head.height}`
  return { height, refusals: isPlausible ? [] : [{ code: 'EXPIRY_IMPLAUSIBLE', reason }] }
}
