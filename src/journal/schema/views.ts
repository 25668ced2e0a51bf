import { KEY_BYTES, SIGNATURE_BYTES } from '../tape/packed-text.ts'

/** Clause at the end of a subquery of a view. It prevents SQLite from merging the subquery into the outer query
 *  (flattening), which would compute an expression each time it is used. The views are plain SQL, for any client, and
 *  decode the block columns (blobs) byte by byte. They first cut the columns of a block into chunks of 64 rows, because
 *  otherwise each byte would be extracted from the whole column. */
const FENCE = 'LIMIT -1 OFFSET 0'
const CHUNK = 64

const ALL_BYTES = `x'${Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join('')}'`

/** Returns the SQL of one byte of a blob as a number. `place`: position of the byte, counted from 1. */
function byteOf(blob: string, place: string): string {
  return `(instr(${ALL_BYTES}, substr(${blob}, ${place}, 1)) - 1)`
}

/** Returns the SQL that reads one entry of a blob of little-endian integers as an integer. `at`: index of the entry.
 *  `bytes`: length of an entry. An entry of eight bytes may contain the bits of a double; see `doubleOf`. */
function integerOf(blob: string, at: string, bytes: number): string {
  const parts = Array.from(
    { length: bytes },
    (_, k) => `(${byteOf(blob, `${bytes} * (${at}) + ${k + 1}`)} << ${8 * k})`,
  )
  return `(${parts.join(' | ')})`
}

/** Returns the SQL that decodes a double from its bits: the mantissa as an integer, times a power of two that follows
 *  from the exponent. NaN becomes NULL. */
function doubleOf(bits: string): string {
  const exponent = `((${bits} >> 52) & 2047)`
  const fraction = `(${bits} & 4503599627370495)`
  const sign = `(CASE WHEN ${bits} < 0 THEN -1.0 ELSE 1.0 END)`
  return `(CASE WHEN ${exponent} = 2047 THEN CASE WHEN ${fraction} = 0 THEN ${sign} * 9e999 END
    ELSE ${sign} * (${fraction} | CASE WHEN ${exponent} = 0 THEN 0 ELSE 4503599627370496 END)
      * (SELECT value FROM power2 WHERE exponent = ${exponent}) END)`
}

/** Returns SQL that cuts the bytes of 64 rows out of a stored column. A column that is stored as a single value or as a
 *  dictionary is returned whole. */
function part(name: string, width: number, indexed = false): string {
  const whole = indexed ? `length(b.${name}) = ${width} OR b.${name}_index IS NOT NULL` : `length(b.${name}) = ${width}`
  const piece = `substr(b.${name}, c.n * ${CHUNK * width} + 1, ${CHUNK * width})`
  return `CASE WHEN ${whole} THEN b.${name} ELSE ${piece} END AS ${name}`
}

/** Returns the SQL of the text of a packed key or signature, from its hexadecimal digits; NULL if the text is empty. */
function textOf(hex: string, bytes: number): string {
  const codes = Array.from({ length: (bytes * 2) / 3 }, (_, n) => `substr(${hex}, ${n * 3 + 1}, 3)`)
  return `nullif(${codes.map((code) => `(SELECT text FROM digits WHERE code = ${code})`).join(' || ')}, '')`
}

/** Returns the SQL that cuts out the part of an index that a chunk of 64 rows needs. With more than 256 entries, the
 *  index has two bytes per row instead of one. */
function indexPart(name: string, count: string): string {
  return `substr(b.${name}_index, c.n * ${CHUNK} * ${indexWidth(count)} + 1, ${CHUNK} * ${indexWidth(count)}) AS ${name}_index`
}

function indexWidth(count: string): string {
  return `(1 + (${count} > 256))`
}

/** Returns SQL that gives, for a row, the index of its value in the dictionary of a column. */
function entryOf(name: string, count: string): string {
  const index = `k.${name}_index`
  return `CASE WHEN ${index} IS NULL THEN n.n % (${count})
    WHEN ${count} > 256 THEN ${integerOf(index, 'n.n', 2)} ELSE ${byteOf(index, 'n.n + 1')} END AS ${name}_at`
}

