// Most of a record's JSON is the same in every record of its kind, and much of the rest is in other columns of its row.
// The thread that writes a journal therefore compresses the JSON. The dictionary for the compression is a sample of the
// kind, followed by these other columns. Records whose JSON the views for users read are never compressed, because
// plain SQL cannot decompress them. docs/decisions/0021-compressed-records.md has the reasons and the sizes.

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Database } from 'better-sqlite3'
import { SEALED } from './seals.ts'

/** First byte of a compressed record. It names the samples with which the record was compressed. Never change samples
 *  after a release, because records that were compressed with them could no longer be read. Add new samples with a new
 *  edition instead. */
const EDITION = 1

/** For each kind of record that is compressed, JSON as many records of the kind have it. Values that are rarely the
 *  same are left out. */
const SAMPLES: ReadonlyMap<unknown, string> = new Map([
  [
    'report',
    '"costs":{"tradeLamports":97777778,"venueFeeLamports":1222222,"serviceFeeLamports":1000000,"baseFeeLamports":5000,"priorityFeeLamports":500000,"tipLamports":0,"rentPaidLamports":2039280,"rentReturnedLamports":0,"wrappedLamports":0,"remainderLamports":0,"withheldTokens":{"$bigint":"0"},"unknown":[]},"final":true}}}{"kind":"report","id":1,"report":{"orderId":"o1","attemptId":"o1.1","state":"failed","code":"SLIPPAGE_EXCEEDED","reason":"the price moved by more than the slippage limit of the order","feeLamports":505000}}"state":"filled","code":"","reason":"","fill":{"signature":"paper-o1.1","orderId":"o1","attemptId":"o1.1","account":"live|paper|","bot":"","mint":"","side":"sell","side":"buy","slot":4,"time":179,"tokens":{"$bigint":""},"decimals":6,"tradeLamports":100000000,"feeLamports":505000,"rentLamports":2039280,"walletLamports":-102544280,"costs":{"tradeLamports":97777778,"venueFeeLamports":1222222,"serviceFeeLamports":1000000,"baseFeeLamports":5000,"priorityFeeLamports":500000,"tipLamports":0,"rentPaidLamports":2039280,"rentReturnedLamports":0,"wrappedLamports":0,"remainderLamports":0,"withheldTokens":{"$bigint":"0"},"unknown":[]},"final":false}}}{"kind":"report","id":1,"report":{"orderId":"o1","attemptId":"o1.1","state":"working","code":"","reason":""}}',
  ],
  [
    'order',
    '"size":{"kind":"all"},"slippagePercents":[5,15,30,50],"priorityFeeLamports":null,"priorityFeeLadder":[],"repeatMs":3000,"reserveLamports":50025030,"notAfter":null,"reason":""side":"sell","class":"exit","size":{{"kind":"order","order":{"id":"o1","seq":1,"time":,"account":"live|paper|","bot":"","mint":"","side":"buy","class":"entry","size":{"kind":"sol","lamports":100000000},"slippagePercents":[5],"priorityFeeLamports":null,"priorityFeeLadder":[],"repeatMs":null,"reserveLamports":118094286,"notAfter":,"reason":"","price":1.e-7,"eventAgeMs":1}}',
  ],
  [
    'orderState',
    '"failed","expired","cancelled","filled"{"kind":"orderState","orderId":"o1","state":"working","code":"","reason":""}}',
  ],
  [
    'position',
    ',"best":{"lamports":-,"percent":-},"worst":{"lamports":-,"percent":-},"reported":true}}"state":"closing","tokens":{"$bigint":"0"},"exitTries":1,"exiting":"take-profit: % from the average price","state":"closed","tokens":{"$bigint":"0"},"decimals":6,"costLamports":0,"averagePrice":1.e-7,"feeLamports":1010000,"exitTries":0,"exiting":"stop-loss: - % from the average price","trip":{"buys":1,"sells":1,"boughtLamports":100000000,"soldLamports":,"fees":{"venue":,"service":,"base":10000,"priority":1000000,"tip":0,"rent":0,"failed":0,"other":0},"entryReason":"","exitReason":"stop-loss: - % from the average price","exitTag":"","soldAt":179{"kind":"position","position":{"account":"live|paper|","bot":"","mint":"","state":"opening","tokens":{"$bigint":"0"},"decimals":6,"costLamports":0,"averagePrice":0,"openedAt":179,"state":"open","tokens":{"$bigint":""},"decimals":6,"costLamports":100000000,"averagePrice":1.e-7,"openedAt":179,"exits":{"trailingPercent":10,"maxHoldSeconds":5,"stopLossPercent":3,"takeProfitPercent":3},"highPrice":0,"realizedLamports":0,"feeLamports":2544280,"exitTries":0,"exiting":"","trip":{"buys":1,"sells":0,"boughtLamports":100000000,"soldLamports":0,"fees":{"venue":1222222,"service":1000000,"base":5000,"priority":500000,"tip":0,"rent":2039280,"failed":0,"other":0},"entryReason":"","exitReason":"","exitTag":"","soldAt":null},"bought":{"$bigint":""}}}"highPrice":0,"realizedLamports":0,"feeLamports":0,"exitTries":0,"exiting":""}}',
  ],
  [
    'account',
    '{"kind":"account","money":{"account":"live|paper|","lamports":9999,"slot":0,"halted":false,"results":{"day":20785,"dayRealizedLamports":-,"dayStartUnrealizedLamports":0,"realizedLamports":-,"peakLamports":0,"losses":0,"pausedUntil":0}}}',
  ],
  [
    'bot',
    '{"kind":"bot","money":{"bot":"","account":"live|paper|","status":"active","state":null,"day":20785,"dayRealizedLamports":-,"dayStartUnrealizedLamports":0,"realizedLamports":-,"peakLamports":0,"losses":0,"pausedUntil":0}}',
  ],
  [
    'attempt',
    '"size":{"kind":"all"},"slippagePercent":,"unknown"},{"at":,"state":"reverted","code":"SLIPPAGE_EXCEEDED","reason":""}]}{"id":"o1.1","orderId":"o1","account":"live|paper|","bot":"","executor":"local","executor":"cloud","executor":"paper","mint":"","side":"sell","class":"exit","size":{"kind":"all"},"slippagePercent":15,"side":"buy","class":"entry","size":{"kind":"sol","lamports":100000000},"slippagePercent":5,"priorityFeeLamports":null,"price":1.e-7,"armedAt":179,"baseline":{"slot":,"height":},"baseline":null,"state":"filled","signature":"paper-o1.1","code":"","waitedMs":0,"trail":[{"at":179,"state":"acked","code":"","reason":""},{"at":179,"state":"landed","code":"","reason":""},{"at":179,"state":"filled","code":"","reason":""}]}',
  ],
  ['timer', '{"kind":"timer","timer":{"id":1,"bot":"","owner":"exits","name":"hold:","at":179,"everyMs":0}}'],
  ['timerCleared', '{"kind":"timerCleared","id":1}'],
  ['refused', '{"kind":"refused","bot":"","mint":"","code":"","reason":""}'],
])

