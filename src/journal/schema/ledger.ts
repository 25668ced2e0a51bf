// The ledger uses double entry. Each transaction that moved a wallet's money has a row in table `posting`. The column
// `wallet` is the change of the wallet. Every other amount column is an account of the ledger, positive if lamports
// went there. All columns together add up to 0. Triggers on the tables of fills and transactions write the postings in
// the same commit, so no process can omit them.

import { BASE_FEE } from '../../solana/constants.ts'
import { checksumSql } from './seals.ts'

/** Amount columns of a posting other than `wallet`. Together with `wallet` they add up to 0. */
export const LINES = [
  ...['trade', 'impact', 'venue_fee', 'service_fee', 'base_fee', 'priority_fee', 'tip', 'rent_paid', 'rent_returned'],
  ...['wrapped', 'other', 'remainder'],
] as const

const ABOUT = 'kind, account, signature, order_id, bot, mint, side, slot, audited, time'
const LAMPORTS = ['wallet', ...LINES].join(', ')
const COLUMNS = `${ABOUT}, ${LAMPORTS}, tokens, withheld, decimals`

const POSTING = `
CREATE TABLE posting (
  id INTEGER PRIMARY KEY,
  standing INTEGER NOT NULL, -- 0: reversed by another posting, or the reversal itself
  reverses INTEGER, -- the posting that this one reverses
  kind TEXT NOT NULL, -- opening, fill, failed, inflow, housekeeping, foreign, opaque
  account TEXT NOT NULL,
  signature TEXT NOT NULL,
  order_id TEXT NOT NULL, -- '' if no order made the transaction
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  side TEXT NOT NULL,
  slot INTEGER NOT NULL,
  audited INTEGER, -- slot at which an audit saw the transaction; NULL before, and on paper
  time INTEGER, -- time of the transaction
  wallet INTEGER NOT NULL, -- change of the balance of the wallet
  ${LINES.map((line) => `${line} INTEGER NOT NULL`).join(',\n  ')},
  tokens TEXT NOT NULL, -- base units of mint received; negative: sent
  withheld TEXT NOT NULL, -- base units kept by the token's transfer fee
  decimals INTEGER NOT NULL
);
CREATE UNIQUE INDEX posting_standing ON posting (signature, account, order_id) WHERE standing = 1;
CREATE INDEX posting_audited ON posting (account, audited, wallet) WHERE audited IS NOT NULL;
CREATE INDEX posting_unseen ON posting (account, slot) WHERE audited IS NULL AND standing = 1 AND kind = 'fill';
CREATE INDEX wallet_transaction_signature ON wallet_transaction (signature);
CREATE TABLE audited (account TEXT PRIMARY KEY, lamports INTEGER NOT NULL) WITHOUT ROWID; -- sum of the postings that an audit saw
CREATE TABLE audit ( -- comparisons of the ledger with the chain; equal ones in a row are one row
  account TEXT NOT NULL,
  slot INTEGER NOT NULL, -- finalized
  time INTEGER NOT NULL,
  lamports INTEGER NOT NULL, -- balance of the wallet on the chain
  ledger INTEGER NOT NULL, -- balance by the postings up to that slot
  remainder INTEGER NOT NULL, -- difference that no posting explains
  first_slot INTEGER NOT NULL, -- slot since which the comparison is the same
  PRIMARY KEY (account, first_slot)
) WITHOUT ROWID;
`

const counted = (change: string): string => `
  INSERT INTO audited (account, lamports) VALUES (NEW.account, ${change})
  ON CONFLICT DO UPDATE SET lamports = lamports + excluded.lamports;`

/** Triggers that update the sum of the audited postings of each account. An audit reads this sum instead of the whole
 *  ledger. */
const TOTALS = `
CREATE TRIGGER posting_counted AFTER INSERT ON posting WHEN NEW.audited IS NOT NULL BEGIN ${counted('NEW.wallet')} END;
CREATE TRIGGER posting_seen AFTER UPDATE OF audited ON posting WHEN OLD.audited IS NULL AND NEW.audited IS NOT NULL BEGIN
  ${counted('NEW.wallet')}
END;
`

