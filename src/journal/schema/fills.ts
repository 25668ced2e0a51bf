// Columns of fills: in the table, in the view `fills`, and in `sluice fills --json`. The columns that the command
// prints as a table are in commands/journal/columns.ts. To add a column, add an entry to each list here in which the
// column belongs. A journal gets the column when it is next opened for writing.

import type { Database } from 'better-sqlite3'
import { decodeJson, encodeJson } from '../../base/json.ts'
import { lamports, lamportsToSol, type Millis, type Seq, wholeTokens } from '../../base/units.ts'
import type { Fill } from '../../engine/order.ts'

export type SqlValue = string | number | bigint | null

interface StoredColumn {
  readonly name: string
  /** The column's type in SQL. A column that is added later needs a default. */
  readonly type: string
  /** Returns the value of the column. `taken`: seq of the input with which the engine received the fill; null if it has
   *  not received it yet. */
  readonly of: (fill: Fill, taken: Seq | null) => SqlValue
  /** SQL of the new value if the fill is reported again; if absent, the value of the first report is kept. */
  readonly again?: string
}

const anew = (name: string): { readonly again: string } => ({ again: `excluded.${name}` })

const STORED: readonly StoredColumn[] = [
  { name: 'signature', type: 'TEXT NOT NULL', of: ({ signature }) => signature },
  { name: 'order_id', type: 'TEXT NOT NULL', of: ({ orderId }) => orderId },
  { name: 'attempt_id', type: 'TEXT NOT NULL', of: ({ attemptId }) => attemptId },
  { name: 'account', type: 'TEXT NOT NULL', of: ({ account }) => account },
  { name: 'bot', type: 'TEXT NOT NULL', of: ({ bot }) => bot },
  { name: 'mint', type: 'TEXT NOT NULL', of: ({ mint }) => mint },
  { name: 'side', type: 'TEXT NOT NULL', of: ({ side }) => side },
  { name: 'slot', type: 'INTEGER NOT NULL', of: ({ slot }) => slot, ...anew('slot') },
  { name: 'time', type: 'INTEGER NOT NULL', of: ({ time }) => time },
  // Base units as text, because a supply may exceed 2^63.
  { name: 'tokens', type: 'TEXT NOT NULL', of: ({ tokens }) => String(tokens), ...anew('tokens') },
  { name: 'decimals', type: 'INTEGER NOT NULL', of: ({ decimals }) => decimals, ...anew('decimals') },
  { name: 'trade_lamports', type: 'INTEGER NOT NULL', of: (fill) => fill.tradeLamports, ...anew('trade_lamports') },
  { name: 'fee_lamports', type: 'INTEGER NOT NULL', of: (fill) => fill.feeLamports, ...anew('fee_lamports') },
  { name: 'rent_lamports', type: 'INTEGER NOT NULL', of: (fill) => fill.rentLamports, ...anew('rent_lamports') },
  { name: 'wallet_lamports', type: 'INTEGER NOT NULL', of: (fill) => fill.walletLamports, ...anew('wallet_lamports') },
  { name: 'final', type: 'INTEGER NOT NULL', of: ({ final }) => (final ? 1 : 0), ...anew('final') },
  // Whether a fork has reversed the fill.
  { name: 'reversed', type: 'INTEGER NOT NULL', of: () => 0, again: '0' },
  { name: 'taken', type: 'INTEGER', of: (_fill, taken) => taken, again: 'coalesce(taken, excluded.taken)' },
  { name: 'tag', type: "TEXT NOT NULL DEFAULT ''", of: ({ tag }) => tag ?? '' },
  // `FillCosts` as JSON.
  { name: 'costs', type: "TEXT NOT NULL DEFAULT ''", of: ({ costs }) => encodeJson(costs), ...anew('costs') },
]

const sol = (lamportsSql: string): string => `${lamportsSql} / 1e9`
const cost = (name: string): string => sol(`json_extract(costs, '$.${name}Lamports')`)
const own = (name: string): readonly [string, string] => [name, name]

/** Columns of the view `fills`: name and SQL. */
const VIEWED: readonly (readonly [name: string, sql: string])[] = [
  ...['order_id', 'attempt_id', 'account', 'bot', 'mint', 'side', 'slot', 'time'].map(own),
  ['at', "strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch')"],
  ['tokens', "CAST(tokens AS REAL) / CAST('1e' || decimals AS REAL)"],
  ['sol', sol('trade_lamports')],
  ['fee_sol', sol('fee_lamports')],
  ['rent_sol', sol('rent_lamports')],
  ['wallet_sol', sol('wallet_lamports')],
  ['trade_sol', cost('trade')],
  ['venue_fee_sol', cost('venueFee')],
  ['service_fee_sol', cost('serviceFee')],
  ['base_fee_sol', cost('baseFee')],
  ['priority_fee_sol', cost('priorityFee')],
  ['tip_sol', cost('tip')],
  ['rent_paid_sol', cost('rentPaid')],
  ['rent_returned_sol', cost('rentReturned')],
  ['wrapped_sol', cost('wrapped')],
  ['remainder_sol', cost('remainder')],
  ['withheld', `json_extract(costs, '$.withheldTokens."$bigint"')`],
  ['unknown', "json_extract(costs, '$.unknown')"],
  ...['signature', 'final', 'reversed', 'tag'].map(own),
]