/** A table whose records may be compressed. Its rows have the column `json`. */
interface Packing {
  readonly table: string
  /** Values of the insert, in order. */
  readonly columns: readonly string[]
  /** SQL of the kind: a column, or a text in quotes. */
  readonly kind: string
  /** The other columns that belong to the dictionary. Their values are texts or integers, and never change. */
  readonly about: readonly string[]
  /** Whether queries read the column `rowid`, which a view must name. */
  readonly hasRowid?: boolean
}

export const ORDER_COLUMNS = [
  ...['number', 'seq', 'time', 'account', 'bot', 'mint', 'side', 'class', 'reason'],
  ...['lamports', 'reserve_lamports', 'price', 'tag', 'json'],
] as const

export const PAST_POSITION_COLUMNS = [
  ...['account', 'bot', 'mint', 'state', 'opened_at', 'tokens', 'decimals', 'cost_lamports'],
  ...['realized_lamports', 'fee_lamports', 'json', 'closed_seq'],
] as const

/** The tables whose records may be compressed, by the name of the insert (`Statements`). */
const PACKINGS: Readonly<Record<string, Packing>> = {
  input: { table: 'input', columns: SEALED.input, kind: 'kind', about: [] },
  output: {
    ...{ table: 'output', columns: SEALED.output, kind: 'kind' },
    about: ['time', 'bot', 'mint', 'code', 'reason'],
  },
  order: {
    ...{ table: '"order"', columns: ORDER_COLUMNS, kind: "'order'" },
    about: ['number', 'lamports', 'reserve_lamports', 'time', 'account', 'bot', 'mint', 'reason'],
  },
  attempt: {
    ...{ table: 'attempt', columns: SEALED.attempt, kind: "'attempt'" },
    about: ['code', 'armed_at', 'account', 'signature', 'id'],
  },
  pastPosition: {
    ...{ table: 'past_position', columns: PAST_POSITION_COLUMNS, kind: "'position'", hasRowid: true },
    about: ['opened_at', 'realized_lamports', 'fee_lamports', 'account', 'bot', 'mint'],
  },
}