const NEGATED = (column: string): string =>
  `CASE WHEN ${column} = '0' THEN '0' WHEN ${column} LIKE '-%' THEN substr(${column}, 2) ELSE '-' || ${column} END`

/** Trigger that reverses a posting. A posting's amounts never change: if it becomes invalid, another posting with the
 *  opposite amounts is added. */
const REVERSAL = `
CREATE TRIGGER posting_reversed AFTER UPDATE OF standing ON posting WHEN OLD.standing = 1 AND NEW.standing = 0 BEGIN
  INSERT INTO posting (standing, reverses, ${COLUMNS}) VALUES (0, OLD.id, ${ABOUT.replaceAll(/\w+/g, 'OLD.$&')},
    ${['wallet', ...LINES].map((line) => `-OLD.${line}`).join(', ')},
    ${NEGATED('OLD.tokens')}, ${NEGATED('OLD.withheld')}, OLD.decimals);
END;
`

/** Returns the SQL of one cost of a fill. A cost that the fill does not name counts as 0, and becomes part of the
 *  remainder. Without this default, the SQL would fail and the fill could not be written. */
const cost = (name: string): string => `coalesce(json_extract(costs, '$.${name}Lamports'), 0)`
/** SQL of the value of the traded tokens at the price of the decision. Without such a price, it is the amount of the
 *  trade. */
const WORTH = `CASE WHEN price * units * 1e9 BETWEEN 0 AND 9e15 THEN CAST(round(price * units * 1e9) AS INTEGER) ELSE alone END`

/** SQL of facts about orders (alias `o`) and attempts (alias `a`). */
interface Facts {
  readonly price: string
  readonly orderId: string
  readonly bot: string
  readonly mint: string
  readonly side: string
  /** Join after the table of attempts. */
  readonly join: string
}

const inAttempt = (name: string): string => `coalesce(json_extract(a.json, '$.${name}'), '')`
/** The facts in the JSON of orders and attempts, as triggers read them until version 17. */
const IN_JSON: Facts = {
  ...{ price: "json_extract(o.json, '$.price')", orderId: inAttempt('orderId'), bot: inAttempt('bot') },
  ...{ mint: inAttempt('mint'), side: inAttempt('side'), join: '' },
}
const inOrder = (name: string): string => `coalesce(o.${name}, '')`
/** The facts in columns. Since version 18, the JSON of orders and attempts may be compressed. */
const IN_COLUMNS: Facts = {
  ...{ price: 'o.price', orderId: "coalesce(substr(a.id, 1, instr(a.id, '.') - 1), '')" },
  ...{ bot: inOrder('bot'), mint: inOrder('mint'), side: inOrder('side') },
  join: ' LEFT JOIN "order" o ON o.open IN (0, 1) AND o.number = CAST(substr(a.id, 2) AS INTEGER)',
}

/** SQL of the postings of fills. The price is multiplied by the tokens that the pool gave or received, before a
 *  transfer fee was withheld. */