/** A fill as `sluice fills --json` prints it, in SOL and whole tokens. */
export type FillRow = ReturnType<typeof fillRow>

export function fillRow({ orderId, bot, mint, side, costs, signature, final, tag = '', ...fill }: Fill) {
  return {
    ...{ orderId, bot, mint, side },
    /** Traded amount, including the fees of the venue and the service. */
    sol: lamportsToSol(fill.tradeLamports),
    tokens: wholeTokens(fill.tokens, fill.decimals),
    /** Sum of base fee, priority fee and tips. */
    feeSol: lamportsToSol(fill.feeLamports),
    rentSol: lamportsToSol(fill.rentLamports),
    /** Change of the wallet: -(sol + feeSol + rentSol) for a buy, sol - feeSol - rentSol for a sale. SOL that
     *  was wrapped is subtracted in both cases. */
    walletSol: lamportsToSol(fill.walletLamports),
    costs: {
      tradeSol: lamportsToSol(costs.tradeLamports),
      venueFeeSol: lamportsToSol(costs.venueFeeLamports),
      serviceFeeSol: lamportsToSol(costs.serviceFeeLamports),
      baseFeeSol: lamportsToSol(costs.baseFeeLamports),
      priorityFeeSol: lamportsToSol(costs.priorityFeeLamports),
      tipSol: lamportsToSol(costs.tipLamports),
      rentPaidSol: lamportsToSol(costs.rentPaidLamports),
      rentReturnedSol: lamportsToSol(costs.rentReturnedLamports),
      wrappedSol: lamportsToSol(costs.wrappedLamports),
      remainderSol: lamportsToSol(costs.remainderLamports),
      /** Base units that the token's own transfer fee took. */
      withheldTokens: String(costs.withheldTokens),
      unknown: costs.unknown,
    },
    ...{ signature, final, time: fill.time },
    /** Price of the trade, SOL per token, including the fees of venue and service; null for a fill without tokens. */
    price: priceOf(fill),
    tag,
  }
}

function priceOf({ tradeLamports, tokens, decimals }: Pick<Fill, 'tradeLamports' | 'tokens' | 'decimals'>) {
  return tokens > 0n ? lamportsToSol(tradeLamports) / wholeTokens(tokens, decimals) : null
}

/** A row of the table `fill`, with the columns from which a fill is read. */
export interface FillTableRow {
  readonly signature: string
  readonly order_id: string
  readonly attempt_id: string
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly side: Fill['side']
  readonly slot: number
  readonly time: Millis
  readonly tokens: string
  readonly decimals: number
  readonly trade_lamports: number
  readonly fee_lamports: number
  readonly rent_lamports: number
  readonly wallet_lamports: number
  readonly final: number
  readonly costs: string
  readonly tag: string
}

export function fillOf(row: FillTableRow): Fill {
  const { signature, account, bot, mint, side, slot, time, decimals } = row
  return {
    ...{ signature, orderId: row.order_id, attemptId: row.attempt_id, account, bot, mint, side, slot, time },
    ...{ tokens: BigInt(row.tokens), decimals, tradeLamports: lamports(row.trade_lamports) },
    ...{ feeLamports: lamports(row.fee_lamports), rentLamports: lamports(row.rent_lamports) },
    walletLamports: lamports(row.wallet_lamports),
    costs: decodeJson<Fill['costs']>(row.costs),
    final: row.final === 1,
    ...(row.tag !== '' && { tag: row.tag }),
  }
}

export function fillWrite(fill: Fill, taken: Seq | null): readonly ['fill', ...SqlValue[]] {
  return ['fill', ...STORED.map((column) => column.of(fill, taken))]
}

/** Inserts or updates a fill. A row from a report that the engine has processed is not overwritten by a report that the
 *  engine has not processed yet. */
export const FILL_STATEMENT = `INSERT INTO fill (${STORED.map(({ name }) => name).join(', ')})
  VALUES (${STORED.map(() => '?').join(', ')})
  ON CONFLICT DO UPDATE SET ${STORED.flatMap(({ name, again }) => (again === undefined ? [] : `${name} = ${again}`)).join(', ')}
  WHERE taken IS NULL OR excluded.taken IS NOT NULL`

const VIEW = `CREATE VIEW fills AS
SELECT ${VIEWED.map(([name, sql]) => (name === sql ? name : `${sql} AS ${name}`)).join(', ')}
FROM fill`

/** Adds the columns that the journal does not have yet. */
export function addFillColumns(db: Database): void {
  const known = new Set(db.prepare(`SELECT name FROM pragma_table_info('fill')`).pluck().all())
  const missing = STORED.filter(({ name }) => !known.has(name))
  const view = db.prepare(`SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = 'fills'`).pluck().get()
  if (missing.length === 0 && view === VIEW) return
  db.transaction(() => {
    for (const { name, type } of missing) db.exec(`ALTER TABLE fill ADD COLUMN ${name} ${type}`)
    db.exec(`DROP VIEW fills; ${VIEW}`)
  }).exclusive()
}
