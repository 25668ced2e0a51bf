/** Bytes of a frame, and the same as words of four: reading four at a time is what makes the scanner worth its while.
 *  Both span the whole buffer that the frame lies in, so that one view serves all frames of a chunk. */
export interface Bytes {
  readonly bytes: Uint8Array
  readonly view: DataView
}

export function bytesOf(buffer: ArrayBufferLike): Bytes {
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) }
}

const QUOTE = 34

/** Where the closing quote of a text is, or -1 where a byte comes first that only JSON.parse may judge: an escape, a
 *  control character, anything but ASCII. */
export function endOfText({ bytes, view }: Bytes, start: number, limit: number): number {
  let at = start
  for (; at + 4 <= limit; at += 4) {
    // Four bytes in one step (Mycroft's test for a zero byte): the sign bit of a byte stays if it is one of those to
    // stop at.
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

/** Bytes `start..end` as words, the last one filled with zeros; returns how many. `target` must have room. */
export function wordsOf({ bytes, view }: Bytes, start: number, end: number, target: Int32Array): number {
  let count = 0
  let at = start
  for (; at + 4 <= end; at += 4) target[count++] = view.getInt32(at, true)
  if (at < end) target[count++] = tailOf(bytes, at, end)
  return count
}

/** One to three bytes as a word. */
export function tailOf(bytes: Uint8Array, start: number, end: number): number {
  let word = 0
  for (let at = end - 1; at >= start; at--) word = (word << 8) | (bytes[at] as number)
  return word
}
