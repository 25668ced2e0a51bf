import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { ERRORS } from '../../src/base/errors.ts'
import { decodeJson } from '../../src/base/json.ts'
import { walletChange } from '../../src/engine/accounting/fill-costs.ts'
import { type ExecutionReport, type Fill, isOpen, type OrderState } from '../../src/engine/order.ts'
import { openForReading } from '../../src/journal/database.ts'
import { type FillTableRow, fillOf } from '../../src/journal/schema/fills.ts'
import type { TradeSide } from '../../src/market/block.ts'
import { type Attempt, isUndecided } from '../../src/orders/attempt.ts'
import type { LandedTransaction, Ledger } from '../../src/sandbox/chain/ledger.ts'
import { TOKEN_DECIMALS } from '../../src/solana/constants.ts'
import { decodeTokenAccount } from '../../src/solana/token-account.ts'

/** The money that a journal records, in lamports. */
export interface Books {
  readonly orders: readonly BookedOrder[]
  readonly attempts: readonly Attempt[]
  /** All fills except those that a fork reversed. */
  readonly fills: readonly Fill[]
  readonly reports: readonly ExecutionReport[]
  /** Includes closed positions. */
  readonly positions: readonly { account: string; mint: string; bot: string; state: string; tokens: bigint }[]
  /** Counts all decisions. */
  readonly outputs: readonly { kind: string; bot: string; mint: string; code: string; reason: string }[]
  readonly inputs: readonly { segment: number; kind: string; json: string }[]
  readonly segments: readonly { number: number; ended: number | null }[]
  readonly gaps: readonly { from: number; to: number; keys: string[] }[]
  readonly ledger: LedgerBooks
}

interface LedgerBooks {
  readonly accounts: readonly AccountLedger[]
  readonly complaints: readonly string[]
}

/** The sums of a live wallet's ledger, lamports. */
interface AccountLedger {
  readonly account: string
  /** The sum of the changes of the wallet by fills. */
  readonly fills: number
  /** The sum of all ledger lines up to the Solana slot of the last audit. */
  readonly audited: number | null
  /** The balance of the wallet at the Solana slot of the last audit. */
  readonly wallet: number | null
}

export interface BookedOrder {
  readonly id: string
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  readonly state: OrderState
  readonly code: string
  readonly reserveLamports: number
}

/** Reads the durable content of a journal, even of one that is being written, in one snapshot. */
export function readBooks(journal: string): Books {
  const reader = new BooksReader(journal)
  try {
    return reader.read()
  } finally {
    reader.close()
  }
}

/** The connection is closed when this time has passed since the last read. */
const IDLE_MS = 300

/** Reads a journal repeatedly, but only if another connection has committed since the last read. It stays connected
 *  between two reads, because a new connection has to parse the whole schema. Close it before a test looks at the files
 *  of the journal or starts another process: until then, a writer that ends leaves its write-ahead log behind. */
export class BooksReader {
  readonly #path: string
  #open: { db: Database.Database; read: () => Books; version: Database.Statement; seen: unknown } | undefined
  #books: Books | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(path: string) {
    this.#path = path
  }

  read(): Books {
    this.#open ??= opened(this.#path)
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.close(), IDLE_MS)
    const seen = this.#open.version.get()
    if (this.#books === undefined || this.#open.seen !== seen) this.#books = this.#open.read()
    this.#open.seen = seen
    return this.#books
  }

  close(): void {
    clearTimeout(this.#idle)
    this.#open?.db.close()
    this.#open = undefined
    this.#books = undefined
  }
}

function opened(path: string) {
  const db = openForReading(path)
  const version = db.prepare('PRAGMA data_version').pluck()
  return { db, read: booksOf(db), version, seen: undefined }
}

function booksOf(db: Database.Database): () => Books {
  const prepare = statementsOf(db)
  return db.transaction(() => booksIn(prepare))
}

type Statements = (sql: string) => Database.Statement

/** Prepares each statement once for this connection. */
function statementsOf(db: Database.Database): Statements {
  const prepared = new Map<string, Database.Statement>()
  return (sql) => {
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }
}

