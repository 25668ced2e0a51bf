import type { Database } from 'better-sqlite3'
import { decodeJson } from '../../base/json.ts'
import type { Lamports, Millis, Seq } from '../../base/units.ts'
import type { Movement, TokenMovement } from '../../engine/accounting/movement.ts'
import type { Input } from '../../engine/messages.ts'
import { type FillTableRow, fillOf } from '../schema/fills.ts'
import { LINES } from '../schema/ledger.ts'

/** SOL that a wallet gave or received, by line of the ledger, in lamports. A positive amount left the wallet, a
 *  negative one entered it. The keys are lines of the view `ledger`. */
export type LedgerLines = Readonly<Record<string, Lamports>>

/** Labels of the ledger's lines, in display order. A line without a label is shown by its name. */
export const LEDGER_LABELS: Readonly<Record<string, string>> = {
  opening: 'opening balance',
  inflow: 'received from elsewhere',
  foreign: 'foreign transactions signed by the wallet',
  housekeeping: 'own transactions without an order (fees)',
  opaque: 'transactions that cannot be read',
  trade: 'tokens at the decision price',
  impact: 'delay and price impact',
  venue_fee: 'venue fees',
  service_fee: 'service fees',
  base_fee: 'base fees',
  priority_fee: 'priority fees',
  tip: 'tips',
  rent_paid: 'rent paid into accounts',
  rent_returned: 'rent returned',
  wrapped: 'wrapped SOL, still in the wallet',
  remainder: 'unexplained part of trades',
}

/** The ledger of one account. */
export interface AccountLedger {
  readonly account: string
  /** Balance that follows from all postings: the negative sum of `lines`. */
  readonly walletLamports: Lamports
  readonly lines: LedgerLines
  /** Cost of failed transactions. This amount is also included in `lines`. */
  readonly failedLamports: Lamports
  /** Last comparison of the ledger with the wallet; null if there was none. */
  readonly audit: LedgerAudit | null
}

export interface LedgerAudit {
  /** Finalized slot of the comparison; 0 on paper. */
  readonly slot: number
  readonly time: Millis | null
  /** Live: balance of the wallet on the chain. On paper: balance of the account according to the engine. */
  readonly walletLamports: Lamports
  /** Balance that follows from the postings up to `slot`. */
  readonly ledgerLamports: Lamports
  /** `walletLamports` minus `ledgerLamports`, which no posting explains. */
  readonly remainderLamports: Lamports
  /** Largest absolute value that the remainder had at any comparison so far. */
  readonly worstLamports: Lamports
}

/** One line of a posting. */
export interface LedgerEntry {
  readonly posting: number
  readonly at: string
  readonly kind: string
  readonly line: string
  readonly unit: string
  readonly lamports: Lamports | null
  readonly amount: number
  readonly reverses: number | null
  readonly signature: string
}

/** Returns the ledgers of all accounts, by name. */
export function accountLedgers(db: Database): AccountLedger[] {
  const sums = ['wallet', ...LINES].map((line) => `sum(${line}) AS ${line}`).join(', ')
  const rows = db.prepare(`SELECT account, ${sums} FROM posting GROUP BY account ORDER BY account`).all()
  return (rows as ({ account: string } & Record<string, Lamports>)[]).map((row) => {
    const { account, wallet } = row
    return {
      account,
      walletLamports: wallet as Lamports,
      lines: linesOf(db, row),
      failedLamports: numberOf(
        db,
        `SELECT -coalesce(sum(wallet), 0) FROM posting WHERE kind = 'failed' AND account = ?`,
        account,
      ),
      audit: account.startsWith('live|') ? auditOf(db, account) : paperAuditOf(db, account, wallet as Lamports),
    }
  })
}

/** Returns the lines of an account that are not 0. An amount that belongs to no trade is listed under the kind of its
 *  posting. */
function linesOf(db: Database, row: { account: string } & Record<string, Lamports>): LedgerLines {
  const others = db
    .prepare('SELECT kind, sum(other) AS other FROM posting WHERE account = ? AND other <> 0 GROUP BY kind')
    .all(row.account) as { kind: string; other: Lamports }[]
  const own = LINES.filter((line) => line !== 'other').map((line) => [line, row[line] as Lamports] as const)
  return Object.fromEntries(
    [...others.map(({ kind, other }) => [kind, other] as const), ...own].filter(([, lamports]) => lamports !== 0),
  )
}

