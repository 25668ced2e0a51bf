import type { Block, Texts, TokenId } from './block.ts'
import type { LiveBlock } from './live-block.ts'

/** A live block of another thread, whose numbers of tokens are not ours: the same memory, and a column of our own for them. */
export class TranslatedBlock implements Block {
  readonly mints: readonly string[]
  readonly texts: Texts
  readonly time: Float64Array
  readonly stamp: Float64Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
  readonly marketCap: Float64Array
  readonly extra: Float64Array
  readonly extra2: Float64Array
  readonly kind: Uint8Array
  readonly token: Uint32Array
  length = 0
  readonly #theirs: Uint32Array
  readonly #tokens: readonly TokenId[]

  /** `tokens`: our numbers by theirs; it may grow. The mints of `block` are ours. */
  constructor(block: LiveBlock, tokens: readonly TokenId[]) {
    this.mints = block.mints
    this.texts = block.texts
    this.time = block.time
    this.stamp = block.stamp
    this.price = block.price
    this.amount = block.amount
    this.size = block.size
    this.marketCap = block.marketCap
    this.extra = block.extra
    this.extra2 = block.extra2
    this.kind = block.kind
    this.token = new Uint32Array(block.capacity)
    this.#theirs = block.token
    this.#tokens = tokens
  }

  /** Rows up to `to` are there. */
  translate(to: number): void {
    for (let row = this.length; row < to; row++) this.token[row] = this.#tokens[this.#theirs[row] as number] as TokenId
    this.length = to
  }
}