const widths = { price: 8, amount: 8, size: 8, market_cap: 8, extra: 8, extra2: 8 } as const
const plain = ['price', 'amount', 'size', 'market_cap'] as const

const chunks = `
  SELECT b.last_seq AS block, b.segment, b.rows, b.first_seq, b.runs, b.first_time, b.stamp_exact, b.mint_count, b.mints, b.details, b.odd,
    c.n * ${CHUNK} AS base,
    ${part('kind', 1)}, ${part('time', 4)},
    CASE WHEN b.stamp_exact THEN ${part('stamp', 8).replace(' AS stamp', '')} ELSE ${part('stamp', 4).replace(' AS stamp', '')} END AS stamp,
    ${plain.map((name) => part(name, 8)).join(', ')},
    ${part('extra', 8, true)}, ${part('extra2', 8, true)}, ${part('trader', KEY_BYTES, true)}, ${part('signature', SIGNATURE_BYTES, true)},
    ${indexPart('token', 'b.mint_count')},
    ${indexPart('extra', 'length(b.extra) / 8')}, ${indexPart('extra2', 'length(b.extra2) / 8')},
    ${indexPart('trader', `length(b.trader) / ${KEY_BYTES}`)},
    ${indexPart('signature', `length(b.signature) / ${SIGNATURE_BYTES}`)}
  FROM block b CROSS JOIN number c WHERE c.n * ${CHUNK} < b.rows ${FENCE}`

const entries = `
  SELECT k.*, n.n, k.base + n.n AS row,
    ${entryOf('token', 'k.mint_count')},
    ${entryOf('extra', 'length(k.extra) / 8')}, ${entryOf('extra2', 'length(k.extra2) / 8')},
    ${entryOf('trader', `length(k.trader) / ${KEY_BYTES}`)}, ${entryOf('signature', `length(k.signature) / ${SIGNATURE_BYTES}`)}
  FROM (${chunks}) k CROSS JOIN number n WHERE n.n < min(${CHUNK}, k.rows - k.base) ${FENCE}`

const offset = (name: string) =>
  `first_time + ((${integerOf(name, `n % (length(${name}) / 4)`, 4)} + 2147483648) % 4294967296) - 2147483648`

const bits = `
  SELECT segment, row, n, first_time,
    coalesce((SELECT r.seq + e.row - r.row FROM run r WHERE r.block = e.block AND e.runs > 1 AND r.row <= e.row
      ORDER BY r.row DESC LIMIT 1), first_seq + row) AS seq,
    ${byteOf('kind', 'n % length(kind) + 1')} AS kind,
    ${offset('time')} AS time,
    json_extract(mints, '$[' || token_at || ']') AS mint,
    stamp_exact,
    CASE WHEN stamp_exact THEN ${integerOf('stamp', 'n % (length(stamp) / 8)', 8)} ELSE ${offset('stamp')} END AS stamp,
    ${plain.map((name) => `${integerOf(name, `n % (length(${name}) / 8)`, widths[name])} AS ${name}`).join(', ')},
    ${integerOf('extra', 'extra_at', 8)} AS extra, ${integerOf('extra2', 'extra2_at', 8)} AS extra2,
    hex(substr(trader, trader_at * ${KEY_BYTES} + 1, ${KEY_BYTES})) AS trader,
    hex(substr(signature, signature_at * ${SIGNATURE_BYTES} + 1, ${SIGNATURE_BYTES})) AS signature,
    CASE WHEN details IS NOT NULL THEN json_extract(details, '$."' || row || '"') END AS details,
    CASE WHEN odd IS NOT NULL THEN json_extract(odd, '$.trader."' || row || '"') END AS trader_text,
    CASE WHEN odd IS NOT NULL THEN json_extract(odd, '$.signature."' || row || '"') END AS signature_text
  FROM (${entries}) e ${FENCE}`

const dateOf = (time: string) => `strftime('%Y-%m-%d %H:%M:%f', ${time} / 1000.0, 'unixepoch')`
const sol = (lamports: string) => `${lamports} / 1e9`
const wholeTokens = `CAST(tokens AS REAL) / CAST('1e' || decimals AS REAL)`

