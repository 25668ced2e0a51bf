import type { ErrorCode, Refusal } from '../../base/errors.ts'
import { formatSol } from '../../base/units.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import type { AskedTrade } from '../../orders/trade-request.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { type AccountState, OWNER_ONLY, tokenAccountOf } from '../../solana/token-account.ts'
import { encodeTransaction, isWritable, type Message, type TransactionBytes } from '../../solana/transaction.ts'
import { codeOf, errorText } from '../landed/fill.ts'
import { accountOf, readAccounts } from '../rpc/accounts.ts'
import { call, record, Unread, whole } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { exposedBy } from './exposure.ts'
import { share } from './percentages.ts'
import type { Trade } from './reading.ts'
import type { Verdict } from './verify-transaction.ts'

/** Result of a simulation. */
export interface Simulation {
  readonly refusals: readonly Refusal[]
  readonly notUnderstood: readonly string[]
  /** Changes of the wallet's lamports, and of its tokens of the mint (`tokens`); both undefined if the transaction
   *  fails. */
  readonly lamports?: bigint
  readonly tokens?: bigint
}

/** Inputs of a simulation. */
export interface Ground {
  /** Addresses of all accounts of the message, including those from lookup tables. */
  readonly accounts: readonly string[]
  /** A slot at which the node knew the blockhash. */
  readonly slot: number
  /** States of accounts that were read before the simulation. */
  readonly before: ReadonlyMap<string, AccountState | null>
}

/** Programs that every trade may call by inner instructions. */
export const ALWAYS_INNER: readonly string[] = [
  ...[PROGRAMS.system, PROGRAMS.token, PROGRAMS.token2022, PROGRAMS.associatedToken, PROGRAMS.memo, PROGRAMS.memo1],
  PROGRAMS.pumpFees,
]

/** Simulates an unsigned transaction on a node. The simulation must not fail. The wallet must not lose more than the
 *  maximum cost of the transaction, gain less than the trade promises, or give another key rights to its accounts. A
 *  program can behave differently once the transaction is sent, so the simulation does not replace the checks of the
 *  instructions. Throws Unread if the node cannot simulate. */
export async function simulateTransaction(
  rpc: Rpc,
  transaction: TransactionBytes,
  { accounts, slot, before }: Ground,
  asked: AskedTrade,
  policy: BuilderPolicy,
  verdict: Verdict,
): Promise<Simulation> {
  const touched = writableOf(transaction.message, accounts)
  const isOpaque = verdict.trade === undefined
  const unread = (isOpaque ? accounts : touched).filter((address) => !before.has(address))
  const { accounts: read } = await readAccounts(rpc, unread)
  const was = new Map([...before, ...unread.map((address, index) => [address, read[index] ?? null] as const)])
  const states = new Map(accounts.map((address) => [address, was.get(address) ?? null]))
  const mayCall = [...ALWAYS_INNER, ...policy.innerPrograms, ...policy.programs.map(({ id }) => id)]
  const handed = { states, writable: touched, own: verdict.own, asked, policy }
  const exposed = isOpaque ? exposedBy(handed, [...mayCall, PROGRAMS.computeBudget]) : []
  if (exposed.length > 0) return { refusals: exposed, notUnderstood: [] }
  const bytes = Buffer.from(encodeTransaction(transaction)).toString('base64')
  const how = {
    ...{ encoding: 'base64', commitment: 'confirmed', sigVerify: false, replaceRecentBlockhash: false },
    ...{ minContextSlot: slot, innerInstructions: true, accounts: { encoding: 'base64', addresses: touched } },
  }
  const { value } = record(await call(rpc, 'simulateTransaction', [bytes, how]))
  const answer = record(value)
  const { err, accounts: returned, innerInstructions, logs } = answer
  if (err != null) {
    const last = Array.isArray(logs) ? logs.filter((line) => typeof line === 'string').at(-1) : undefined
    const reason = `${errorText(err).slice(0, 200)}${last === undefined ? '' : `; ${String(last).slice(0, 200)}`}`
    const code = codeOf(err) === 'SLIPPAGE_EXCEEDED' ? 'SLIPPAGE_EXCEEDED' : 'SIMULATION_FAILED'
    return { refusals: [{ code, reason }], notUnderstood: [] }
  }
  if (!Array.isArray(returned) || returned.length !== touched.length)
    throw new Unread('simulateTransaction: no accounts')
  const started = startStatesOf(answer, accounts, was)
  const changes = touched.map((address, index) => ({
    address,
    before: started.get(address) ?? null,
    after: accountOf(returned[index]),
  }))
  return judgeChanges(changes, innerProgramsOf(innerInstructions, accounts), asked, mayCall, verdict)
}

