import type { ErrorCode, Refusal } from '../../base/errors.ts'
import type { AskedTrade } from '../../orders/asked-trade.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { type AccountState, OWNER_ONLY, tokenAccountOf } from '../../solana/token-account.ts'
import { encodeTransaction, isWritable, type Message, type TransactionBytes } from '../../solana/transaction.ts'
import { codeOf, errorText } from '../landed/fill.ts'
import { accountOf, readAccounts } from '../rpc/accounts.ts'
import { call, record, Unread, whole } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { exposedBy } from './exposure.ts'
import { share } from './judge.ts'
import { sol, type Trade } from './reading.ts'
import type { Verdict } from './verify.ts'

/** What the chain, as it is now, would make of a transaction. */
export interface Simulation {
  readonly refusals: readonly Refusal[]
  readonly notUnderstood: readonly string[]
  /** By how much the wallet's SOL and its tokens of the mint would change; undefined where it fails. */
  readonly lamports?: bigint
  readonly tokens?: bigint
}

/** What a simulation starts from. */
export interface Ground {
  /** All of the message, looked-up ones included. */
  readonly accounts: readonly string[]
  /** One at which the chain knew its blockhash. */
  readonly slot: number
  /** Accounts as they were read already. */
  readonly before: ReadonlyMap<string, AccountState | null>
}

/** Programs that every trade may call from inside. */
export const USUAL_INNER: readonly string[] = [
  ...[PROGRAMS.system, PROGRAMS.token, PROGRAMS.token2022, PROGRAMS.associatedToken, PROGRAMS.memo, PROGRAMS.memo1],
  PROGRAMS.pumpFees,
]

/** Runs it on a node without signing it: nothing fails, nothing beyond the bound leaves, what has to arrive does, and
 *  nobody gets a right to an account of the wallet. A program can behave otherwise when it is sent, so this comes on
 *  top of what was read. Unread where the node cannot simulate. */
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
  const mayCall = [...USUAL_INNER, ...policy.innerPrograms, ...policy.programs.map(({ id }) => id)]
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
  const { err, accounts: told, innerInstructions, logs } = answer
  if (err != null) {
    const last = Array.isArray(logs) ? logs.filter((line) => typeof line === 'string').at(-1) : undefined
    const reason = `${errorText(err).slice(0, 200)}${last === undefined ? '' : `; ${String(last).slice(0, 200)}`}`
    const code = codeOf(err) === 'SLIPPAGE_EXCEEDED' ? 'SLIPPAGE_EXCEEDED' : 'SIMULATION_FAILED'
    return { refusals: [{ code, reason }], notUnderstood: [] }
  }
  if (!Array.isArray(told) || told.length !== touched.length) throw new Unread('simulateTransaction: no accounts')
  const began = beginningsOf(answer, accounts, was)
  const changes = touched.map((address, index) => ({
    address,
    before: began.get(address) ?? null,
    after: accountOf(told[index]),
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
        refuse('ACCOUNT_CHANGED', `the wallet would belong to ${after?.owner ?? 'nobody'}`)
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
    } else lamports += more // wrapped SOL is SOL, and so is the rent in its account
  }
  if (bound === null || -lamports > bound)
    refuse(
      'SIMULATION_LOSS',
      `${sol(-lamports)} SOL would leave, and at most ${bound === null ? 'nothing' : sol(bound)} may`,
    )
  if (trade !== undefined) judgeOut(trade, asked, { lamports: lamports + rent, tokens }, refuse)
  else judgeDirection(asked, { lamports, tokens }, refuse)
  const notUnderstood = inner === undefined ? ['the node does not tell which programs were called from inside'] : []
  for (const program of inner ?? [])
    if (!mayCall.includes(program)) refuse('INNER_PROGRAM', `${program} is called from inside`)
  return { refusals, notUnderstood, lamports, tokens }
}

type Token = ReturnType<typeof tokenAccountOf>