function auditOf(db: Database, account: string): LedgerAudit | null {
  const last = db
    .prepare(
      `SELECT slot, time, lamports AS walletLamports, ledger AS ledgerLamports, remainder AS remainderLamports,
         (SELECT max(abs(remainder)) FROM audit WHERE account = a.account) AS worstLamports
       FROM audit a WHERE account = ? ORDER BY first_slot DESC LIMIT 1`,
    )
    .get(account)
  return (last as LedgerAudit | undefined) ?? null
}

/** Compares the ledger of a paper account with the engine's balance. The engine books a fill when it processes the
 *  report; the ledger books it when the fill is durable. A fill that only one of the two has booked does not count as a
 *  difference. */
function paperAuditOf(db: Database, account: string, ledger: Lamports): LedgerAudit | null {
  const walletLamports = db
    .prepare(`SELECT json_extract(json, '$.lamports') FROM account WHERE account = ?`)
    .pluck()
    .get(account) as Lamports | null | undefined
  if (typeof walletLamports !== 'number') return null
  const untold = numberOf(
    db,
    'SELECT coalesce(sum(wallet_lamports), 0) FROM fill WHERE taken IS NULL AND reversed = 0 AND account = ?',
    account,
  )
  const ledgerLamports = (ledger - untold) as Lamports
  const remainderLamports = (walletLamports - ledgerLamports) as Lamports
  const worstLamports = Math.abs(remainderLamports) as Lamports
  return { slot: 0, time: null, walletLamports, ledgerLamports, remainderLamports, worstLamports }
}

/** Returns the postings of an order, oldest first. */
export function ledgerEntries(db: Database, orderId: string): LedgerEntry[] {
  const rows = db
    .prepare(
      `SELECT posting, at, kind, line, unit, lamports, amount, reverses, signature FROM ledger WHERE order_id = ?
       ORDER BY posting, line`,
    )
    .all(orderId)
  return rows as LedgerEntry[]
}

/** Returns every change of the wallets' tokens: fills that no fork has reversed, tokens that a bot adopted, and tokens
 *  that left a wallet without an order. */
export function movementsOf(db: Database): TokenMovement[] {
  const fills = (db.prepare('SELECT * FROM fill WHERE reversed = 0').all() as FillTableRow[]).map(fillOf)
  return [...fills.map((fill) => ({ kind: 'fill', fill }) as const), ...foreignMovements(db)]
}

/** How far the movements were read: the last posting and the last input. */
export interface MovementCursor {
  readonly posting: number
  readonly seq: Seq
}

/** Changes of the movements since a cursor. A movement is a change of a wallet's tokens, or the fee of a failed
 *  transaction. It replaces the earlier movement with the same key. */
export interface MovementNews {
  readonly changed: readonly { readonly key: string; readonly movement: Movement }[]
  /** Keys of movements that are no longer valid. */
  readonly gone: readonly string[]
  readonly upTo: MovementCursor
}

type ReasonedRow = FillTableRow & { readonly reversed: number; readonly reason: string | null }
type FailedPosting = Omit<Extract<Movement, { kind: 'failed' }>, 'kind'> & {
  readonly id: number
  readonly standing: number
  readonly reverses: number | null
}

/** Reads what changed since the cursor: fills with the reasons of their orders, fees of failed transactions, and
 *  movements without an order. Each change of a fill's amounts adds a posting to the ledger, so the postings since the
 *  cursor identify the changed fills. */
