import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import { lamports } from '../../../src/base/units.ts'
import { Book } from '../../../src/engine/accounting/book.ts'
import { NO_COSTS } from '../../../src/engine/accounting/fill-costs.ts'
import type { Position } from '../../../src/engine/accounting/position.ts'
import type { Fill, OrderState } from '../../../src/engine/order.ts'
import { NO_MONEY, type OpenOrder } from '../../../src/engine/recovered-money.ts'
import { order } from '../../support/journal-values.ts'

const SEEDS = 2_000
const MINT = '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'

const BUY = order(2, { account: 'a', bot: 'bot', mint: MINT, side: 'buy' })

function fill(number: number, side: Fill['side'], tokens: number, final = false): Fill {
  const sign = side === 'buy' ? -1 : 1
  return {
    ...{
      signature: `s${number}`,
      orderId: `o${number}`,
      attemptId: `o${number}.1`,
      account: 'a',
      bot: 'bot',
      mint: MINT,
    },
    ...{ side, slot: number, time: number, tokens: BigInt(tokens), decimals: 6, tradeLamports: lamports(tokens) },
    ...{ feeLamports: lamports(0), rentLamports: lamports(0), walletLamports: lamports(sign * tokens), final },
    costs: NO_COSTS,
  }
}

/** Books a fill as the engine does: if a fork changed the fill, the old one is reversed first. */
function book(books: Book, one: Fill): Position | undefined {
  if (books.hasOther(one)) books.unbook(one.signature, true)
  const booking = books.book(one)
  settle(books)
  return booking?.position
}

function move(books: Book, id: string, to: OrderState): void {
  books.move(books.orders.get(id) as OpenOrder, to)
}

function settle(books: Book): void {
  for (const position of books.positions.all()) books.settle(position)
}

function held(books: Book): number {
  return Number(books.positions.get({ account: 'a', mint: MINT })?.tokens ?? 0n)
}

test('if a fork replaces a sale, and the new sale is reported before the reversal of the old one, the books still end up correct', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100))
  book(books, fill(2, 'sell', 100))
  book(books, fill(3, 'buy', 70))
  book(books, fill(4, 'sell', 100)) // in this fork, fill 2 does not exist, and fill 4 comes before fill 3
  expect(held(books)).toBe(0)
  books.unbook('s2')
  settle(books)
  expect(held(books)).toBe(70)
})

test('a buy keeps its tokens if it was accepted before the report that an earlier sale was reversed', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100))
  book(books, fill(2, 'sell', 60))
  book(books, fill(3, 'sell', 70)) // 2 is not in this fork
  settle(books)
  books.open(fill(4, 'buy', 50), 4, {})
  books.unbook('s2')
  settle(books)
  book(books, fill(4, 'buy', 50))
  expect(held(books)).toBe(80)
})

test('a sale that is reported before its buy leaves no tokens once both are final', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100, true))
  books.accept(BUY)
  book(books, fill(3, 'sell', 150, true))
  book(books, fill(2, 'buy', 50, true))
  expect(held(books)).toBe(0)
})

test('if no buy is found for a sale, the sold tokens count as tokens from outside', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100, true))
  books.accept(BUY)
  book(books, fill(3, 'sell', 150, true))
  move(books, 'o2', 'working')
  move(books, 'o2', 'not_executed')
  settle(books)
  book(books, fill(4, 'buy', 50))
  expect(held(books)).toBe(50)
})

test('if a sale also sold foreign tokens, they are not deducted from the next buy', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100, true))
  book(books, fill(2, 'sell', 130))
  book(books, fill(2, 'sell', 130, true))
  book(books, fill(3, 'buy', 50))
  expect(held(books)).toBe(50)
})

test('if a buy that landed before a full sale is found only after the sale is final, the sold tokens are deducted from it', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100, true))
  book(books, fill(3, 'sell', 150))
  book(books, fill(3, 'sell', 150, true))
  book(books, fill(2, 'buy', 70, true))
  expect(held(books)).toBe(20)
})

