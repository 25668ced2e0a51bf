import type { Millis } from '../../base/units.ts'
import type { Input } from '../../engine/messages.ts'
import type { Block, RowKind } from '../../market/block.ts'
import { LiveBlock } from '../../market/live-block.ts'
import { Mints } from '../../market/mints.ts'

/**
 * A part of the tape: some rows of one block, or an input of the feed that is not a row. `block`: number of the block.
 */
export type TapePart =
  | { readonly kind: 'rows'; readonly block: number; readonly from: number; readonly to: number }
  | { readonly kind: 'input'; readonly time: Millis; readonly input: Input }

type InputPart = Extract<TapePart, { kind: 'input' }>

function isFeed(part: TapePart): part is InputPart {
  return part.kind === 'input' && part.input.kind === 'feed'
}

/** Shared memory of a block. */
export interface BlockMemory {
  readonly number: number
  readonly buffer: SharedArrayBuffer
  readonly capacity: number
}

const BLOCK_ROWS = 4096

/** Recorded or simulated rows in shared memory, which threads read while the tape grows. Old parts can be dropped. */
export class GrowingTape {
  readonly mints = new Mints()
  /** Number of rows on the tape, not counting the rows of dropped parts. */
  rows = 0
  readonly #blocks = new Map<number, LiveBlock>()
  readonly #parts: TapePart[] = []
  #firstPart = 0
  #droppedFeed: InputPart | undefined
  #last: { readonly number: number; readonly block: LiveBlock } | undefined
  /** In the last block, the index of the first row that does not belong to a part yet. */
  #open = 0

  /**
   * Appends rows. `append` writes one row into the given block and returns false if the row does not fit; it is then
   * called again with a new block.
   */
  add(append: (block: LiveBlock) => boolean): void {
    if (this.#last !== undefined && append(this.#last.block)) return
    this.flush()
    const number = (this.#last?.number ?? 0) + 1
    const block = new LiveBlock(this.mints.list, BLOCK_ROWS)
    this.#blocks.set(number, block)
    this.#last = { number, block }
    this.#open = 0
    if (!append(block)) throw new RangeError('the texts of a row do not fit into a block')
  }

  /** Appends rows of another block, which must have the mint numbers of this tape. */
  copy(block: Block, from: number, to: number): void {
    const { time, stamp, kind, token, price, amount, size, marketCap, extra, extra2, texts } = block
    for (let row = from; row < to; row++) {
      const numbers = {
        ...{ price: price[row] as number, amount: amount[row] as number, size: size[row] as number },
        ...{ marketCap: marketCap[row] as number, extra: extra[row] as number, extra2: extra2[row] as number },
      }
      this.add((into) =>
        into.append(
          ...([
            time[row] as number,
            stamp[row] as number,
            kind[row] as RowKind,
            token[row] as number,
            numbers,
          ] as const),
          ...([texts.signature(row), texts.trader(row), texts.details(row)] as const),
        ),
      )
    }
  }

  input(time: Millis, input: Input): void {
    this.flush()
    this.#parts.push({ kind: 'input', time, input })
  }

  /** Completes a part with the rows that were appended since the last part. Threads can read only complete parts. */
  flush(): void {
    if (this.#last === undefined || this.#last.block.length === this.#open) return
    const { number, block } = this.#last
    this.#parts.push({ kind: 'rows', block: number, from: this.#open, to: block.length })
    this.rows += block.length - this.#open
    this.#open = block.length
  }

  /** Number that the next part will have. Parts keep their numbers when earlier ones are dropped. */
  get end(): number {
    return this.#firstPart + this.#parts.length
  }

  parts(from: number, to = this.end): readonly TapePart[] {
    return this.#parts.slice(from - this.#firstPart, to - this.#firstPart)
  }

  memoryOf(number: number): BlockMemory {
    const { buffer, capacity } = this.#blocks.get(number) as LiveBlock
    return { number, buffer, capacity }
  }

  /** Number of the first part that ends at or after a time. */
  partAt(time: Millis): number {
    const found = this.#parts.findIndex((part) => this.#endOf(part) >= time)
    return found < 0 ? this.end : this.#firstPart + found
  }

  /** Time of the first row or input of a part; undefined if there is no such part yet. */
  startOf(part: number): Millis | undefined {
    const found = this.#parts[part - this.#firstPart]
    if (found === undefined) return undefined
    return found.kind === 'input' ? found.time : this.#timeOf(found.block, found.from)
  }

  /** The last report about the state of the feed before a part of the tape; undefined if there was none. */
  feedBefore(part: number): Input | undefined {
    const before = this.#parts.slice(0, part - this.#firstPart).findLast(isFeed)
    return (before ?? this.#droppedFeed)?.input
  }

  /** Time of the first part; undefined if there is none. */
  get startsAt(): Millis | undefined {
    return this.startOf(this.#firstPart)
  }

  /** Drops the parts before `part`, and the blocks that only they use. */
  dropBefore(part: number): void {
    for (const dropped of this.#parts.splice(0, Math.max(0, part - this.#firstPart))) {
      this.#firstPart++
      if (isFeed(dropped)) this.#droppedFeed = dropped
      if (dropped.kind === 'rows') this.rows -= dropped.to - dropped.from
    }
    const used = this.#parts.find((one) => one.kind === 'rows')
    for (const number of this.#blocks.keys())
      if (used?.kind === 'rows' && number < used.block) this.#blocks.delete(number)
  }

  #endOf(part: TapePart): Millis {
    return part.kind === 'input' ? part.time : this.#timeOf(part.block, part.to - 1)
  }

  #timeOf(block: number, row: number): Millis {
    return this.#blocks.get(block)?.time[row] as number
  }
}