const fillPostings = (where: string, { price }: Facts): string => `
SELECT 'fill' AS kind, account, signature, order_id, bot, mint, side, slot, audited, time, wallet_lamports AS wallet,
  trade, impact, venue_fee, service_fee, base_fee, priority_fee, tip, rent_paid, rent_returned, wrapped, 0 AS other,
  -(wallet_lamports + trade + impact + venue_fee + service_fee + base_fee + priority_fee + tip + rent_paid + rent_returned + wrapped)
    AS remainder,
  CASE WHEN side = 'buy' OR tokens = '0' THEN tokens ELSE '-' || tokens END AS tokens, withheld, decimals
FROM (
  SELECT *, sign * worth AS trade, sign * (alone - worth) AS impact,
    ${cost('venueFee')} AS venue_fee, ${cost('serviceFee')} AS service_fee, ${cost('baseFee')} AS base_fee,
    ${cost('priorityFee')} AS priority_fee, ${cost('tip')} AS tip, ${cost('rentPaid')} AS rent_paid,
    -${cost('rentReturned')} AS rent_returned, ${cost('wrapped')} AS wrapped
  FROM (SELECT *, ${WORTH} AS worth FROM (
    SELECT *, (CAST(tokens AS REAL) + sign * CAST(withheld AS REAL)) / CAST('1e' || decimals AS REAL) AS units FROM (
      SELECT *, CASE side WHEN 'buy' THEN 1 ELSE -1 END AS sign, ${cost('trade')} AS alone,
        coalesce(json_extract(costs, '$.withheldTokens."$bigint"'), '0') AS withheld,
        (SELECT t.slot FROM wallet_transaction t
         WHERE t.signature = fill.signature AND t.account = fill.account) AS audited,
        (SELECT ${price} FROM "order" o
         WHERE o.open IN (0, 1) AND o.number = CAST(substr(fill.order_id, 2) AS INTEGER)) AS price
      FROM fill WHERE reversed = 0 AND ${where})))
)`

const own = (name: string): string => `coalesce(json_extract(t.json, '$.costs.${name}Lamports'), 0)`

/** Returns the SQL of the postings of audited transactions without a fill. A failed transaction of an attempt costs
 *  only its fee. If the base fee is not itemized, the base fee of one signature is assumed. */
const transactionPostings = (where: string, { orderId, bot, mint, side, join }: Facts): string => `
SELECT kind, account, signature, order_id, bot, mint, side, slot, slot AS audited, time, wallet, 0 AS trade, 0 AS impact, 0 AS venue_fee,
  0 AS service_fee, base_fee, priority_fee, tip, rent_paid, rent_returned, wrapped,
  CASE WHEN is_ours THEN 0 ELSE rest END AS other, CASE WHEN is_ours THEN rest ELSE 0 END AS remainder,
  '0' AS tokens, '0' AS withheld, 0 AS decimals
FROM (SELECT *, -(wallet + base_fee + priority_fee + tip + rent_paid + rent_returned + wrapped) AS rest FROM (
  SELECT *, CASE WHEN is_sum THEN min(-wallet, ${BASE_FEE}) ELSE base END AS base_fee,
    CASE WHEN is_sum THEN max(-wallet - ${BASE_FEE}, 0) ELSE priority END AS priority_fee
  FROM (
    SELECT t.account, t.slot, t.signature, t.time, t.lamports AS wallet, t.class = 'ours' AS is_ours,
      CASE t.class WHEN 'ours' THEN 'failed' ELSE t.class END AS kind,
      ${orderId} AS order_id, ${bot} AS bot, ${mint} AS mint, ${side} AS side,
      json_type(t.json, '$.costs') IS NULL AND t.class = 'ours' AS is_sum,
      ${own('baseFee')} AS base, ${own('priorityFee')} AS priority, ${own('tip')} AS tip, ${own('rentPaid')} AS rent_paid,
      -${own('rentReturned')} AS rent_returned, ${own('wrapped')} AS wrapped
    FROM wallet_transaction t LEFT JOIN attempt a ON a.undecided IN (0, 1) AND a.id = t.attempt_id${join}
    WHERE (t.class <> 'ours' OR json_extract(t.json, '$.failed')) AND ${where})))`

/** SQL that posts an audited transaction, unless a valid posting already explains it. */
const postedTransaction = (where: string, facts: Facts): string => `
  INSERT INTO posting (standing, ${COLUMNS})
    SELECT 1, ${COLUMNS} FROM (${transactionPostings(where, facts)})
    WHERE NOT EXISTS (SELECT 1 FROM posting p
      WHERE p.standing = 1 AND p.signature = NEW.signature AND p.account = NEW.account);
`

/** SQL that posts a fill. It replaces the valid posting of this fill, and the posting of an audit that did not
 *  recognize the transaction as our own. */
