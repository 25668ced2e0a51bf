/** Table and view of `token.durable`. A row is deleted when its token is freed. */
export const TOKEN_STATES = `
CREATE TABLE token_state (
  account TEXT NOT NULL,
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  day INTEGER NOT NULL, -- UTC day of the last event, days since 1970
  json TEXT NOT NULL,
  PRIMARY KEY (account, bot, mint)
) WITHOUT ROWID;
CREATE VIEW token_states AS
SELECT account, bot, mint, json_extract(json, '$.seenAt') AS seen_at,
  strftime('%Y-%m-%d %H:%M:%f', json_extract(json, '$.seenAt') / 1000.0, 'unixepoch') AS at,
  date(day * 86400, 'unixepoch') AS day, json_extract(json, '$.value') AS value
FROM token_state;
`
