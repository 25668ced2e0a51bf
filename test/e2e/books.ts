import Database from 'better-sqlite3'
import { ERRORS } from '../../src/core/errors.ts'
import { decodeJson } from '../../src/core/json.ts'
import {
  type Attempt,
  type ExecutionReport,
  type Fill,
  isOpen,
  type OrderState,
  type TradeSide,
} from '../../src/core/order.ts'
import { type FillTableRow, fillOf } from '../../src/journal/recovery.ts'
import { TOKEN_DECIMALS } from '../../src/sandbox/curve.ts'
import type { LandedTransaction, Ledger } from '../../src/sandbox/ledger.ts'
import { decodeTokenAccount } from '../../src/sandbox/token-layout.ts'

/** What a journal says of money, to the lamport. */
export interface Books {
  readonly orders: readonly BookedOrder[]
  readonly attempts: readonly Attempt[]
  /** Without those that a fork took back. */
  readonly fills: readonly Fill[]
  readonly reports: readonly ExecutionReport[]
  /** Closed ones too. */
  readonly positions: readonly { mint: string; bot: string; state: string; tokens: bigint }[]
  /** Of everything that was decided. */
  readonly outputs: readonly { kind: string; bot: string; mint: string; code: string; reason: string }[]
  readonly inputs: readonly { kind: string; json: string }[]
  readonly segments: readonly { number: number; ended: number | null }[]
  readonly gaps: readonly { from: number; to: number; keys: string[] }[]
  readonly frames: readonly { why: string; text: string }[]
}

export interface BookedOrder {
  readonly id: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  readonly state: OrderState
  readonly code: string
  readonly reserveLamports: number
}

/** Reads a journal, also one that is being written: what is durable by now. */
export function readBooks(journal: string): Books {
  const db = new Database(journal, { readonly: true, fileMustExist: true })
  try {
    const all = <T>(sql: string): T[] => db.prepare(sql).all() as T[]
    const jsons = <T>(sql: string): T[] =>
      (db.prepare(sql).pluck().all() as string[]).map((json) => decodeJson<T>(json))
    return {
      orders: all(`SELECT 'o' || number AS id, bot, mint, side, state, code,
        json_extract(json, '$.reserveLamports') AS reserveLamports FROM "order" ORDER BY number`),
      attempts: jsons('SELECT json FROM attempt ORDER BY armed_at'),
      fills: all<FillTableRow>('SELECT * FROM fill WHERE reversed = 0').map(fillOf),
      reports: jsons('SELECT json FROM report ORDER BY id'),
      positions: all<{ mint: string; bot: string; state: string; tokens: number }>(
        'SELECT mint, bot, state, tokens FROM positions',
      ).map((row) => ({ ...row, tokens: BigInt(Math.round(row.tokens * 10 ** TOKEN_DECIMALS)) })),
      outputs: all('SELECT kind, bot, mint, code, reason FROM output ORDER BY seq, n'),
      inputs: all('SELECT kind, json FROM input ORDER BY seq'),
      segments: all('SELECT number, ended FROM segment ORDER BY number'),
      gaps: all<{ from: number; to: number; keys: string }>('SELECT "from", "to", keys FROM gaps ORDER BY seq').map(
        (gap) => ({ ...gap, keys: JSON.parse(gap.keys) as string[] }),
      ),
      frames: all('SELECT why, text FROM frame ORDER BY id'),
    }
  } finally {
    db.close()
  }
}

/** Nothing is under way any more: every order has ended, and what was filled is final. */
export function isSettled({ orders, fills, attempts }: Books): boolean {
  const isOut = (attempt: Attempt): boolean => ['armed', 'acked', 'landed', 'unknown'].includes(attempt.state)
  return !orders.some(({ state }) => isOpen(state)) && fills.every(({ final }) => final) && !attempts.some(isOut)
}

export interface Chain {
  readonly ledger: Ledger
  readonly wallet: string
  /** What the wallet began with. */
  readonly funds: number
}

/** Everything in which a journal of live bots is not in order, or differs from the chain. An order whose answer was lost may have executed
 *  without the journal knowing: such a transaction has to fit an order that is still open, one to one. */
export function discrepancies(books: Books, { ledger, wallet, funds }: Chain): string[] {
  const landed = ledger.signatures({ address: wallet, limit: 10_000, commitment: 'processed' })
  const unknown = unexplained(books, landed, wallet)
  const booked = books.fills.map((fill) =>
    fillLine(fill.signature, fill.side, fill.mint, fill.tokens, fill.walletLamports),
  )
  const executed = landed.filter(
    ({ error, signature }) => error === null && !unknown.left.some((one) => one.signature === signature),
  )
  return [
    ...orderComplaints(books),
    ...unknown.complaints,
    ...differing(
      'fills',
      booked,
      executed.map((transaction) => lineOf(transaction, wallet)),
    ),
    ...differing('reverted', revertedLines(books), landed.filter(({ error }) => error !== null).map(feeLine)),
    ...differing(
      'lamports',
      [`${funds + change(books, unknown.left, wallet)}`],
      [`${ledger.account(wallet, 'processed')?.lamports}`],
    ),
    ...differing('tokens by fills', heldByFills(books, unknown.left, wallet), heldOnChain(ledger, wallet)),
    ...(unknown.left.length > 0
      ? []
      : differing('tokens by positions', heldByPositions(books), heldOnChain(ledger, wallet))),
  ]
}