const postedFill = (facts: Facts): string => `
  UPDATE posting SET standing = 0 WHERE standing = 1 AND signature = NEW.signature AND account = NEW.account
    AND (order_id = NEW.order_id OR (kind <> 'fill' AND NEW.reversed = 0));
  INSERT INTO posting (standing, ${COLUMNS})
    SELECT 1, ${COLUMNS} FROM (${fillPostings('signature = NEW.signature AND order_id = NEW.order_id', facts)});
`

const fillTriggers = (facts: Facts): string => `
CREATE TRIGGER fill_posted AFTER INSERT ON fill BEGIN ${postedFill(facts)} END;
CREATE TRIGGER fill_reposted AFTER UPDATE ON fill
WHEN OLD.slot <> NEW.slot OR OLD.tokens <> NEW.tokens OR OLD.wallet_lamports <> NEW.wallet_lamports OR OLD.costs <> NEW.costs
  OR OLD.reversed <> NEW.reversed BEGIN
  ${postedFill(facts)}
  -- On the final fork the transaction may have failed, and an audit may have seen it before the engine took the report.
  ${postedTransaction('NEW.reversed = 1 AND t.account = NEW.account AND t.signature = NEW.signature', facts)}
END;
`

/** SQL that converts failed paper transactions to rows of table `wallet_transaction`. For a live wallet, its audit
 *  writes such rows. `read`: SQL that selects account, signature, id, slot, time and fee. */
const failedOnPaper = (read: string): string => `
SELECT account, slot, signature, 'ours' AS class, id AS attempt_id, -fee AS lamports, time, json_object('account', account,
  'signature', signature, 'slot', slot, 'class', 'ours', 'attemptId', id, 'lamports', -fee, 'time', time, 'after', slot - 1,
  'failed', json('true')) AS json
FROM (${read})`

const transactionTrigger = (facts: Facts): string => `
CREATE TRIGGER transaction_posted AFTER INSERT ON wallet_transaction BEGIN
  UPDATE posting SET audited = NEW.slot WHERE standing = 1 AND signature = NEW.signature AND account = NEW.account AND kind = 'fill';
  UPDATE posting SET standing = 0 WHERE standing = 1 AND signature = NEW.signature AND account = NEW.account AND kind <> 'fill'
    AND (slot <> NEW.slot OR wallet <> NEW.lamports
      OR kind <> CASE WHEN NEW.class <> 'ours' THEN NEW.class WHEN json_extract(NEW.json, '$.failed') THEN 'failed' ELSE '' END);
  ${postedTransaction('t.account = NEW.account AND t.slot = NEW.slot AND t.signature = NEW.signature', facts)}
END;
`

/** Returns the SQL that posts the opening balance of a wallet. `slot` and `amount` are SQL expressions. */
function opening(account: string, slot: string, amount: string): string {
  const zeros = LINES.map((line) => (line === 'other' ? `-(${amount})` : '0')).join(', ')
  return `INSERT INTO posting (standing, ${COLUMNS})
    SELECT 1, 'opening', ${account}, '', '', '', '', '', ${slot}, ${slot}, NULL, ${amount}, ${zeros}, '0', '0', 0`
}

/** Triggers that post the opening balance of a wallet: for a live wallet, when its audit first reads it; for a paper
 *  wallet, at the first output with its balance. */
const OPENINGS = `
CREATE TRIGGER wallet_opened AFTER INSERT ON wallet BEGIN
  ${opening('NEW.account', "json_extract(NEW.json, '$.slot')", "json_extract(NEW.json, '$.lamports')")}
  WHERE NOT EXISTS (SELECT 1 FROM posting p WHERE p.standing = 1 AND p.signature = '' AND p.account = NEW.account);
END;
CREATE TRIGGER paper_opened AFTER INSERT ON account
WHEN NEW.account NOT LIKE 'live|%' AND json_type(NEW.json, '$.lamports') = 'integer' BEGIN
  ${opening('NEW.account', '0', "json_extract(NEW.json, '$.lamports')")}
  WHERE NOT EXISTS (SELECT 1 FROM posting p WHERE p.standing = 1 AND p.signature = '' AND p.account = NEW.account);
END;
`

