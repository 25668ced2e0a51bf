// SQL views of the stretches of the tape, and of the gaps between them. A stretch is the part of the tape that one
// process recorded. A backtest reads the view `stretches`, and users read `gaps`.

/** SQL of the last seq of any record. */
export const LAST_SEQ = `SELECT max(seq) FROM (SELECT max(last_seq) AS seq FROM block UNION ALL SELECT max(seq) FROM input
  UNION ALL SELECT max(seq) FROM segment UNION ALL SELECT max(last_seq) FROM missing)`

/** Returns the SQL of the view of the stretches: each is the part of the tape that one process recorded, or that one
 *  import wrote (segment 0). The oldest tape is dropped first, so only the first stretch can be incomplete. If a
 *  process is recording, rows that it adds during the read are left out. `blocks`: the table or view of all blocks.
 *  `lastTime`: SQL of the time of the last row of a stretch; the query has the alias `p` for the stretch. */
const stretches = (blocks: string, lastTime: string): string => `
CREATE VIEW stretches AS
WITH tape AS (SELECT segment, first_seq, first_time, rows_before > 0 AS beheaded FROM ${blocks} ORDER BY last_seq LIMIT 1),
last (seq) AS (${LAST_SEQ}),
start (segment, seq, time, ended) AS (
  SELECT 0, 1, min(first_time, coalesce((SELECT time FROM input ORDER BY seq LIMIT 1), first_time)), NULL FROM tape WHERE segment = 0
  UNION ALL SELECT number, seq, time, ended FROM segment),
part AS (
  SELECT s.segment, iif(beheaded AND s.segment = tape.segment, tape.first_seq, s.seq) AS first_seq,
    coalesce(lead(s.seq) OVER (ORDER BY s.seq), (SELECT seq FROM last) + 1) - 1 AS last_seq,
    iif(beheaded AND s.segment = tape.segment, tape.first_time, s.time) AS "from", s.ended,
    beheaded AND s.segment < tape.segment AS is_dropped
  FROM start s CROSS JOIN tape)
SELECT segment, first_seq, last_seq, "from", max("from", coalesce(ended, 0),
  ${lastTime},
  coalesce((SELECT i.time FROM input i WHERE i.seq BETWEEN p.first_seq AND p.last_seq ORDER BY i.seq DESC LIMIT 1), 0),
  coalesce((SELECT max(m.last_time) FROM missing m WHERE m.first_seq BETWEEN p.first_seq AND p.last_seq), 0)) AS "to"
FROM part p WHERE NOT is_dropped;
`

/** SQL conditions that select the states of the feed, and its gaps, from the inputs. SQLite uses the index `input_feed`
 *  only for a query with the same IN term as the index; otherwise it would read all inputs. */
export const IS_FEED = `kind IN ('feed', 'gap') AND kind = 'feed'`
const IS_GAP = `kind IN ('feed', 'gap') AND kind = 'gap'`

/** View of the times without market data: the feed was not live, the disk had no space, or no process was recording. */
const GAPS = `
CREATE VIEW gaps AS
SELECT seq, segment, json_extract(json, '$.from') AS "from", json_extract(json, '$.to') AS "to",
  (json_extract(json, '$.to') - json_extract(json, '$.from')) / 1000.0 AS seconds, json_extract(json, '$.keys') AS keys, 'feed' AS cause
FROM input WHERE ${IS_GAP}
UNION ALL
SELECT first_seq, segment, first_time, last_time, (last_time - first_time) / 1000.0, '[]', 'disk' FROM missing
UNION ALL
SELECT first_seq, segment, ended, "from", ("from" - ended) / 1000.0, '[]', 'restart'
FROM (SELECT first_seq, segment, "from", lag("to") OVER (ORDER BY first_seq) AS ended FROM stretches) WHERE ended IS NOT NULL;
`

/** SQL of the time of the last market row that one table of blocks has of a stretch (the part of the tape that one
 *  process recorded); 0 if the table has no row of the stretch. The query has the alias `p` for the stretch. */
const lastTimeIn = (
  table: string,
): string => `coalesce((SELECT iif(b.segment = p.segment, b.last_time, 0) FROM ${table} b WHERE b.last_seq <= p.last_seq
    ORDER BY b.last_seq DESC LIMIT 1), 0)`

export const STRETCHES_AND_GAPS = `DROP VIEW gaps; ${stretches('block', lastTimeIn('block'))} ${GAPS}`

/** SQL that creates the views `stretches` (the parts of the tape that one process each recorded) and `gaps`, over the
 *  blocks of the journal (table `block`) and of its archived days (table `archived_block`). The SQL searches each of
 *  these tables by its key, because SQLite would scan their union, the view `blocks`, once for each stretch. */
export const STRETCHES_OF_ALL_BLOCKS = `DROP VIEW gaps; DROP VIEW stretches;
${stretches('blocks', `${lastTimeIn('block')}, ${lastTimeIn('archived_block')}`)} ${GAPS}`

/** SQL of the time up to which the last stretch (the part of the tape that the last process recorded) contains market
 *  data. This is the end of the stretch or, if the feed was interrupted at its end, the start of the interruption. A
 *  market row also ends an interruption. */
export const SEEN_TO = `WITH last AS (SELECT first_seq, "from", "to" FROM stretches ORDER BY first_seq DESC LIMIT 1),
seen (seq) AS (SELECT max(seq) FROM (SELECT max(last_seq) AS seq FROM block
  UNION ALL SELECT max(seq) FROM input WHERE ${IS_FEED} AND json_extract(json, '$.status') = 'live'))
SELECT iif(seen.seq < last.first_seq, last."from", coalesce((SELECT time FROM input
  WHERE ${IS_FEED} AND json_extract(json, '$.status') NOT IN ('live', 'stale') AND seq > seen.seq ORDER BY seq LIMIT 1), last."to"))
FROM last JOIN seen`
