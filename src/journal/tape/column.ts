/** A column of a block on disk: a list of little-endian entries of fixed width. Row `r` has the entry `index === null ?
 *  r modulo the number of entries : index[r]`. A column therefore has one of three forms: plain (one entry per row),
 *  constant (a single entry), or dictionary (with an index). An index has one byte per row, or two if there are more
 *  than 256 entries. The views in views.ts follow this rule in plain SQL. */
export interface Column {
  readonly entries: Uint8Array
  readonly index: Uint8Array | null
}

export const MAX_ROWS = 32_768

/** Encodes doubles bit by bit, so that a NaN keeps its payload and a zero its sign. If all values of a column are
 *  equal, it becomes a single entry. If `maxEntries` is above 1, a column with few different values becomes a
 *  dictionary if that is smaller. */
export function encodeDoubles(values: Float64Array, maxEntries = 1): Column {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2)
  if (isConstant(words)) return { entries: bytesOf(values.subarray(0, 1)), index: null }
  const dictionary = maxEntries > 1 ? dictionaryOf(words, maxEntries) : undefined
  return dictionary ?? { entries: bytesOf(values), index: null }
}

function isConstant(words: Uint32Array): boolean {
  const low = words[0]
  const high = words[1]
  for (let at = 2; at < words.length; at += 2) if (words[at] !== low || words[at + 1] !== high) return false
  return true
}

const HASH_SLOTS = 1024
const hashSlots = new Int16Array(HASH_SLOTS)

/** Encodes a column as a dictionary of at most 256 entries. Returns undefined if the column has more different values,
 *  or if a dictionary saves no space. */
function dictionaryOf(words: Uint32Array, maxEntries: number): Column | undefined {
  const rows = words.length / 2
  const index = new Uint8Array(rows)
  const entries = new Uint32Array(Math.min(maxEntries, 256, Math.floor((rows * 7) / 8)) * 2)
  hashSlots.fill(-1)
  let count = 0
  for (let row = 0; row < rows; row++) {
    const low = words[row * 2] as number
    const high = words[row * 2 + 1] as number
    let slot = (Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> 16) % HASH_SLOTS
    let entry = hashSlots[slot] as number
    while (entry >= 0 && (entries[entry * 2] !== low || entries[entry * 2 + 1] !== high)) {
      slot = (slot + 1) % HASH_SLOTS
      entry = hashSlots[slot] as number
    }
    if (entry < 0) {
      if (count * 2 === entries.length) return undefined
      entry = count++
      hashSlots[slot] = entry
      entries[entry * 2] = low
      entries[entry * 2 + 1] = high
    }
    index[row] = entry
  }
  return { entries: bytesOf(entries.subarray(0, count * 2)), index }
}

/** Encodes integers as 4-byte differences from `base`. Returns undefined if a difference does not fit into 4 bytes, or
 *  is not an integer. */
export function encodeOffsets(values: Float64Array, base: number): Uint8Array | undefined {
  const offsets = new Int32Array(values.length)
  let differ = 0
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number
    const offset = (value - base) | 0
    if (!Object.is(base + offset, value)) return undefined
    offsets[row] = offset
    differ |= offset ^ (offsets[0] as number)
  }
  return bytesOf(differ === 0 ? offsets.subarray(0, 1) : offsets)
}

/** Encodes kinds as one byte per row, or as a single byte if all kinds are equal. */
export function encodeKinds(kinds: Uint8Array): Uint8Array {
  return kinds.every((kind) => kind === kinds[0]) ? kinds.subarray(0, 1) : kinds
}

/** Encodes an index, which contains the number of a dictionary entry for each row. `count`: number of entries. Returns
 *  null for a single entry, which needs no index. */
export function encodeIndex(index: Uint16Array, count: number): Uint8Array | null {
  if (count <= 1) return null
  return count <= 256 ? Uint8Array.from(index) : bytesOf(index)
}

export function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

/** Decodes what `encodeDoubles` encoded. Bytes from SQLite may be unaligned and are then copied. */
export function decodeDoubles(column: Column, rows: number): Float64Array {
  const entries = doublesOf(column.entries)
  if (column.index === null) return spread(entries, rows, Float64Array)
  const values = new Float64Array(rows)
  const index = decodeIndex(column.index, entries.length)
  for (let row = 0; row < rows; row++) values[row] = entries[index[row] as number] as number
  return values
}

export function decodeOffsets(bytes: Uint8Array, base: number, rows: number): Float64Array {
  const offsets = new Int32Array(aligned(bytes, 4))
  const values = new Float64Array(rows)
  if (offsets.length === 1) return values.fill(base + (offsets[0] as number))
  for (let row = 0; row < rows; row++) values[row] = base + (offsets[row] as number)
  return values
}

export function decodeKinds(bytes: Uint8Array, rows: number): Uint8Array {
  return spread(bytes, rows, Uint8Array)
}

export function decodeIndex(index: Uint8Array, count: number): Uint8Array | Uint16Array {
  return count <= 256 ? index : new Uint16Array(aligned(index, 2))
}

function doublesOf(bytes: Uint8Array): Float64Array<ArrayBufferLike> {
  return new Float64Array(aligned(bytes, 8))
}

function spread<T extends Float64Array | Uint8Array>(entries: T, rows: number, Type: new (length: number) => T): T {
  return entries.length === rows ? entries : (new Type(rows).fill(entries[0] as number) as T)
}

/** Returns a buffer that contains only the given bytes. Copies the bytes only if their buffer contains other bytes too,
 *  or if their number is not a multiple of `width`. */
function aligned(bytes: Uint8Array, width: number): ArrayBufferLike {
  const { buffer, byteOffset, byteLength } = bytes
  if (byteOffset === 0 && byteLength === buffer.byteLength && byteLength % width === 0) return buffer
  return buffer.slice(byteOffset, byteOffset + byteLength)
}