function booksIn(prepare: Statements): Books {
  const all = <T>(sql: string): T[] => prepare(sql).all() as T[]
  const jsons = <T>(sql: string): T[] => (prepare(sql).pluck().all() as string[]).map((json) => decodeJson<T>(json))
  return {
    orders: all(`SELECT 'o' || number AS id, account, bot, mint, side, state, code,
      json_extract(json, '$.reserveLamports') AS reserveLamports FROM "order" ORDER BY number`),
    attempts: jsons('SELECT json FROM attempt ORDER BY armed_at'),
    fills: all<FillTableRow>('SELECT * FROM fill WHERE reversed = 0').map(fillOf),
    reports: jsons(`SELECT json_extract(json, '$.report') FROM input WHERE kind = 'report'
      UNION ALL SELECT json FROM report`),
    positions: all<{ account: string; mint: string; bot: string; state: string; tokens: number }>(
      'SELECT account, mint, bot, state, tokens FROM positions',
    ).map((row) => ({ ...row, tokens: BigInt(Math.round(row.tokens * 10 ** TOKEN_DECIMALS)) })),
    outputs: all('SELECT kind, bot, mint, code, reason FROM output ORDER BY seq, n'),
    inputs: all('SELECT segment, kind, json FROM input ORDER BY seq'),
    segments: all('SELECT number, ended FROM segment ORDER BY number'),
    gaps: all<{ from: number; to: number; keys: string }>('SELECT "from", "to", keys FROM gaps ORDER BY seq').map(
      (gap) => ({ ...gap, keys: JSON.parse(gap.keys) as string[] }),
    ),
    ledger: ledgerIn(prepare),
  }
}

function ledgerIn(prepare: Statements): LedgerBooks {
  const last = (what: string): string =>
    `(SELECT ${what} FROM audit a WHERE a.account = p.account ORDER BY slot DESC LIMIT 1)`
  return {
    accounts: prepare(`SELECT account, sum(CASE WHEN kind = 'fill' THEN wallet ELSE 0 END) AS fills,
      sum(CASE WHEN audited <= ${last('slot')} THEN wallet END) AS audited, ${last('lamports')} AS wallet
      FROM posting p WHERE account LIKE 'live|%' GROUP BY account`).all() as AccountLedger[],
    complaints: [
      ...(
        prepare(
          'SELECT posting, sum(lamports) AS sum FROM ledger GROUP BY posting HAVING sum(lamports) <> 0',
        ).all() as { posting: number; sum: number }[]
      ).map(({ posting, sum }) => `the lines of posting ${posting} add up to ${sum} instead of 0`),
      ...(
        prepare('SELECT account, slot, remainder_lamports AS rest FROM audits WHERE remainder_lamports <> 0').all() as {
          account: string
          slot: number
          rest: number
        }[]
      ).map(
        ({ account, slot, rest }) =>
          `the ledger of ${account} leaves ${rest} lamports unexplained at the Solana slot ${slot}`,
      ),
    ],
  }
}

/** Returns whether every order has ended and every fill is final. */
export function isSettled({ orders, fills, attempts }: Books): boolean {
  return (
    !orders.some(({ state }) => isOpen(state)) &&
    fills.every(({ final }) => final) &&
    !attempts.some(({ state }) => isUndecided(state))
  )
}

/** Returns whether the bots with the strategy `round-trips` have made every kind of sale, and no order is open. */
export function isWalked(books: Books): boolean {
  const isDone = books.outputs.some(({ kind, reason }) => kind === 'note' && reason === 'all kinds of sales are done')
  return isDone && isSettled(books)
}

/**
 * Returns the attempts whose request may have reached the service: all except those that provably never left, such as
 * after a refused connection.
 */
export function requestedIn({ attempts }: Books): Attempt[] {
  return attempts.filter(({ state }) => state !== 'unsent')
}

/** Returns whether the process of this segment may buy, because it has read its wallet. */
export function knowsWallet({ inputs }: Books, number: number): boolean {
  const own = inputs.filter(({ segment }) => segment === number)
  const gate = own.findLast(({ kind, json }) => kind === 'gate' && !json.includes('"code":"DISK_LOW"'))
  return own.some(({ kind }) => kind === 'wallet') && gate?.json.includes('"open":true') === true
}

