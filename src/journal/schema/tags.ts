/** Adds the tags of orders to the views. The tables need no column for them, because a tag is in its order's JSON. */
export const TAGS = `
DROP VIEW orders;
CREATE VIEW orders AS
SELECT 'o' || number AS id, seq, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, account, bot, mint, side, class,
  state, code, reason, outcome, json_extract(json, '$.size.lamports') / 1e9 AS sol,
  json_extract(json, '$.reserveLamports') / 1e9 AS reserve_sol, coalesce(json_extract(json, '$.tag'), '') AS tag
FROM "order";
DROP VIEW conditional_orders;
CREATE VIEW conditional_orders AS
SELECT 'c' || number AS id, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, account, bot, mint, side,
  state, code, reason, json_extract(json, '$.when.kind') AS kind, json_extract(json, '$.when.price') AS price,
  json_extract(json, '$.orderId') AS order_id, coalesce(json_extract(json, '$.action.options.tag'), '') AS tag
FROM conditional_order;
`
