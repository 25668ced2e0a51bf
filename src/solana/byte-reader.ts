/** Thrown if bytes do not have the expected layout. The readers of transactions turn this error into a refusal. */
export class Malformed extends Error {}

/** Reads bytes from the front; throws Malformed if a read goes beyond the end. Numbers are little-endian. */
export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get at(): number {
    return this.#at
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  peek(): number {
    if (this.left < 1) throw new Malformed('the data ends too early')
    return this.#bytes[this.#at] as number
  }

  bytes(length: number): Uint8Array {
    if (length > this.left) throw new Malformed('the data ends too early')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  byte(): number {
    return this.bytes(1)[0] as number
  }

  uint32(): number {
    this.bytes(4)
    return this.#view.getUint32(this.#at - 4, true)
  }

  uint64(): bigint {
    this.bytes(8)
    return this.#view.getBigUint64(this.#at - 8, true)
  }

  /** Reads a number in Solana's compact-u16 encoding: seven bits a byte, at most three bytes, in the shortest form. */
  compact(): number {
    let value = 0
    for (let index = 0; index < 3; index++) {
      const byte = this.byte()
      value |= (byte & 127) << (7 * index)
      if (byte >= 128) continue
      if ((byte === 0 && index > 0) || value > 0xffff) throw new Malformed('a length is not in the shortest form')
      return value
    }
    throw new Malformed('a length is not in the shortest form')
  }
}