/** What must not happen to an account of the wallet, in words. */
function changeOf(was: Token, is: Token, asked: AskedTrade): string | undefined {
  if (is === undefined) {
    const isEmpty = was === undefined || was.tokens === 0n || asked.side === 'sell' || was.mint !== asked.mint
    return isEmpty ? undefined : 'would be gone'
  }
  if (is.owner !== asked.wallet) return `would belong to ${is.owner}`
  const isTraded = is.mint === asked.mint || is.mint === WSOL_MINT
  if (!isTraded && is.tokens < (was?.tokens ?? 0n)) return `would lose tokens of ${is.mint}`
  // Such a right may be older than this transaction: an opaque program got the account while nothing was in it.
  const isLeft = is.mint === WSOL_MINT && is.tokens > 0n
  if (isLeft && is.rights !== OWNER_ONLY) return 'would keep SOL that somebody else may move'
  const rights = was?.rights ?? OWNER_ONLY
  return is.rights === rights ? undefined : 'could be moved, closed or frozen by somebody else'
}

type Deltas = { readonly lamports: bigint; readonly tokens: bigint }
type Refuse = (code: ErrorCode, reason: string) => void

/** What arrives, against what the transaction itself asks for and against what the chain would give now: a bound far
 *  from that invites others to trade in between. Since it was built the market may have come our way by as much as the
 *  order lets it go the other way. */
function judgeOut(trade: Trade, asked: AskedTrade, { lamports, tokens }: Deltas, refuse: Refuse): void {
  const down = Math.max(0, 100 - asked.slippagePercent)
  const up = 100 + asked.slippagePercent
  if (asked.side === 'buy') {
    if (tokens < trade.tokens)
      refuse('SIMULATION_LOSS', `${tokens} tokens would arrive, and at least ${trade.tokens} have to`)
    if (trade.exact === 'in' && trade.tokens < share(share(tokens, down), down))
      refuse('MIN_OUT', `at least ${trade.tokens} tokens, where the market gives ${tokens} now`)
    if (trade.exact === 'out' && trade.lamports > share(share(-lamports, up), up))
      refuse('MIN_OUT', `at most ${sol(trade.lamports)} SOL, where the market wants ${sol(-lamports)} now`)
    return
  }
  if (-tokens > trade.tokens)
    refuse('SIMULATION_LOSS', `${-tokens} tokens would leave, and at most ${trade.tokens} may`)
  if (trade.lamports < share(share(lamports, down), down))
    refuse('MIN_OUT', `at least ${sol(trade.lamports)} SOL, where the market gives ${sol(lamports)} now`)
}

/** Nothing is known of the trade but that it should be one. */
function judgeDirection({ side }: AskedTrade, { lamports, tokens }: Deltas, refuse: Refuse): void {
  if (side === 'buy' ? tokens <= 0n : tokens >= 0n || lamports <= 0n)
    refuse(
      'SIMULATION_LOSS',
      `the wallet would ${tokens <= 0n ? 'lose' : 'get'} ${tokens < 0n ? -tokens : tokens} tokens`,
    )
}

/** Addresses of a message that may be written to. `accounts`: all of them, looked-up ones included. */
export function writableOf(message: Message, accounts: readonly string[]): string[] {
  return accounts.filter((_address, place) => isWritable(message, place))
}

/** undefined where the node says nothing about them. */
export function innerProgramsOf(inner: unknown, accounts: readonly string[]): Set<string> | undefined {
  if (!Array.isArray(inner)) return undefined
  const called = inner.flatMap((group) => {
    const { instructions } = record(group)
    if (!Array.isArray(instructions)) throw new Unread('simulateTransaction: inner instructions that are none')
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

/** Accounts as a simulation began with them, where the node tells the balances from before it (`preBalances`,
 *  `preTokenBalances`; Agave from 3.0 on): what was read in a call of its own may be older, and what another order of
 *  the wallet took in between would look like this one's. `accounts`: all of the message, in the order of the
 *  balances. */
export function beginningsOf(
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
        index < 0 || state === null ? state : beganAs(state, BigInt(preBalances[index]), tokens.get(index)),
      ]
    }),
  )
}

function beganAs(state: AccountState, lamports: bigint, tokens: bigint | undefined): AccountState | null {
  if (lamports === 0n) return null
  if (tokens === undefined) return { ...state, lamports }
  const data = Buffer.from(state.data)
  if (data.length >= TOKENS_AT + 8) data.writeBigUInt64LE(tokens, TOKENS_AT)
  return { ...state, lamports, data }
}

/** Base units by the place of their account. */
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
