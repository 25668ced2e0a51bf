/** Bytes of a frame, and a DataView with which the scanner reads four bytes at once. Both cover the whole buffer that
 *  contains the frame, so that one view is enough for all frames of a chunk. */
export interface Bytes {
  readonly bytes: Uint8Array
  readonly view: DataView
}

export function bytesOf(buffer: ArrayBufferLike): Bytes {
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) }
}

const QUOTE = 34

/** Returns the position of the closing quote of a text; -1 if the text has an escape, a control character or a
 *  non-ASCII byte, so that JSON.parse must read it. */
export function endOfText({ bytes, view }: Bytes, start: number, limit: number): number {
  let at = start
  for (; at + 4 <= limit; at += 4) {
    // Tests four bytes at once (Mycroft's zero-byte test): the sign bit of a byte is set if the scan must stop there.
    const word = view.getInt32(at, true)
    const quote = word ^ 0x22222222
    const slash = word ^ 0x5c5c5c5c
    const stops =
      ((quote - 0x01010101) & ~quote) | ((slash - 0x01010101) & ~slash) | ((word - 0x20202020) & ~word) | word
    if ((stops & 0x80808080) !== 0) break
  }
  for (; at < limit; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) return at
    if (byte === 92 || byte < 32 || byte > 127) return -1
  }
  return -1
}

/** Copies bytes `start..end` to `target` as words of four bytes; the last word is padded with zeros. Returns the number
 *  of words. `target` must be large enough. */
export function wordsOf({ bytes, view }: Bytes, start: number, end: number, target: Int32Array): number {
  let count = 0
  let at = start
  for (; at + 4 <= end; at += 4) target[count++] = view.getInt32(at, true)
  if (at < end) target[count++] = tailOf(bytes, at, end)
  return count
}

/** Returns the bytes `start..end`, at most three, as one word. */
export function tailOf(bytes: Uint8Array, start: number, end: number): number {
  let word = 0
  for (let at = end - 1; at >= start; at--) word = (word << 8) | (bytes[at] as number)
  return word
}
