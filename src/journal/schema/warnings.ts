/** View of the warnings (`bot.log.warn`) and messages (`bot.message`) of strategies. */
export const WARNINGS = `
CREATE VIEW warnings AS
SELECT seq, n, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, bot, mint,
  CASE kind WHEN 'log' THEN 'warning' ELSE 'message' END AS kind, reason AS text, json_extract(json, '$.fields') AS fields
FROM output WHERE kind IN ('log', 'message');
`
