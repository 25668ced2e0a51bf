/** Adds the best and the worst profit of an open position that were reached since its row was last written. */
export const TRIP_MARKS = `
CREATE TABLE trip_mark (
  account TEXT NOT NULL,
  mint TEXT NOT NULL,
  best_lamports INTEGER NOT NULL,
  best_percent REAL NOT NULL,
  worst_lamports INTEGER NOT NULL,
  worst_percent REAL NOT NULL,
  checksum INTEGER,
  PRIMARY KEY (account, mint)
) WITHOUT ROWID;
`
