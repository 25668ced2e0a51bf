import type { Database } from 'better-sqlite3'

/** View of the operators' commands. `wallet`: the name of the wallet, if the command concerns a single one; for a
 *  `buy`, the wallet of its bot. NULL for all wallets, and for a wallet without a name. */
const VIEW = `CREATE VIEW commands AS
SELECT input.seq, input.segment, input.time, strftime('%Y-%m-%d %H:%M:%f', input.time / 1000.0, 'unixepoch') AS at,
  json_extract(input.json, '$.by') AS by, json_extract(input.json, '$.command.name') AS command,
  json_extract(input.json, '$.command.mint') AS mint, json_extract(input.json, '$.command.bot') AS bot,
  json_extract(input.json, '$.command.sol') AS sol, json_extract(input.json, '$.command.order') AS order_id,
  json_extract(input.json, '$.update') AS telegram_update,
  (SELECT json_extract(one.value, '$.wallet') FROM segment, json_each(segment.json, '$.bots') AS one
   WHERE segment.number = input.segment AND (
     json_extract(one.value, '$.account.id') = json_extract(input.json, '$.command.account')
     OR json_extract(one.value, '$.name') = json_extract(input.json, '$.command.bot')) LIMIT 1) AS wallet
FROM input WHERE kind = 'command'`

/** Replaces the view of an earlier version. */
export function renewCommands(db: Database): void {
  const view = db.prepare(`SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = 'commands'`).pluck().get()
  if (view !== VIEW) db.exec(`BEGIN EXCLUSIVE; DROP VIEW commands; ${VIEW}; COMMIT`)
}
