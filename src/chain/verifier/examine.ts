import type { AskedTrade } from '../../core/asked-trade.ts'
import type { BuilderPolicy } from '../../core/builder-policy.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { Clock, Rpc } from '../../core/ports.ts'
import type { TransactionBytes } from '../../core/transaction-bytes.ts'
import { call, readHoldings, record, Unread, whole } from '../read.ts'
import type { ChainFacts } from './judge.ts'
import { resolveAccounts } from './lookup-tables.ts'
import { type Simulation, simulateTransaction } from './simulate.ts'
import { type Verdict, verifyTransaction } from './verify.ts'

/** What is known of a transaction; signed only where there are no refusals. */
export interface Examination extends Verdict {
  /** By how much the wallet would change; undefined where it was not simulated, or fails. */
  readonly simulated: { readonly lamports: bigint; readonly tokens: bigint } | undefined
}

export interface ExamineParts {
  readonly transaction: TransactionBytes
  readonly asked: AskedTrade
  readonly policy: BuilderPolicy
  /** Absent: nothing is asked of the chain, and the examination says what is not known for that. */
  readonly chain?: { readonly rpc: Rpc; readonly clock: Clock }
}

/** A token account's rent as it was for years; the chain has lowered it since, so it is a bound. */
const USUAL_RENT_LAMPORTS = 2_039_280n
const TOKEN_ACCOUNT_BYTES = 165
/** A node that is a few slots behind does not know the newest blockhash yet. */
const BLOCKHASH_TRIES = 5
const BLOCKHASH_WAIT_MS = 200

/** First what can be read, then what the chain would make of it. */
export async function examine(parts: ExamineParts): Promise<Examination> {
  const { transaction, asked, policy, chain } = parts
  try {
    const resolved = await resolveAccounts(transaction.message, policy, chain?.rpc)
    const facts = chain === undefined ? { rentLamports: USUAL_RENT_LAMPORTS } : await readFacts(chain.rpc, asked)
    const accounts = resolved.ok ? resolved.accounts : undefined
    const verdict = verifyTransaction(transaction, accounts, asked, policy, facts)
    const refusals = [...verdict.refusals, ...(resolved.ok ? [] : resolved.refusals)]
    if (refusals.length > 0 || accounts === undefined || chain === undefined) {
      const because = chain === undefined ? 'it was not simulated, and its blockhash not looked up: give --rpc' : ''
      const unknown = [...(because === '' ? [] : [because]), ...verdict.notUnderstood]
      return { ...verdict, refusals, notUnderstood: unknown, simulated: undefined }
    }
    // A node that does not know the blockhash yet cannot simulate either, so one that does is waited for.
    const slot = await blockhashKnownAt(chain, transaction.message.blockhash)
    if (slot === undefined) {
      const reason = `${transaction.message.blockhash} is not one of the last 150`
      return { ...verdict, refusals: [{ code: 'BLOCKHASH_UNKNOWN', reason }], simulated: undefined }
    }
    const from = { accounts, slot }
    return joined(verdict, await simulateTransaction(chain.rpc, transaction, from, asked, policy, verdict))
  } catch (error) {
    if (!(error instanceof Unread)) throw error
    const silent = { code: 'CHAIN_SILENT' as ErrorCode, reason: error.message }
    const nothing = { trade: undefined, bound: null, parts: [], notUnderstood: [], own: [], simulated: undefined }
    return { ...nothing, refusals: [silent] }
  }
}

function joined(verdict: Verdict, simulation: Simulation): Examination {
  const { lamports, tokens } = simulation
  return {
    ...verdict,
    refusals: simulation.refusals,
    notUnderstood: [...verdict.notUnderstood, ...simulation.notUnderstood],
    simulated: lamports === undefined || tokens === undefined ? undefined : { lamports, tokens },
  }
}

async function readFacts(rpc: Rpc, { side, wallet, mint }: AskedTrade): Promise<ChainFacts> {
  const rent = whole(await call(rpc, 'getMinimumBalanceForRentExemption', [TOKEN_ACCOUNT_BYTES]))
  const { value } = record(await call(rpc, 'getBalance', [wallet, { commitment: 'confirmed' }]))
  const holdings = side === 'sell' ? await readHoldings(rpc, wallet) : undefined
  return {
    rentLamports: BigInt(rent),
    walletLamports: BigInt(whole(value)),
    holding: holdings && (holdings.get(mint) ?? { tokens: 0n, decimals: 0 }),
  }
}

/** The slot at which the chain says so; undefined where it does not know the blockhash. */
async function blockhashKnownAt(
  { rpc, clock }: { rpc: Rpc; clock: Clock },
  blockhash: string,
): Promise<number | undefined> {
  for (let tries = 1; ; tries++) {
    const how = { commitment: 'confirmed' }
    const { context, value } = record(await call(rpc, 'isBlockhashValid', [blockhash, how]))
    if (value === true) return whole(record(context).slot)
    if (tries === BLOCKHASH_TRIES) return undefined
    await new Promise<void>((resolve) => void clock.after(BLOCKHASH_WAIT_MS, resolve))
  }
}