interface Change {
  readonly address: string
  readonly before: AccountState | null
  readonly after: AccountState | null
}

function judgeChanges(
  changes: readonly Change[],
  inner: ReadonlySet<string> | undefined,
  asked: AskedTrade,
  mayCall: readonly string[],
  { bound, own, trade }: Verdict,
): Simulation {
  const refusals: Refusal[] = []
  const refuse = (code: ErrorCode, reason: string) => refusals.push({ code, reason })
  let lamports = 0n
  let rent = 0n
  let tokens = 0n
  for (const change of changes) {
    const { address, before, after } = change
    if (address === asked.wallet) {
      lamports += (after?.lamports ?? 0n) - (before?.lamports ?? 0n)
      if (after === null || after.owner !== PROGRAMS.system || after.data.length > 0)
        refuse(
          'ACCOUNT_CHANGED',
          after === null ? 'the wallet would be closed' : `the wallet would be owned by ${after.owner}`,
        )
      continue
    }
    const [was, is] = [tokenAccountOf(before), tokenAccountOf(after)]
    if (was?.owner !== asked.wallet && !own.includes(address)) continue
    const problem = changeOf(was, is, asked)
    if (problem !== undefined) refuse('ACCOUNT_CHANGED', `${address} ${problem}`)
    const more = (after?.lamports ?? 0n) - (before?.lamports ?? 0n)
    if ((was ?? is)?.mint === asked.mint) {
      tokens += (is?.tokens ?? 0n) - (was?.tokens ?? 0n)
      rent += more
    } else lamports += more // wrapped SOL and the rent in its account count as SOL of the wallet
  }
  if (bound === null || -lamports > bound)
    refuse(
      'SIMULATION_LOSS',
      `${formatSol(-lamports)} SOL would leave the wallet, but the maximum cost is ${bound === null ? 'unknown' : `${formatSol(bound)} SOL`}`,
    )
  if (trade !== undefined) judgeOut(trade, asked, { lamports: lamports + rent, tokens }, refuse)
  else judgeDirection(asked, { lamports, tokens }, refuse)
  const notUnderstood = inner === undefined ? ['the node does not report inner instructions'] : []
  for (const program of inner ?? [])
    if (!mayCall.includes(program))
      refuse(
        'INNER_PROGRAM',
        `the transaction calls ${program} by an inner instruction (CPI), but the policy does not list that program`,
      )
  return { refusals, notUnderstood, lamports, tokens }
}

type Token = ReturnType<typeof tokenAccountOf>

/** Describes a forbidden change of an account of the wallet; undefined if the change is allowed. */
function changeOf(was: Token, is: Token, asked: AskedTrade): string | undefined {
  if (is === undefined) {
    const isEmpty = was === undefined || was.tokens === 0n || asked.side === 'sell' || was.mint !== asked.mint
    return isEmpty ? undefined : 'would be closed'
  }
  if (is.owner !== asked.wallet) return `would be owned by ${is.owner}`
  const isTraded = is.mint === asked.mint || is.mint === WSOL_MINT
  if (!isTraded && is.tokens < (was?.tokens ?? 0n)) return `would lose tokens of ${is.mint}`
  // Before this transaction, while the account was empty, another key may have received a right to the account. This
  // transaction then does not change the right, but the key could move the SOL.
  const isLeft = is.mint === WSOL_MINT && is.tokens > 0n
  if (isLeft && is.rights !== OWNER_ONLY) return 'would keep SOL that another key may move'
  const rights = was?.rights ?? OWNER_ONLY
  return is.rights === rights ? undefined : 'would change its delegate, close authority or frozen state'
}

type Deltas = { readonly lamports: bigint; readonly tokens: bigint }
type Refuse = (code: ErrorCode, reason: string) => void

/** Compares the simulated result with the minimum output of the transaction, and this minimum with the market. If the
 *  minimum were far from the market, other traders could profit from the difference (sandwich attacks). The tolerance
 *  is twice the slippage limit, because the market may have moved in our favour since the transaction was built. */