test('if a buy that landed before a full sale is found only after a restart, the sold tokens are deducted from it', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100, true))
  const closed = { ...book(books, fill(3, 'sell', 150)) } as Position // the record from before the sale was final
  book(books, fill(3, 'sell', 150, true))
  const restored = new Book()
  restored.restore({ ...NO_MONEY, positions: [closed], fills: [...books.fills.of('a').values()] })
  book(restored, fill(2, 'buy', 70, true))
  expect(held(restored)).toBe(20)
})

test('if a sale sold more than the books held, two earlier buys that are found late share the excess, and a later buy keeps its tokens', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100, true))
  book(books, fill(4, 'sell', 150, true))
  book(books, fill(5, 'buy', 60, true))
  expect(held(books)).toBe(60)
  book(books, fill(2, 'buy', 30, true))
  expect(held(books)).toBe(60)
  book(books, fill(3, 'buy', 30, true))
  expect(held(books)).toBe(70)
})

test('if a sale sold more than the books held, a later sale does not increase the excess', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100, true))
  book(books, fill(3, 'sell', 150, true))
  book(books, fill(5, 'buy', 60, true))
  book(books, fill(6, 'sell', 40, true))
  book(books, fill(2, 'buy', 30, true))
  book(books, fill(4, 'buy', 70, true))
  expect(held(books)).toBe(90)
})

test('if a buy is reported again with other amounts after its tokens were sold, the position stays sold', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100))
  book(books, fill(2, 'sell', 100, true))
  expect(held(books)).toBe(0)
  book(books, fill(1, 'buy', 130, true))
  expect(held(books)).toBe(30)
})

test('if a fork changed a fill and no process saw this, the fill is booked with its new amounts', () => {
  const books = new Book()
  book(books, fill(1, 'buy', 100))
  book(books, fill(1, 'buy', 120))
  expect(held(books)).toBe(120)
  book(books, fill(1, 'buy', 110, true))
  expect(held(books)).toBe(110)
})

test(`after any forks and any order of reports, the books have the tokens that the chain has (${SEEDS} seeds)`, () => {
  for (let seed = 1; seed <= SEEDS; seed++) expect({ seed, held: inTheEnd(seed) }).toEqual({ seed, held: 0 })
})

/** Returns the difference between the books and the chain after forks and restarts. */
function inTheEnd(seed: number): number {
  const { integer } = seededRandom(seed)
  let books = new Book()
  let position: Position | undefined
  const heard = new Map<number, Fill>()
  const side = (number: number): Fill['side'] => (number % 2 === 0 ? 'buy' : 'sell')
  for (let step = 0; step < 12; step++) {
    const number = integer(6)
    if (integer(3) === 0 && heard.has(number)) {
      position = books.unbook(`s${number}`)?.position ?? position
      heard.delete(number)
      settle(books)
    } else {
      const one = fill(number, side(number), 10 + integer(100))
      position = book(books, one) ?? position
      heard.set(number, one)
    }
    if (integer(8) === 0) books = restarted(books, position)
  }
  // The chain refuses a sale of more tokens than the wallet holds, so such a sale is removed from the books.
  let standing = 0
  for (const [number, one] of [...heard].sort(([a], [b]) => (a % 2) - (b % 2))) {
    const isCovered = one.side === 'buy' || Number(one.tokens) <= standing
    if (!isCovered) books.unbook(`s${number}`)
    settle(books)
    if (!isCovered) heard.delete(number)
    else standing += one.side === 'buy' ? Number(one.tokens) : -Number(one.tokens)
  }
  for (const one of heard.values()) book(books, { ...one, final: true })
  return held(books) - standing
}

/** Returns the books after a restart. A closed position is restored too, as long as a fork may reopen it. */
function restarted(before: Book, position: Position | undefined): Book {
  const books = new Book()
  books.restore({
    ...NO_MONEY,
    positions: position === undefined ? [] : [position],
    fills: [...before.fills.of(BUY.account).values()],
  })
  return books
}