export function movementNews(db: Database, since: MovementCursor, most: number): MovementNews {
  const last = (sql: string): number => (db.prepare(sql).pluck().get() as number | null) ?? 0
  const posting = Math.min(last('SELECT max(id) FROM posting'), since.posting + most)
  const upTo = { posting, seq: last('SELECT max(seq) FROM input') }
  const named = `SELECT *, (SELECT o.reason FROM "order" o
    WHERE o.open IN (0, 1) AND o.number = CAST(substr(order_id, 2) AS INTEGER)) AS reason FROM fill`
  const changed = '(signature, order_id) IN (SELECT signature, order_id FROM posting WHERE id > ? AND id <= ?)'
  const fills = (
    since.posting === 0 && most === Number.POSITIVE_INFINITY
      ? db.prepare(named).all()
      : db.prepare(`${named} WHERE ${changed}`).all(since.posting, upTo.posting)
  ) as ReasonedRow[]
  const failed = db
    .prepare(
      `SELECT ${FAILED_COLUMNS}, id, standing, reverses FROM posting WHERE kind = 'failed' AND id > ? AND id <= ? ORDER BY id`,
    )
    .all(since.posting, upTo.posting) as FailedPosting[]
  const keyOf = ({ signature, order_id }: FillTableRow): string => `fill ${signature} ${order_id}`
  return {
    changed: [
      ...fills
        .filter(({ reversed }) => reversed === 0)
        .map((row) => ({
          key: keyOf(row),
          movement: { kind: 'fill', fill: fillOf(row), reason: row.reason ?? '' } as const,
        })),
      ...failed
        .filter(({ standing }) => standing === 1)
        .map(({ id, standing: _standing, reverses: _reverses, ...one }) => ({
          key: `failed ${id}`,
          movement: { kind: 'failed', ...one } as const,
        })),
      ...foreignMovements(db, since.seq).map((movement) => ({
        key: `${movement.kind} ${movement.time} ${movement.mint}`,
        movement,
      })),
    ],
    gone: [
      ...fills.filter(({ reversed }) => reversed === 1).map(keyOf),
      ...failed.flatMap(({ reverses }) => (reverses === null ? [] : [`failed ${reverses}`])),
    ],
    upTo,
  }
}

/** Columns of a failed transaction's posting. If the time is not known, the column `time` has a number that is later
 *  than every trade. */
export const FAILED_COLUMNS = `account, bot, mint, order_id AS orderId, side, coalesce(time, 9007199254740991) AS time,
  -wallet AS feeLamports`

/** Amounts in the ledger for one bot in one account, lamports. Each line is the sum over the fills and failed
 *  transactions of the bot. */
export interface BotLines {
  readonly account: string
  readonly bot: string
  readonly lines: LedgerLines
}

/** Returns the sum of each ledger line for every account and bot, over the postings whose numbers are above `after` and
 *  at most `upTo`. Postings never change, so the sums of consecutive ranges can be added. */
export function botLines(db: Database, after: number, upTo: number): BotLines[] {
  const sums = LINES.map((line) => `sum(${line}) AS ${line}`).join(', ')
  const rows = db
    .prepare(`SELECT account, bot, ${sums} FROM posting WHERE id > ? AND id <= ? AND kind IN ('fill', 'failed')
       GROUP BY account, bot`)
    .all(after, upTo) as ({ account: string; bot: string } & Record<string, Lamports>)[]
  return rows.map(({ account, bot, ...lines }) => ({ account, bot, lines }))
}

/** Returns the movements without an order that the engine has processed since a seq: tokens that a bot adopted, and
 *  tokens that left the wallet. For an input that reports such a change, the engine outputs the new position of the
 *  mint first. Only this first output is a movement. */
function foreignMovements(db: Database, since: Seq = 0): Exclude<TokenMovement, { kind: 'fill' }>[] {
  const rows = db
    .prepare(
      `SELECT i.time, i.json, json_extract(o.json, '$.position.bot') AS bot,
         json_extract(o.json, '$.position.costLamports') AS cost
       FROM input i JOIN output o ON o.seq = i.seq
       WHERE i.seq > ? AND i.kind IN ('adopt', 'deficit') AND o.n = (SELECT min(p.n) FROM output p
         WHERE p.seq = i.seq AND p.kind = 'position' AND p.mint = json_extract(i.json, '$.mint'))
       ORDER BY i.seq`,
    )
    .all(since) as { time: Millis; json: string; bot: string; cost: Lamports }[]
  return rows.map(({ time, json, bot, cost }) => {
    const input = decodeJson<Extract<Input, { kind: 'adopt' | 'deficit' }>>(json)
    const { account, mint, tokens } = input
    if (input.kind === 'deficit') return { kind: 'lost', account, bot, mint, time, left: tokens }
    return { kind: 'adopted', account, bot, mint, time, tokens, decimals: input.decimals, costLamports: cost }
  })
}

function numberOf(db: Database, sql: string, account: string): Lamports {
  return db.prepare(sql).pluck().get(account) as Lamports
}