function judgeOut(trade: Trade, asked: AskedTrade, { lamports, tokens }: Deltas, refuse: Refuse): void {
  const down = Math.max(0, 100 - asked.slippagePercent)
  const up = 100 + asked.slippagePercent
  if (asked.side === 'buy') {
    if (tokens < trade.tokens)
      refuse(
        'SIMULATION_LOSS',
        `the wallet would receive ${tokens} base units, but the minimum output is ${trade.tokens}`,
      )
    if (trade.exact === 'in' && trade.tokens < share(share(tokens, down), down))
      refuse('MIN_OUT', `the minimum output is ${trade.tokens} base units, but the market now gives ${tokens}`)
    if (trade.exact === 'out' && trade.lamports > share(share(-lamports, up), up))
      refuse(
        'MIN_OUT',
        `the maximum cost is ${formatSol(trade.lamports)} SOL, but the market now asks ${formatSol(-lamports)} SOL`,
      )
    return
  }
  if (-tokens > trade.tokens)
    refuse('SIMULATION_LOSS', `${-tokens} base units would leave the wallet, but the transaction sells ${trade.tokens}`)
  if (trade.lamports < share(share(lamports, down), down))
    refuse(
      'MIN_OUT',
      `the minimum output is ${formatSol(trade.lamports)} SOL, but the market now gives ${formatSol(lamports)} SOL`,
    )
}

/** Refuses an opaque trade (its instruction cannot be decoded) whose simulated changes do not have the direction of the
 *  order. */
function judgeDirection({ side }: AskedTrade, { lamports, tokens }: Deltas, refuse: Refuse): void {
  if (side === 'buy' ? tokens <= 0n : tokens >= 0n || lamports <= 0n)
    refuse(
      'SIMULATION_LOSS',
      `the wallet's tokens would change by ${tokens} base units and its SOL by ${formatSol(lamports)}, which is not a ${side}`,
    )
}

/** Returns the addresses of a message's writable accounts. `accounts`: all its accounts, including those from lookup
 *  tables. */
export function writableOf(message: Message, accounts: readonly string[]): string[] {
  return accounts.filter((_address, place) => isWritable(message, place))
}

/** Returns the programs called by inner instructions; undefined if the node does not report them. */
export function innerProgramsOf(inner: unknown, accounts: readonly string[]): Set<string> | undefined {
  if (!Array.isArray(inner)) return undefined
  const called = inner.flatMap((group) => {
    const { instructions } = record(group)
    if (!Array.isArray(instructions)) throw new Unread('simulateTransaction: invalid inner instructions')
    return instructions.map((instruction) => {
      const { programId, programIdIndex } = record(instruction)
      return typeof programId === 'string' ? programId : String(accounts[whole(programIdIndex)])
    })
  })
  return new Set(called)
}

type States = ReadonlyMap<string, AccountState | null>
const TOKENS_AT = 64
const MOST_UINT64 = 2n ** 64n - 1n

/** Returns the states of the accounts at the start of the simulation, according to the balances that the node reports
 *  (`preBalances`, `preTokenBalances`; Agave from 3.0 on). States that were read by an earlier call (`read`) may be
 *  older. The effect of another order that executed in between would then seem to come from this transaction.
 *  `accounts`: all accounts of the message, in the order of the balances. */
export function startStatesOf(
  value: Readonly<Record<string, unknown>>,
  accounts: readonly string[],
  read: States,
): States {
  const { preBalances, preTokenBalances } = value
  if (!Array.isArray(preBalances) || preBalances.length !== accounts.length) return read
  if (!preBalances.every((one) => Number.isSafeInteger(one) && one >= 0)) return read
  const tokens = tokensOf(preTokenBalances)
  return new Map(
    [...read].map(([address, state]) => {
      const index = accounts.indexOf(address)
      return [
        address,
        index < 0 || state === null ? state : startedAs(state, BigInt(preBalances[index]), tokens.get(index)),
      ]
    }),
  )
}

function startedAs(state: AccountState, lamports: bigint, tokens: bigint | undefined): AccountState | null {
  if (lamports === 0n) return null
  if (tokens === undefined) return { ...state, lamports }
  const data = Buffer.from(state.data)
  if (data.length >= TOKENS_AT + 8) data.writeBigUInt64LE(tokens, TOKENS_AT)
  return { ...state, lamports, data }
}

/** Returns the token balances in base units, by account index. */
function tokensOf(balances: unknown): Map<number, bigint> {
  const found = new Map<number, bigint>()
  if (!Array.isArray(balances)) return found
  for (const balance of balances) {
    const { accountIndex, uiTokenAmount } = (balance ?? {}) as { accountIndex?: unknown; uiTokenAmount?: unknown }
    const { amount } = (uiTokenAmount ?? {}) as { amount?: unknown }
    if (Number.isSafeInteger(accountIndex) && typeof amount === 'string' && /^\d{1,20}$/.test(amount))
      if (BigInt(amount) <= MOST_UINT64) found.set(accountIndex as number, BigInt(amount))
  }
  return found
}