/** Places among the values of an insert. */
interface Places {
  readonly kind: (values: readonly unknown[]) => unknown
  readonly json: number
  readonly about: readonly number[]
}

const PLACES: ReadonlyMap<string, Places> = new Map(
  Object.entries(PACKINGS).map(([insert, { columns, kind, about }]) => {
    const place = (name: string): number => columns.indexOf(name)
    const [at, name] = [place(kind), kind.slice(1, -1)]
    return [insert, { kind: (values) => (at < 0 ? name : values[at]), json: place('json'), about: about.map(place) }]
  }),
)

/** Compresses the record among the values of an insert, in place. A record stays JSON if its kind has no sample. An
 *  attempt also stays JSON while it is undecided, because an order waits for its first row, and each change replaces
 *  the row. */
export function pack(insert: string, values: unknown[]): void {
  const places = PLACES.get(insert)
  if (places === undefined || (insert === 'attempt' && values[0] === 1)) return
  const { kind, json, about } = places
  if ((values[json] as string).length * MOST_BYTES_A_CHARACTER > LONGEST) return
  const dictionary = dictionaryOf(
    kind(values),
    about.map((at) => values[at]),
  )
  if (dictionary !== undefined) values[json] = packed(values[json] as string, dictionary)
}

// Records and dictionaries have a few hundred characters, so small tables suffice. Larger ones would take much longer
// to prepare than the compression itself.
const WINDOW_BITS = 12
const SMALL = { windowBits: WINDOW_BITS, memLevel: 1 } as const
/** Longest JSON that is compressed, bytes. A blob that decompresses to more is damaged or hostile: 300 kB could
 *  otherwise become 300 MB. */
const LONGEST = 2 ** 24
const MOST_BYTES_A_CHARACTER = 3

function packed(json: string, dictionary: Buffer): Buffer {
  const bytes = deflateRawSync(json, { ...SMALL, dictionary })
  return Buffer.concat([Buffer.of(EDITION), bytes])
}

/** Returns the JSON of a compressed record; '' if it cannot be decompressed, because its row was damaged. */
function unpacked(bytes: unknown, kind: unknown, ...about: readonly unknown[]): string {
  const dictionary = dictionaryOf(kind, about)
  if (!(bytes instanceof Uint8Array) || bytes[0] !== EDITION || dictionary === undefined) return ''
  try {
    return inflateRawSync(bytes.subarray(1), {
      windowBits: WINDOW_BITS,
      dictionary,
      maxOutputLength: LONGEST,
    }).toString()
  } catch {
    return '' // As for a row without JSON, the reader reports that the record cannot be read.
  }
}

/** Returns the dictionary for a record; undefined if the record is not compressed. A text that is not well-formed
 *  Unicode cannot be in a dictionary, because SQLite does not return it unchanged. */
function dictionaryOf(kind: unknown, about: readonly unknown[]): Buffer | undefined {
  const sample = SAMPLES.get(kind)
  const text = about.join(' ')
  return sample === undefined || !text.isWellFormed() ? undefined : Buffer.from(sample + text)
}

/** Lets a connection read records as JSON: for each table whose records may be compressed, creates a temporary view of
 *  the same name. A query that names the table reads this view. Writes must name the table with its schema, as in
 *  `main.output`. */
export function showRecords(db: Database): void {
  db.pragma('temp_store = MEMORY')
  db.function('unpacked', { varargs: true, deterministic: true }, unpacked)
  for (const { table, kind, about, hasRowid = false } of Object.values(PACKINGS)) {
    const names = db
      .prepare(`SELECT name FROM pragma_table_info('${table.replaceAll('"', '')}', 'main')`)
      .pluck()
      .all()
    // In SQLite, every blob is greater than every text.
    const json = `CASE WHEN json >= x'' THEN unpacked(${['json', kind, ...about].join(', ')}) ELSE json END AS json`
    const columns = [...(hasRowid ? ['rowid'] : []), ...names.map((name) => (name === 'json' ? json : name))]
    db.exec(`CREATE TEMP VIEW ${table} AS SELECT ${columns.join(', ')} FROM main.${table}`)
  }
}
