import { expect, test } from 'vitest'
import type { LiveBlock } from '../../../src/market/live-block.ts'
import { Mints } from '../../../src/market/mints.ts'
import { encodeBase58 } from '../../../src/solana/base58.ts'
import { Intake } from '../../../src/venues/token-service/intake.ts'
import { bytesOf } from '../../../src/venues/token-service/wire/bytes.ts'
import { Row } from '../../../src/venues/token-service/wire/row.ts'

const KEY = new Uint8Array(32).fill(7)

/** An intake that receives one row for each mint, except for one mint with several rows. */
class Door {
  readonly mints = new Mints()
  readonly held = new Set<string>()
  readonly blocks: { readonly block: LiveBlock; readonly from: number; readonly to: number }[] = []
  /** The mints in the order of their arrival. */
  readonly said: string[] = []
  rowsHandled = Number.POSITIVE_INFINITY
  readonly #intake: Intake
  readonly #row = new Row()

  constructor() {
    this.mints.addHolder({ holds: (token) => this.held.has(this.mints.list[token] as string) })
    const takeOver = (block: LiveBlock, from: number, to: number): number => {
      this.blocks.push({ block, from, to })
      return to
    }
    this.#intake = new Intake(
      this.mints,
      () => false,
      takeOver,
      () => this.rowsHandled,
    )
  }

  take(mint: string): void {
    const bytes = Buffer.from(mint.padEnd(48))
    const texts = {
      ...bytesOf(new Uint8Array(bytes).buffer),
      signatureStart: 0,
      signatureEnd: 0,
      traderStart: 0,
      traderEnd: 0,
    }
    Object.assign(this.#row, { stamp: this.said.length, mintStart: 0, mintEnd: mint.length, texts })
    this.#row.numbers.amount = this.said.length
    this.said.push(mint)
    if (this.#intake.add(this.#row, 0, 0) !== 'row') throw new Error(`not taken: ${mint}`)
  }

  launch(count: number): void {
    for (let launch = 0; launch < count; launch++) {
      // `MintIndex` hashes the characters 5 to 20 of a mint. The first bytes of the keys differ, as in a real market.
      for (let at = 0; at < 16; at += 4)
        new DataView(KEY.buffer).setInt32(at, Math.imul(this.said.length * 4 + at + 1, 0x9e3779b1))
      this.take(encodeBase58(KEY))
    }
  }

  /** The mints that the receivers of the rows read. */
  get read(): string[] {
    this.#intake.deliver()
    return this.blocks.flatMap(({ block, from, to }) =>
      Array.from(block.token.subarray(from, to), (token) => block.mints[token] as string),
    )
  }
}

test('the intake of rows reuses the numbers of unused mints, and every row keeps its mint', () => {
  const door = new Door()
  door.launch(10)
  const [first, second] = door.said as [string, string]
  const number = door.mints.find(first)
  door.held.add(first)
  for (let round = 0; round < 3; round++) door.launch(16_384)
  expect(door.read).toEqual(door.said)
  expect(door.mints.find(first)).toBe(number)
  expect(door.mints.find(second)).toBeUndefined()
  expect(door.mints.list.length).toBeLessThan(2.1 * 16_384)
  door.take(second)
  door.take(first)
  expect(door.read.slice(-2)).toEqual([second, first])
})

test('the intake of rows does not reuse numbers of mints while older rows wait', () => {
  const door = new Door()
  door.launch(3 * 8_192)
  const { list } = door.mints
  // Of the rows that came before the last reuse of numbers, all are handled except the last one.
  door.rowsHandled = 2 * 8_192
  door.launch(2 * 8_192)
  expect(door.mints.list).toBe(list)
  door.rowsHandled = 2 * 8_192 + 1
  door.launch(8_192)
  expect(door.mints.list).not.toBe(list)
  expect(door.read).toEqual(door.said)
})
