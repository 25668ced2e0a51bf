const LINE_BYTES = 64
/** glibc places a large block of memory this many bytes after the beginning of a page. */
const HEADER_BYTES = 16

/** Returns zeroed memory of `bytes` bytes, and the offset of the first cache line in it. An entry of 64 bytes that
 *  begins at this offset, or a multiple of 64 bytes later, lies in one cache line. At another offset it would lie in
 *  two lines, and each of them could be a cache miss. With another allocator than glibc's the offset may be wrong,
 *  which only costs speed. */
function atLine(bytes: number): [buffer: ArrayBuffer, offset: number] {
  return [new ArrayBuffer(bytes + LINE_BYTES), LINE_BYTES - HEADER_BYTES]
}

/** Returns an array of `length` doubles, whose first element begins a cache line. */
export function doublesAtLine(length: number): Float64Array {
  const [buffer, offset] = atLine(length * Float64Array.BYTES_PER_ELEMENT)
  return new Float64Array(buffer, offset, length)
}

/** Returns an array of `length` 32-bit integers, whose first element begins a cache line. */
export function wordsAtLine(length: number): Int32Array {
  const [buffer, offset] = atLine(length * Int32Array.BYTES_PER_ELEMENT)
  return new Int32Array(buffer, offset, length)
}
