/** Adds the view of the recorded answers of sources, and the index with which a start finds the last ones. An answer
 *  without data repeats the data of the one before it. */
export const SOURCES = `
CREATE INDEX input_source ON input (kind) WHERE kind = 'source';
CREATE VIEW sources AS
SELECT seq, segment, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, json_extract(json, '$.bot') AS bot,
  json_extract(json, '$.name') AS name, json_extract(json, '$.data') AS data
FROM input WHERE kind = 'source';
`
