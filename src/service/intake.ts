import { RowKind, type TokenId } from '../core/block.ts'
import { LiveBlock } from '../core/live-block.ts'
import type { Mints } from '../core/mints.ts'
import type { Millis } from '../core/units.ts'
import { Duplicates, EventHash } from './duplicates.ts'
import { MintIndex } from './mint-index.ts'
import type { Shedding } from './overload.ts'
import type { Row } from './wire/row.ts'

/** `bad mint`: not the key of 32 bytes that its length promised. `no room`: not even in an empty block. */
export type Taken = 'row' | 'duplicate' | 'shed' | 'bad mint' | 'no room'

/** Takes rows of a block over and says up to which; it is asked again for the rest. */
export type TakeOver = (block: LiveBlock, from: number, to: number) => number

/** The last steps of a market record: into the columns of the current block, and on with the others of what was read at once, which costs
 *  less than one by one. Nothing is allocated for a row. */
export class Intake {
  /** The block that rows are being written to; another one once it is full. */
  block: LiveBlock
  /** The first row that was not taken over yet. */
  #next = 0
  /** Taken over, of all blocks: by now, and when numbers of mints were last given back. */
  #rows = 0
  #rowsThen = 0
  readonly #rowsHandled: () => number
  readonly #takeOver: TakeOver
  readonly #mints: Mints
  readonly #index: MintIndex
  readonly #isHeld: (token: TokenId) => boolean
  readonly #duplicates: Duplicates
  readonly #hash = new EventHash()

  /** `rowsHandled`: of those taken over, how many are done with. */
  constructor(
    mints: Mints,
    isHeld: (token: TokenId) => boolean,
    takeOver: TakeOver,
    rowsHandled: () => number = () => Number.POSITIVE_INFINITY,
    window?: number,
  ) {
    this.#takeOver = takeOver
    this.#rowsHandled = rowsHandled
    this.#mints = mints
    this.#index = new MintIndex(mints)
    this.#isHeld = isHeld
    this.#duplicates = new Duplicates(window)
    this.block = new LiveBlock(mints.list)
  }

  /** Appends a row, stamped with its arrival, unless it was here before or has to be let go. */
  take(row: Row, time: Millis, shedding: Shedding): Taken {
    const token = this.#index.intern(row.texts, row.mintStart, row.mintEnd)
    if (token < 0) return 'bad mint'
    if (shedding > 0 && isSheddable(row.kind, shedding) && !this.#isHeld(token)) return 'shed'
    if (this.#isDuplicate(row, token)) return 'duplicate'
    if (this.#append(row, time, token)) return 'row'
    this.deliver()
    this.#giveBackMints()
    this.block = new LiveBlock(this.#mints.list)
    this.#next = 0
    return this.#append(row, time, token) ? 'row' : 'no room'
  }

  /** Hands over what was taken since the last time. */
  deliver(): void {
    const { block } = this
    while (this.#next < block.length) {
      const next = this.#takeOver(block, this.#next, block.length)
      this.#rows += next - this.#next
      this.#next = next
    }
  }

  /** Between two blocks, since one has one list of mints. What still waits to be handled must have come since the last time: those mints
   *  keep their numbers. The row that there is no room for came before it. */
  #giveBackMints(): void {
    if (!this.#index.isDue || this.#rowsHandled() < this.#rowsThen) return
    this.#rowsThen = this.#rows + 1
    this.#index.giveBack()
  }

  #append(row: Row, time: Millis, token: TokenId): boolean {
    return this.block.appendBytes(time, row.stamp, row.kind, token, row.numbers, row.texts, row.details)
  }

  /** Over all that makes an event itself. A trade with a signature is the same event whenever it is said to have happened; one
   *  transaction may hold several trades, so the amounts count too. */
  #isDuplicate({ kind, stamp, numbers, texts }: Row, token: TokenId): boolean {
    const hash = this.#hash
    hash.start(kind)
    hash.word(token)
    hash.text(texts, texts.signatureStart, texts.signatureEnd)
    hash.text(texts, texts.traderStart, texts.traderEnd)
    hash.number(numbers.amount)
    hash.number(numbers.size)
    if (kind >= RowKind.newToken || texts.signatureStart === texts.signatureEnd) {
      hash.number(stamp)
      hash.number(numbers.price)
      hash.number(numbers.marketCap)
      hash.number(numbers.extra)
      hash.number(numbers.extra2)
    }
    return this.#duplicates.check(hash)
  }
}

function isSheddable(kind: RowKind, shedding: Shedding): boolean {
  return kind === RowKind.priceUpdate || (shedding > 1 && kind !== RowKind.newToken)
}