/** Returns the number of processes that have started on a journal; 0 if the journal does not exist. */
export function segmentsOf(journal: string): number {
  return existsSync(journal) ? readBooks(journal).segments.length : 0
}

export interface Chain {
  readonly ledger: Ledger
  readonly wallet: string
  /** The initial balance of the wallet. */
  readonly funds: number
}

/**
 * Returns the problems of one wallet in a journal of live bots: inconsistencies, and differences from the chain. An
 * attempt without an outcome may have executed, although the journal does not know it yet. Each transaction that only
 * the chain knows must therefore match one of these attempts.
 */
export function discrepancies(all: Books, { ledger, wallet, funds }: Chain): string[] {
  const books = onlyOf(all, wallet)
  const landed = ledger.signatures({ address: wallet, limit: 10_000, commitment: 'processed' })
  const { unknown, complaints } = unexplained(books, landed, wallet)
  const known = landed.filter((transaction) => !unknown.includes(transaction))
  const executed = known.filter(({ error }) => error === null).map((transaction) => lineOf(transaction, wallet))
  const reverted = known.filter(({ error }) => error !== null).map(feeLine)
  const lamports = funds + change(books, unknown, wallet)
  const onChain = heldOnChain(ledger, wallet)
  return [
    ...orderComplaints(all),
    ...complaints,
    ...differing('fills', books.fills.map(fillLine), executed),
    ...differing('reverted', revertedLines(books), reverted),
    ...books.fills.flatMap(costComplaints),
    ...ledgerComplaints(books, wallet),
    ...differing('lamports', [`${lamports}`], [`${ledger.account(wallet, 'processed')?.lamports}`]),
    ...differing('tokens by fills', heldByFills(books, unknown, wallet), onChain),
    ...(isSettled(books) ? differing('tokens by positions', heldByPositions(books), onChain) : []),
  ]
}

/** Checks that the components of a fill add up to the change of its wallet, without a remainder. */
function costComplaints({ orderId, side, walletLamports, costs }: Fill): string[] {
  const sum = walletChange(side, costs)
  return sum === walletLamports && costs.remainderLamports === 0
    ? []
    : [
        `${orderId}: its costs add up to ${sum} of ${walletLamports} lamports, with a remainder of ${costs.remainderLamports}`,
      ]
}

/**
 * Checks that the postings of the ledger balance, equal the fills, and equal the chain at every audit, without a
 * remainder.
 */
function ledgerComplaints({ ledger, fills }: Books, wallet: string): string[] {
  const filled = fills.reduce((sum, { walletLamports }) => sum + walletLamports, 0)
  const own = ledger.accounts.find(isLiveOf(wallet)) ?? { fills: 0, audited: null, wallet: null }
  return [
    ...ledger.complaints,
    ...differing('sum of the fills in the ledger', [`${own.fills}`], [`${filled}`]),
    ...differing('sum of the ledger at the last audit', [`${own.audited}`], [`${own.wallet}`]),
  ]
}

/** Returns a function that tests whether a record belongs to the live account of a wallet. */
export function isLiveOf(wallet: string): (of: { readonly account: string }) => boolean {
  return ({ account }) => account.startsWith('live|') && account.endsWith(`|${wallet}`)
}

function onlyOf(books: Books, wallet: string): Books {
  const isLive = isLiveOf(wallet)
  const orders = books.orders.filter(isLive)
  const ids = new Set(orders.map(({ id }) => id))
  return {
    ...books,
    orders,
    // A failed transaction of a paper bot costs its wallet nothing.
    reports: books.reports.filter(({ orderId }) => ids.has(orderId)),
    attempts: books.attempts.filter(isLive),
    fills: books.fills.filter(isLive),
    positions: books.positions.filter(isLive),
  }
}