/** SQL that selects, from the reports that the engine has not processed yet (`taken` 0), the signatures of fills and of
 *  fills that a fork reversed. */
const UNTOLD = `(SELECT json_extract(json, '$.fill.signature') FROM report WHERE taken = 0 AND json_type(json, '$.fill') = 'object'
  UNION ALL SELECT json_extract(json, '$.reversed') FROM report WHERE taken = 0 AND json_type(json, '$.reversed') = 'text')`

/** SQL of a wallet's balance at a finalized Solana slot, according to the ledger. It is the sum of all postings that
 *  were audited up to the slot, and of the final fills up to the slot that no audit has found. A fill whose report the
 *  engine has not processed yet counts with the amounts on the chain. */
const ledgerAt = (account: string, slot: string): string => `(
  coalesce((SELECT lamports FROM audited d WHERE d.account = ${account}), 0)
  - (SELECT coalesce(sum(p.wallet), 0) FROM posting p WHERE p.account = ${account} AND p.audited > ${slot})
  + (SELECT coalesce(sum(p.wallet), 0) FROM posting p JOIN fill f ON f.signature = p.signature AND f.order_id = p.order_id
     WHERE p.account = ${account} AND p.slot <= ${slot} AND p.audited IS NULL AND p.standing = 1 AND p.kind = 'fill'
       AND f.final = 1 AND p.signature NOT IN ${UNTOLD})
  + (SELECT coalesce(sum(t.lamports - coalesce((SELECT sum(p.wallet) FROM posting p
       WHERE p.signature = t.signature AND p.account = t.account AND p.standing = 1), 0)), 0)
     FROM wallet_transaction t WHERE t.signature IN ${UNTOLD} AND t.account = ${account} AND t.slot <= ${slot} AND t.class = 'ours'))`

/** Compares the ledger with a finalized reading of the wallet. Parameters: account, slot, time, lamports. If the
 *  difference is the same as in the last comparison, the row of that comparison is updated, and no new row is
 *  written. */
export const AUDIT = `
WITH given (account, slot, time, lamports) AS (VALUES (?, ?, ?, ?)),
last AS (SELECT a.* FROM audit a JOIN given ON a.account = given.account ORDER BY a.first_slot DESC LIMIT 1),
summed AS (SELECT given.*, ${ledgerAt('given.account', 'given.slot')} AS ledger FROM given)
INSERT INTO audit (account, slot, time, lamports, ledger, remainder, first_slot, checksum)
SELECT *, ${checksumSql('audit')} FROM (
  SELECT account, slot, time, lamports, ledger, lamports - ledger AS remainder,
    coalesce((SELECT first_slot FROM last WHERE last.lamports = summed.lamports AND last.ledger = summed.ledger), slot) AS first_slot
  FROM summed WHERE slot > coalesce((SELECT slot FROM last), -1)) WHERE true
ON CONFLICT DO UPDATE SET slot = excluded.slot, time = excluded.time, checksum = excluded.checksum`

/** Stores the fee of a failed paper transaction. Parameters: the time, the time again, the fee, the id of the
 *  attempt. */
export const PAPER_FAILED = `
INSERT OR REPLACE INTO wallet_transaction (account, slot, signature, class, attempt_id, lamports, time, json, checksum)
SELECT *, ${checksumSql('wallet_transaction')} FROM (${failedOnPaper(`SELECT account, signature, id, CAST(? / 400 AS INTEGER) AS slot, ? AS time, ? AS fee
  FROM attempt WHERE undecided IN (0, 1) AND id = ? AND executor = 'paper'`)})`

/** Fills the ledger of a journal that was written before the ledger existed. Posts its fills and audited transactions.
 *  The opening balance of each wallet is its last balance on the chain, minus these postings. */