/** View of all market rows, decoded. Its columns are those of `Columns` in market/block.ts. */
const MARKET = `
CREATE VIEW market AS
SELECT seq, segment, time, ${dateOf('time')} AS at, kind, mint,
  ${[...plain, 'extra', 'extra2'].map((name) => `${doubleOf(name)} AS ${name}`).join(', ')},
  CASE WHEN stamp_exact THEN ${doubleOf('stamp')} ELSE stamp END AS stamp,
  coalesce(trader_text, ${textOf('trader', KEY_BYTES)}) AS trader,
  coalesce(signature_text, ${textOf('signature', SIGNATURE_BYTES)}) AS signature, details
FROM (${bits});`

/** Views of the rows of the tape. */
export const TAPE_VIEWS = `${MARKET}
CREATE VIEW trades AS
SELECT seq, segment, time, at, mint, CASE kind WHEN 0 THEN 'buy' ELSE 'sell' END AS side, price, amount, size AS tokens_traded,
  market_cap, extra AS slippage, extra2 AS priority_fee, stamp AS timestamp, trader, signature
FROM market WHERE kind <= 1;
CREATE VIEW tokens AS
SELECT seq, segment, time, at, mint, json_extract(details, '$.symbol') AS symbol, json_extract(details, '$.name') AS name,
  amount AS initial_liquidity, market_cap, stamp AS timestamp, trader AS creator,
  json_extract(details, '$.metadata.description') AS description, json_extract(details, '$.metadata.image') AS image,
  json_extract(details, '$.metadata.website') AS website, json_extract(details, '$.metadata.twitter') AS twitter
FROM market WHERE kind = 2;
`

export const VIEWS = `${TAPE_VIEWS}
CREATE VIEW gaps AS
SELECT seq, segment, json_extract(json, '$.from') AS "from", json_extract(json, '$.to') AS "to",
  (json_extract(json, '$.to') - json_extract(json, '$.from')) / 1000.0 AS seconds, json_extract(json, '$.keys') AS keys, 'feed' AS cause
FROM input WHERE kind = 'gap'
UNION ALL
SELECT first_seq, segment, first_time, last_time, (last_time - first_time) / 1000.0, '[]', 'disk' FROM missing;
CREATE VIEW orders AS
SELECT 'o' || number AS id, seq, time, ${dateOf('time')} AS at, account, bot, mint, side, class, state, code, reason, outcome,
  ${sol("json_extract(json, '$.size.lamports')")} AS sol, ${sol("json_extract(json, '$.reserveLamports')")} AS reserve_sol
FROM "order";
CREATE VIEW attempts AS
SELECT id, substr(id, 1, instr(id, '.') - 1) AS order_id, account, executor, state, signature, code, armed_at,
  ${dateOf('armed_at')} AS at, json_extract(json, '$.slippagePercent') AS slippage_percent,
  ${sol("json_extract(json, '$.priorityFeeLamports')")} AS priority_fee_sol
FROM attempt;
CREATE VIEW fills AS
SELECT order_id, attempt_id, account, bot, mint, side, slot, time, ${dateOf('time')} AS at, ${wholeTokens} AS tokens,
  ${sol('trade_lamports')} AS sol, ${sol('fee_lamports')} AS fee_sol, ${sol('rent_lamports')} AS rent_sol,
  ${sol('wallet_lamports')} AS wallet_sol, signature, final, reversed
FROM fill;
CREATE VIEW positions AS
SELECT account, bot, mint, state, opened_at, ${dateOf('opened_at')} AS at, ${wholeTokens} AS tokens,
  ${sol('cost_lamports')} AS cost_sol, ${sol('realized_lamports')} AS realized_sol, ${sol('fee_lamports')} AS fee_sol, closed_seq
FROM (SELECT * FROM past_position UNION ALL SELECT *, NULL FROM position);
CREATE VIEW decisions AS
SELECT seq, n, time, ${dateOf('time')} AS at, kind, bot, mint, code, reason
FROM output WHERE kind IN ('order', 'cancel', 'refused', 'note', 'alarm');
`