function orderComplaints({ orders, fills, outputs, attempts }: Books): string[] {
  const complaints: string[] = []
  const decided = outputs.filter(({ kind }) => kind === 'order').length
  if (decided !== orders.length)
    complaints.push(`the engine decided ${decided} orders, but the journal has ${orders.length}`)
  for (const { id, state, code } of orders) {
    const own = fills.filter(({ orderId }) => orderId === id)
    if (own.length > 1) complaints.push(`${id} has ${own.length} fills`)
    // An open order may have a fill that has not reached the engine yet; the next start reads it.
    if (!isOpen(state) && (state === 'filled') !== (own.length === 1))
      complaints.push(`${id} is ${state} with ${own.length} fills`)
    if (state !== 'filled' && !isOpen(state) && !Object.hasOwn(ERRORS, code))
      complaints.push(`${id} is ${state} without a reason: ${code}`)
  }
  for (const { id, state } of attempts) if (state === 'undecided') complaints.push(`${id} is ${state}`)
  return complaints
}

/**
 * Matches the transactions of attempts without an outcome, which the journal may not know yet. Returns a problem for
 * each transaction that matches no attempt.
 */
function unexplained(
  { fills, attempts, reports }: Books,
  landed: readonly LandedTransaction[],
  wallet: string,
): { unknown: LandedTransaction[]; complaints: string[] } {
  const reverted = attempts.filter(({ state }) => state === 'reverted')
  const booked = new Set([...fills, ...reverted, ...paidIn(reports)].map(({ signature }) => signature))
  const unknown = landed.filter(({ signature }) => !booked.has(signature))
  const out = attempts.filter(({ state, signature }) => isUndecided(state) && !booked.has(signature))
  const complaints = unknown.flatMap((transaction) => {
    const { mint, tokens } = tradeOf(transaction, wallet)
    const side = transaction.error !== null ? undefined : tokens > 0n ? 'buy' : 'sell'
    // A transaction that failed before it opened a token account has no balances, but it names its mint.
    const names = (attempt: Attempt): boolean => transaction.accounts.some(({ address }) => address === attempt.mint)
    const index = out.findIndex((attempt) =>
      side === undefined ? names(attempt) : attempt.mint === mint && attempt.side === side,
    )
    if (index >= 0) out.splice(index, 1)
    return index >= 0 ? [] : [`${side ?? 'reverted trade'} of ${mint} is only on the chain: ${transaction.signature}`]
  })
  return { unknown, complaints }
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

function fillLine({ signature, side, mint, tokens, walletLamports }: FillLike): string {
  return `${signature} ${side} ${tokens} of ${mint}: ${walletLamports} lamports`
}

type FillLike = Pick<Fill, 'signature' | 'side' | 'mint' | 'tokens'> & { walletLamports: number }

function lineOf(transaction: LandedTransaction, wallet: string): string {
  const { mint, tokens, lamports } = tradeOf(transaction, wallet)
  const side = tokens > 0n ? 'buy' : 'sell'
  const amount = tokens < 0n ? -tokens : tokens
  return fillLine({ signature: transaction.signature, side, mint, tokens: amount, walletLamports: lamports })
}

function revertedLines({ attempts, reports }: Books): string[] {
  const paid = paidIn(reports)
  const reverted = attempts.filter(
    ({ state, signature }) => state === 'reverted' && !paid.some((one) => one.signature === signature),
  )
  const lines = reverted.map(({ id, signature }) => {
    const fees = reports.filter(
      ({ attemptId, feeLamports, reason }) => attemptId === id && feeLamports !== undefined && !PAID.test(reason),
    )
    return `${signature}: ${fees.map(({ feeLamports }) => feeLamports).join(' and ')}`
  })
  return [...lines, ...paid.map(({ signature, feeLamports }) => `${signature}: ${feeLamports}`)]
}

const PAID = /^the transaction (\w+) failed; whether the service sent another one is unknown$/

/** Returns the failed transactions that the reports mention only because of their fee, with this fee. */
function paidIn(reports: Books['reports']): { signature: string; feeLamports: number }[] {
  return reports.flatMap(({ reason, feeLamports = 0 }) => {
    const signature = PAID.exec(reason)?.[1]
    return signature === undefined ? [] : [{ signature, feeLamports }]
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
    ...only(journal, chain).map((line) => `${what}: only in the journal: ${line}`),
    ...only(chain, journal).map((line) => `${what}: only on the chain: ${line}`),
    ...(new Set(journal).size < journal.length ? [`${what}: the journal has an entry twice`] : []),
  ]
}
