import { lamports, ZERO } from '../../src/base/units.ts'
import { type FillCosts, NO_COSTS } from '../../src/engine/accounting/fill-costs.ts'
import type { Position } from '../../src/engine/accounting/position.ts'
import type { StartInput } from '../../src/engine/messages.ts'
import type { ExecutionReport, Fill, Order } from '../../src/engine/order.ts'
import { NO_MONEY } from '../../src/engine/recovered-money.ts'
import { type Block, RowKind } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { encodeBase58 } from '../../src/solana/base58.ts'

/** Sample values that tests write to journals. */

export const ACCOUNT = 'live|host|genesis|wallet'

/** Limits of disk space that are all 0, so that a full disk of the test machine has no effect. */
export const NO_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 }

/** Options of a journal whose failure makes the test fail. */
export const JOURNAL_OPTIONS = {
  space: NO_LIMITS,
  onFailure: (error: Error) => {
    throw error
  },
}

/** Returns a base58 key that is derived from a number; a signature if `bytes` is 64. */
export function keyOf(number: number, bytes = 32): string {
  const raw = new Uint8Array(bytes).fill(7)
  new DataView(raw.buffer).setUint32(bytes - 4, number)
  return encodeBase58(raw)
}

/** Returns a block of trades, 10 ms apart, from row number `from` on. Row n has mint n modulo 3. */
export function trades(count: number, from = 0, mints = new Mints()): LiveBlock {
  const block = new LiveBlock(mints.list, count)
  for (let n = from; n < from + count; n++) {
    const numbers = { price: n / 3, amount: n, size: n * 7, marketCap: n * 1e6, extra: n % 4, extra2: 0.001 }
    const kind = n % 2 === 0 ? RowKind.buy : RowKind.sell
    block.append(timeOf(n), timeOf(n) - 120, kind, mints.intern(keyOf(n % 3)), numbers, keyOf(n, 64), keyOf(n % 5))
  }
  return block
}

export function timeOf(row: number): number {
  return 1_780_000_000_000 + row * 10
}

/** Returns all values of a block that a reader can see, row by row. */
export function contentOf(blocks: Iterable<Block>): unknown[] {
  const rows: unknown[] = []
  for (const block of blocks)
    for (let row = 0; row < block.length; row++) {
      const { texts } = block
      rows.push([
        block.mints[block.token[row] as number],
        ...[block.time, block.stamp, block.kind, block.price, block.amount].map((column) => column[row]),
        ...[block.size, block.marketCap, block.extra, block.extra2].map((column) => column[row]),
        ...[texts.signature(row), texts.trader(row), texts.details(row)],
      ])
    }
  return rows
}

export function start(segment: number, more: Partial<StartInput> = {}): StartInput {
  return {
    ...{ kind: 'start', segment, config: 'c0', code: 'k0', seed: 1, bots: [], money: NO_MONEY },
    plan: {
      name: 'standard',
      requestsPerMinute: 60,
      connections: 1,
      messagesPerSecond: 10,
      maxBuyLamports: lamports(1e9),
    },
    units: { tradePrice: 'auto', tradeAmount: 'auto' },
    warm: { from: 1, to: 0 },
    ...more,
  }
}

export function order(number: number, more: Partial<Order> = {}): Order {
  return {
    ...{ id: `o${number}`, seq: number, time: timeOf(number), account: ACCOUNT, bot: 'dips', mint: keyOf(number) },
    ...{ side: 'buy', class: 'entry', size: { kind: 'sol', lamports: lamports(50_000_000) }, slippagePercents: [5] },
    ...{
      priorityFeeLamports: null,
      priorityFeeLadder: [],
      repeatMs: null,
      reserveLamports: lamports(60_000_000),
      notAfter: timeOf(number) + 2000,
    },
    ...{ price: 1e-7, reason: 'fell 15 %' },
    ...more,
  }
}

export function attempt(orderNumber: number, more: Partial<Attempt> = {}): Attempt {
  const { id, account, bot, mint, side, class: orderClass, size, price, time } = order(orderNumber)
  return {
    ...{ id: `${id}.1`, orderId: id, account, bot, executor: 'cloud', mint, side, class: orderClass, size, price },
    ...{ slippagePercent: 5, priorityFeeLamports: null, armedAt: time, baseline: null, state: 'armed' },
    ...{ signature: '', code: '' },
    ...more,
  }
}

/** Returns the costs of a buy of 0.05 SOL into a new account. */
function costs(): FillCosts {
  return {
    ...NO_COSTS,
    ...{
      tradeLamports: lamports(49_000_000),
      venueFeeLamports: lamports(600_000),
      serviceFeeLamports: lamports(400_000),
    },
    ...{
      baseFeeLamports: lamports(5_000),
      priorityFeeLamports: lamports(100_000),
      rentPaidLamports: lamports(2_039_280),
    },
    withheldTokens: 7n,
  }
}

export function fill(orderNumber: number, more: Partial<Fill> = {}): Fill {
  const { id, account, bot, mint, side } = order(orderNumber)
  return {
    ...{ signature: keyOf(orderNumber, 64), orderId: id, attemptId: `${id}.1`, account, bot, mint, side, slot: 300 },
    ...{ time: timeOf(orderNumber), tokens: 18_446_744_073_709_551_615n, decimals: 9 },
    ...{ tradeLamports: lamports(50_000_000), feeLamports: lamports(105_000), rentLamports: lamports(2_039_280) },
    ...{ walletLamports: lamports(-52_144_280), costs: costs(), final: false },
    ...more,
  }
}

export function report(orderNumber: number, more: Partial<ExecutionReport> = {}): ExecutionReport {
  return { orderId: `o${orderNumber}`, attemptId: `o${orderNumber}.1`, state: 'working', code: '', reason: '', ...more }
}

export function position(number: number, more: Partial<Position> = {}): Position {
  return {
    ...{ account: ACCOUNT, bot: 'dips', mint: keyOf(number), state: 'open', tokens: 1_500_000n, decimals: 6 },
    ...{ costLamports: lamports(50_000_000), averagePrice: 0.03, openedAt: timeOf(number), exits: {}, highPrice: 0.04 },
    ...{ realizedLamports: ZERO, feeLamports: lamports(105_000), exitTries: 0, exiting: '' },
    ...more,
  }
}