function orderComplaints({ orders, fills, outputs, attempts }: Books): string[] {
  const complaints: string[] = []
  const decided = outputs.filter(({ kind }) => kind === 'order').length
  if (decided !== orders.length) complaints.push(`${decided} decisions made ${orders.length} orders`)
  for (const { id, state, code } of orders) {
    const own = fills.filter(({ orderId }) => orderId === id)
    if (own.length > 1) complaints.push(`${id} has ${own.length} fills`)
    if ((state === 'filled') !== (own.length === 1)) complaints.push(`${id} is ${state} with ${own.length} fills`)
    if (state !== 'filled' && !isOpen(state) && !Object.hasOwn(ERRORS, code))
      complaints.push(`${id} is ${state} without a reason: ${code}`)
  }
  for (const { id, state } of attempts) if (state === 'undecided') complaints.push(`${id} is ${state}`)
  return complaints
}

interface Unexplained {
  /** Transactions of orders whose answer was lost. */
  readonly left: LandedTransaction[]
  readonly complaints: string[]
}

function unexplained(books: Books, landed: readonly LandedTransaction[], wallet: string): Unexplained {
  const known = new Set(books.fills.map(({ signature }) => signature))
  const lost = books.orders.filter(({ state }) => isOpen(state))
  const result: Unexplained = { left: [], complaints: [] }
  for (const transaction of landed) {
    if (transaction.error !== null || known.has(transaction.signature)) continue
    const { mint, tokens } = tradeOf(transaction, wallet)
    const side = tokens > 0n ? 'buy' : 'sell'
    const index = lost.findIndex((order) => order.mint === mint && order.side === side)
    if (index < 0) result.complaints.push(`${side} of ${mint} is on the chain only: ${transaction.signature}`)
    lost.splice(index, index < 0 ? 0 : 1)
    result.left.push(transaction)
  }
  return result
}

function tradeOf(
  { tokens, accounts }: LandedTransaction,
  wallet: string,
): { mint: string; tokens: bigint; lamports: number } {
  const own = tokens.filter(({ owner }) => owner === wallet)
  const use = accounts.find(({ address }) => address === wallet)
  return {
    mint: own[0]?.mint ?? '',
    tokens: own.reduce((sum, { pre = 0n, post = 0n }) => sum + post - pre, 0n),
    lamports: (use?.postLamports ?? 0) - (use?.preLamports ?? 0),
  }
}

function fillLine(signature: string, side: TradeSide, mint: string, tokens: bigint, lamports: number): string {
  return `${signature} ${side} ${tokens} of ${mint}: ${lamports} lamports`
}

function lineOf(transaction: LandedTransaction, wallet: string): string {
  const { mint, tokens, lamports } = tradeOf(transaction, wallet)
  return fillLine(transaction.signature, tokens > 0n ? 'buy' : 'sell', mint, tokens < 0n ? -tokens : tokens, lamports)
}

function revertedLines({ attempts, reports }: Books): string[] {
  const reverted = attempts.filter(({ state }) => state === 'reverted')
  return reverted.map(({ id, signature }) => {
    const fees = reports.filter(({ attemptId, feeLamports }) => attemptId === id && feeLamports !== undefined)
    return `${signature}: ${fees.map(({ feeLamports }) => feeLamports).join(' and ')}`
  })
}

function feeLine({ signature, feeLamports }: LandedTransaction): string {
  return `${signature}: ${feeLamports}`
}

function change({ fills, reports }: Books, unknown: readonly LandedTransaction[], wallet: string): number {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
  return (
    sum(fills.map(({ walletLamports }) => walletLamports)) -
    sum(reports.map(({ feeLamports = 0 }) => feeLamports)) +
    sum(unknown.map((transaction) => tradeOf(transaction, wallet).lamports))
  )
}

function heldByFills({ fills }: Books, unknown: readonly LandedTransaction[], wallet: string): string[] {
  return held([
    ...fills.map(({ mint, side, tokens }) => ({ mint, tokens: side === 'buy' ? tokens : -tokens })),
    ...unknown.map((transaction) => tradeOf(transaction, wallet)),
  ])
}

function heldByPositions({ positions }: Books): string[] {
  return held(positions.filter(({ state }) => state !== 'closed'))
}

function heldOnChain(ledger: Ledger, wallet: string): string[] {
  const accounts = ledger.tokenAccounts(wallet, 'processed').map((address) => ledger.account(address, 'processed'))
  return held(
    accounts.flatMap((account) => {
      const state = account && decodeTokenAccount(account.data)
      return state === undefined ? [] : [{ mint: state.mint, tokens: state.amount }]
    }),
  )
}

function held(changes: readonly { mint: string; tokens: bigint }[]): string[] {
  const sums = new Map<string, bigint>()
  for (const { mint, tokens } of changes) sums.set(mint, (sums.get(mint) ?? 0n) + tokens)
  return [...sums].filter(([, tokens]) => tokens !== 0n).map(([mint, tokens]) => `${tokens} of ${mint}`)
}

function differing(what: string, journal: readonly string[], chain: readonly string[]): string[] {
  const only = (one: readonly string[], other: readonly string[]): string[] =>
    one.filter((line) => !other.includes(line))
  return [
    ...only(journal, chain).map((line) => `${what}, in the journal only: ${line}`),
    ...only(chain, journal).map((line) => `${what}, on the chain only: ${line}`),
    ...(new Set(journal).size < journal.length ? [`${what}: twice in the journal`] : []),
  ]
}