const BACKFILL = `
INSERT INTO posting (standing, ${COLUMNS}) SELECT 1, ${COLUMNS} FROM (${fillPostings('true', IN_JSON)}) ORDER BY time, slot, order_id;
INSERT OR REPLACE INTO wallet_transaction (account, slot, signature, class, attempt_id, lamports, time, json)
${failedOnPaper(`SELECT a.account, a.signature, a.id, a.armed_at / 400 AS slot, a.armed_at AS time,
    json_extract(r.json, '$.feeLamports') AS fee
  FROM report r JOIN attempt a ON a.undecided IN (0, 1) AND a.id = json_extract(r.json, '$.attemptId') AND a.executor = 'paper'
  WHERE r.taken = 1 AND json_type(r.json, '$.feeLamports') = 'integer'`)};
INSERT INTO posting (standing, ${COLUMNS})
  SELECT 1, ${COLUMNS} FROM (${transactionPostings('true', IN_JSON)}) t
  WHERE NOT EXISTS (SELECT 1 FROM posting p WHERE p.signature = t.signature AND p.account = t.account) ORDER BY slot;
${opening(
  'w.account',
  "json_extract(w.json, '$.slot')",
  `json_extract(w.json, '$.lamports') - ${ledgerAt('w.account', "json_extract(w.json, '$.slot')")}`,
)} FROM wallet w;
${opening(
  'a.account',
  '0',
  `json_extract(a.json, '$.lamports') - (SELECT coalesce(sum(p.wallet), 0) FROM posting p WHERE p.account = a.account)
    + (SELECT coalesce(sum(f.wallet_lamports), 0) FROM fill f WHERE f.account = a.account AND f.reversed = 0 AND f.taken IS NULL)`,
)} FROM account a
  WHERE a.account NOT LIKE 'live|%' AND json_type(a.json, '$.lamports') = 'integer';
`

const line = (name: string, column: string, where = ''): string =>
  `SELECT id, '${name}', 'SOL', ${column}, ${column} / 1e9 FROM posting WHERE ${column} <> 0${where}`
const units = (name: string, column: string): string =>
  `SELECT id, '${name}', mint, NULL, (${column}) / CAST('1e' || decimals AS REAL) FROM posting WHERE tokens <> '0'`

/** Views of the ledger for users and SQL clients. */
const LEDGER_VIEWS = `
CREATE VIEW ledger AS
WITH line (id, line, unit, lamports, amount) AS (
  ${line('wallet', 'wallet')}
  ${LINES.map((name) => (name === 'other' ? '' : `UNION ALL ${line(name, name)}`)).join('\n  ')}
  UNION ALL SELECT id, kind, 'SOL', other, other / 1e9 FROM posting WHERE other <> 0
  UNION ALL ${units('holding', 'CAST(tokens AS REAL)')}
  UNION ALL ${units('transfer_fee', 'CAST(withheld AS REAL)')} AND withheld <> '0'
  UNION ALL ${units('market', '-(CAST(tokens AS REAL) + CAST(withheld AS REAL))')}
)
SELECT p.id AS posting, p.time, strftime('%Y-%m-%d %H:%M:%f', p.time / 1000.0, 'unixepoch') AS at, p.kind, p.account, p.bot, p.order_id,
  p.mint, p.slot, p.reverses, line.line, line.unit, line.lamports, line.amount, p.signature
FROM line JOIN posting p ON p.id = line.id;
CREATE VIEW audits AS
SELECT account, first_slot, slot, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, lamports / 1e9 AS sol,
  ledger / 1e9 AS ledger_sol, remainder AS remainder_lamports
FROM audit;
`

const triggers = (facts: Facts): string => fillTriggers(facts) + transactionTrigger(facts)

export const LEDGER = POSTING + TOTALS + REVERSAL + triggers(IN_JSON) + OPENINGS + BACKFILL + LEDGER_VIEWS

/** Replaces the triggers that read the JSON of orders and attempts. */
export const LEDGER_FROM_COLUMNS = `DROP TRIGGER fill_posted; DROP TRIGGER fill_reposted; DROP TRIGGER transaction_posted;
${triggers(IN_COLUMNS)}`
