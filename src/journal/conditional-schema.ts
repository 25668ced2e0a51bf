// Those that are open lie together: a restart asks for them alone.
export const CONDITIONAL_ORDERS = `
CREATE TABLE conditional_order (
  open INTEGER NOT NULL,
  number INTEGER NOT NULL, -- its id is c<number>
  time INTEGER NOT NULL,
  account TEXT NOT NULL,
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  side TEXT NOT NULL,
  state TEXT NOT NULL,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (open, number)
) WITHOUT ROWID;
CREATE VIEW conditional_orders AS
SELECT 'c' || number AS id, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, account, bot, mint, side,
  state, code, reason, json_extract(json, '$.when.kind') AS kind, json_extract(json, '$.when.price') AS price,
  json_extract(json, '$.orderId') AS order_id
FROM conditional_order;
`
