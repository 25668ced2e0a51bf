// What a fill cost, each part apart: `FillCosts` of core/fill-costs.ts as JSON, beside the sums that the table has had from its beginning.

/** Of fills that were read before: only their sums are known. */
const costsOf = (trade: string, fee: string, rent: string): string => `json_object(
  'tradeLamports', ${trade}, 'venueFeeLamports', 0, 'serviceFeeLamports', 0,
  'baseFeeLamports', min(${fee}, 5000), 'priorityFeeLamports', max(${fee} - 5000, 0), 'tipLamports', 0,
  'rentPaidLamports', max(${rent}, 0), 'rentReturnedLamports', max(-${rent}, 0), 'wrappedLamports', 0, 'remainderLamports', 0,
  'withheldTokens', json('{"$bigint":"0"}'), 'unknown', json('["venueFee","serviceFee"]'))`

const inReport = (name: string): string => `json_extract(json, '$.fill.${name}Lamports')`
const sol = (name: string): string => `json_extract(costs, '$.${name}Lamports') / 1e9`

/** A report that the engine has not taken yet is delivered with its fill after a restart. */
export const FILL_COSTS = `
ALTER TABLE fill ADD COLUMN costs TEXT NOT NULL DEFAULT '';
UPDATE fill SET costs = ${costsOf('trade_lamports', 'fee_lamports', 'rent_lamports')};
UPDATE report SET json = json_set(json, '$.fill.costs', ${costsOf(inReport('trade'), inReport('fee'), inReport('rent'))})
  WHERE taken = 0 AND json_type(json, '$.fill') = 'object';
DROP VIEW fills;
CREATE VIEW fills AS
SELECT order_id, attempt_id, account, bot, mint, side, slot, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at,
  CAST(tokens AS REAL) / CAST('1e' || decimals AS REAL) AS tokens,
  trade_lamports / 1e9 AS sol, fee_lamports / 1e9 AS fee_sol, rent_lamports / 1e9 AS rent_sol, wallet_lamports / 1e9 AS wallet_sol,
  ${sol('trade')} AS trade_sol, ${sol('venueFee')} AS venue_fee_sol, ${sol('serviceFee')} AS service_fee_sol,
  ${sol('baseFee')} AS base_fee_sol, ${sol('priorityFee')} AS priority_fee_sol, ${sol('tip')} AS tip_sol,
  ${sol('rentPaid')} AS rent_paid_sol, ${sol('rentReturned')} AS rent_returned_sol, ${sol('wrapped')} AS wrapped_sol,
  ${sol('remainder')} AS remainder_sol, json_extract(costs, '$.withheldTokens."$bigint"') AS withheld, json_extract(costs, '$.unknown') AS unknown,
  signature, final, reversed
FROM fill;
`
