import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import { foldMovements } from '../../src/engine/accounting/money.ts'
import { holderOf } from '../../src/engine/accounting/movement.ts'
import type { Disposal, Lot } from '../../src/engine/accounting/tax-lots.ts'
import type { Fill } from '../../src/engine/order.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { OpenJournal } from '../../src/journal/writer/gathering-journal.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import type { Remainder } from '../../src/journal/writer/writer.ts'
import type { WalletTransaction } from '../../src/orders/audit-records.ts'
import { ACCOUNT, attempt, fill, journalPath, NO_LIMITS, order, start } from '../support/journal-samples.ts'
import { happenings, LedgerModel } from '../support/ledger-model.ts'
import { forgetLedger } from '../support/old-journal.ts'
import { runs } from '../support/runs.ts'

const LINES = `trade + impact + venue_fee + service_fee + base_fee + priority_fee + tip + rent_paid + rent_returned + wrapped
  + other + remainder`

function openedAt(path: string, told: Remainder[] = [], durable = false): OpenJournal {
  return openJournal(path, {
    ...{ space: NO_LIMITS, durable, onRemainder: (remainder) => told.push(remainder) },
    onFailure: (error) => {
      throw error
    },
  })
}

function read<T>(path: string, sql: string): T[] {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare(sql).all() as T[]
  } finally {
    db.close()
  }
}

test('for random histories of a wallet, the ledger explains every lamport at every audit, and the lots equal those of a simple reference', async () => {
  const path = journalPath()
  const told: Remainder[] = []
  let run = 0
  let journal = openedAt(path, told)
  journal.input(1, 0, start(1))
  const reopen = async (): Promise<void> => {
    await journal.close()
    journal = openedAt(path, told)
  }
  await fc.assert(
    fc.asyncProperty(happenings, async (all) => {
      const model = new LedgerModel(() => journal, ++run)
      for (const one of all) {
        if (one.kind !== 'restart') model.happen(one)
        else await reopen()
      }
      model.happen({ kind: 'audit' })
      model.audit(true)
      await reopen()
      expect(told).toEqual([])
      expectBalanced(path, model)
      expectParts(path, model)
      expectLots(path, model)
    }),
    { numRuns: runs(6) },
  )
  await journal.close()
})

function expectBalanced(path: string, { account, lamports: held, fills, others }: LedgerModel): void {
  const own = `FROM posting WHERE account = '${account}'`
  expect(read(path, `SELECT * ${own} AND wallet + ${LINES} <> 0`)).toEqual([])
  expect(read(path, `SELECT * FROM audits WHERE account = '${account}' AND remainder_lamports <> 0`)).toEqual([])
  expect(read(path, `SELECT sum(wallet) AS sum ${own}`)).toEqual([{ sum: held }])
  // The postings that no longer count have been reversed, so their sum is 0.
  expect(read(path, `SELECT coalesce(sum(wallet), 0) AS sum ${own} AND standing = 0`)).toEqual([{ sum: 0 }])
  const standing = read<{ signature: string }>(path, `SELECT signature ${own} AND standing = 1 AND kind <> 'opening'`)
  expect(standing.map(({ signature }) => signature).sort()).toEqual([...fills.keys(), ...others.keys()].sort())
}

/**
 * Expects that the ledger has a line for each component of a fill's costs. The amount that the pools received or paid
 * has two lines: the amount at the price of the decision (`trade`), and the difference (`impact`).
 */
function expectParts(path: string, { account, fills }: LedgerModel): void {
  const part = (of: (fill: Fill) => number): number => sum([...fills.values()].map(of))
  const sums = `coalesce(sum(trade + impact), 0) AS trade, coalesce(sum(venue_fee), 0) AS venue, coalesce(sum(service_fee), 0) AS service,
    coalesce(sum(base_fee + priority_fee + tip), 0) AS network, coalesce(sum(rent_paid + rent_returned), 0) AS rent,
    coalesce(sum(wrapped), 0) AS wrapped, coalesce(sum(remainder), 0) AS remainder, coalesce(sum(other), 0) AS other,
    coalesce(sum(CAST(tokens AS INTEGER)), 0) AS tokens`
  expect(read(path, `SELECT ${sums} FROM posting WHERE kind = 'fill' AND account = '${account}'`)).toEqual([
    {
      trade: part(({ side, costs }) => (side === 'buy' ? costs.tradeLamports : -costs.tradeLamports)),
      venue: part(({ costs }) => costs.venueFeeLamports),
      service: part(({ costs }) => costs.serviceFeeLamports),
      network: part(({ feeLamports }) => feeLamports),
      rent: part(({ rentLamports }) => rentLamports),
      wrapped: part(({ costs }) => costs.wrappedLamports),
      remainder: part(({ costs }) => costs.remainderLamports),
      ...{ other: 0, tokens: part(({ side, tokens }) => (side === 'buy' ? Number(tokens) : -Number(tokens))) },
    },
  ])
}

function expectLots(path: string, { account, lamports: held, fills: all }: LedgerModel): void {
  const fills = [...all.values()]
  const reader = openReader(path)
  const ledger = reader.ledger().find((one) => one.account === account)
  const fold = foldMovements(reader.movements().filter((one) => holderOf(one).account === account))
  reader.close()
  expect(ledger).toMatchObject({ walletLamports: held, audit: { remainderLamports: 0, worstLamports: 0 } })
  const byMint = Map.groupBy(fills, ({ mint }) => mint)
  const disposals = fold.bots.flatMap((money) => money.disposals)
  for (const [mint, own] of byMint) {
    const lots = fold.holdings.find((holding) => holding.mint === mint)?.lots ?? []
    const sold = disposals.filter((disposal) => disposal.mint === mint)
    expectSlow(lots, sold, own)
  }
  // Profit and holdings equal the change of the wallet. The only difference is rent and wrapped SOL, which still belong
  // to the wallet.
  const lots = fold.holdings.flatMap((holding) => holding.lots)
  const gains = disposals.map(({ gainLamports }) => gainLamports)
  const kept = fills.map(({ rentLamports, costs }) => rentLamports + costs.wrappedLamports)
  const made = sum(gains) - sum(lots.map(({ costLamports, feeLamports }) => costLamports + feeLamports))
  expect(made - sum(kept)).toBe(sum(fills.map(({ walletLamports }) => walletLamports)))
}

/**
 * Compares with a slow reference that counts token by token: each token has its buy, and a sale takes the oldest
 * tokens.
 */
function expectSlow(lots: readonly Lot[], disposals: readonly Disposal[], fills: readonly Fill[]): void {
  const held: string[] = []
  const sold: string[] = []
  // Sorts by Solana slot. Within a slot, buys come first, because sales may sell their tokens. Fills of the same side
  // are then sorted by signature.
  const placeOf = ({ slot, side, signature }: Fill): string => `${String(slot).padStart(9, '0')} ${side} ${signature}`
  const order = fills.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  for (const { side, tokens, signature } of order)
    for (let n = 0n; n < tokens; n++) {
      if (side === 'buy') held.push(signature)
      else sold.push(`${held.shift() ?? ''} by ${signature}`)
    }
  const repeated = (text: string, tokens: bigint): string[] => new Array<string>(Number(tokens)).fill(text)
  expect(lots.flatMap(({ signature, tokens }) => repeated(signature, tokens))).toEqual(held)
  expect(disposals.flatMap(({ boughtBy, soldBy, tokens }) => repeated(`${boughtBy} by ${soldBy}`, tokens))).toEqual(
    sold,
  )
  for (const { signature, side, tokens, tradeLamports, feeLamports } of fills) {
    const own = disposals.filter(({ boughtBy, soldBy }) => (side === 'buy' ? boughtBy : soldBy) === signature)
    const rest = lots.find((lot) => lot.signature === signature)
    const amounts = own.map(({ costLamports, proceedsLamports }) => (side === 'buy' ? costLamports : proceedsLamports))
    // No lamport is lost when an amount is divided among lots.
    expect(sum(amounts) + (rest?.costLamports ?? 0)).toBe(tradeLamports)
    for (const [index, part] of own.entries())
      expect(Math.abs((amounts[index] ?? 0) - (tradeLamports * Number(part.tokens)) / Number(tokens))).toBeLessThan(13)
    expect(feeLamports).toBeGreaterThanOrEqual(0)
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}

test('an unexplained remainder of the ledger is reported once, and so is its end', async () => {
  const path = journalPath()
  const told: Remainder[] = []
  const journal = openedAt(path, told, true)
  const cursor = (slot: number, held: number) => ({
    account: ACCOUNT,
    genesis: 'g',
    slot,
    height: slot,
    lamports: lamports(held),
    signature: '',
  })
  const audit = (slot: number, held: number): void => {
    journal.write({ kind: 'wallet', cursor: cursor(slot, held), transactions: [] })
    journal.commit(() => {})
  }
  audit(100, 1_000_000_000)
  audit(120, 1_000_000_000)
  audit(140, 999_999_993)
  audit(160, 999_999_993)
  expect(told).toEqual([{ account: ACCOUNT, slot: 140, lamports: -7 }])
  // The costs of the fill are wrong by seven lamports, and the ledger must find the difference.
  const costs = {
    ...fill(1).costs,
    tradeLamports: 7,
    venueFeeLamports: 0,
    serviceFeeLamports: 0,
    baseFeeLamports: 0,
    priorityFeeLamports: 0,
    rentPaidLamports: 0,
  }
  journal.write({
    kind: 'fill',
    fill: fill(1, { slot: 130, walletLamports: lamports(-7), costs: costs as never, final: true }),
  })
  audit(180, 999_999_993)
  expect(told.slice(1)).toEqual([{ account: ACCOUNT, slot: 180, lamports: 0 }])
  await journal.close()
  // An audit without a change adds no row.
  expect(read(path, 'SELECT first_slot, slot, remainder_lamports FROM audits')).toEqual([
    { first_slot: 100, slot: 120, remainder_lamports: 0 },
    { first_slot: 140, slot: 160, remainder_lamports: -7 },
    { first_slot: 180, slot: 180, remainder_lamports: 0 },
  ])
  const reader = openReader(path)
  expect(reader.ledger()[0]?.audit).toMatchObject({ remainderLamports: 0, worstLamports: 7 })
  reader.close()
})

test('a final fill that the audit did not find leaves a remainder in the ledger', async () => {
  const path = journalPath()
  const told: Remainder[] = []
  const journal = openedAt(path, told, true)
  const audit = (slot: number): void => {
    const cursor = { account: ACCOUNT, genesis: 'g', slot, height: slot, lamports: lamports(1e9), signature: '' }
    journal.write({ kind: 'wallet', cursor, transactions: [] })
    journal.commit(() => {})
  }
  audit(100)
  // Before it is final, the fill is not in the wallet's finalized balance.
  journal.write({ kind: 'fill', fill: fill(1, { slot: 110 }) })
  audit(120)
  expect(told).toEqual([])
  journal.write({ kind: 'fill', fill: fill(1, { slot: 110, final: true }) })
  audit(140)
  expect(told).toEqual([{ account: ACCOUNT, slot: 140, lamports: -fill(1).walletLamports }])
  await journal.close()
})

test("an operator assigns a transaction to an order: the fill's posting replaces that of the audit", async () => {
  const path = journalPath()
  const journal = openedAt(path)
  const one = fill(1, { final: true })
  const { signature, slot, walletLamports } = one
  const about = { account: ACCOUNT, signature, slot, attemptId: '', time: 1, after: slot - 1, failed: false }
  const cursor = { account: ACCOUNT, genesis: 'g', height: 1, signature: '' }
  journal.write({ kind: 'wallet', cursor: { ...cursor, slot: slot - 1, lamports: lamports(1e9) }, transactions: [] })
  const foreign = { ...about, class: 'foreign', lamports: walletLamports } as const
  journal.write({
    kind: 'wallet',
    cursor: { ...cursor, slot, lamports: lamports(1e9 + walletLamports) },
    transactions: [foreign],
  })
  journal.output(2, 2, 0, { kind: 'order', order: order(1) })
  journal.write({ kind: 'fill', fill: one })
  journal.write({
    kind: 'wallet',
    cursor: { ...cursor, slot: slot + 9, lamports: lamports(1e9 + walletLamports) },
    transactions: [foreign],
  })
  await journal.close()
  expect(read(path, 'SELECT kind, standing, reverses IS NOT NULL AS back, wallet FROM posting ORDER BY id')).toEqual([
    { kind: 'opening', standing: 1, back: 0, wallet: 1e9 },
    { kind: 'foreign', standing: 0, back: 0, wallet: walletLamports },
    { kind: 'foreign', standing: 0, back: 1, wallet: -walletLamports },
    { kind: 'fill', standing: 1, back: 0, wallet: walletLamports },
  ])
  expect(read(path, 'SELECT max(abs(remainder_lamports)) AS most FROM audits')).toEqual([{ most: 0 }])
  // The order was decided at 1e-7 SOL. The pool received more: `trade` is the amount at this
  // price, and `impact` is the rest.
  expect(read(path, "SELECT sum(lamports) AS sum FROM ledger WHERE line IN ('trade', 'impact')")).toEqual([
    { sum: 49_000_000 },
  ])
})

test("a paper ledger opens with the engine's first account output, and failed transactions cost their fees, also if reported late", async () => {
  const path = journalPath()
  const account = 'paper|host||dips'
  const journal = openedAt(path)
  const money = (held: number) => ({ account, lamports: lamports(held), slot: 0, halted: false })
  const say = (seq: number, feeLamports: number): void => {
    const report = { orderId: 'o1', attemptId: 'o1.1', state: 'filled', code: '', reason: '' } as const
    journal.input(seq, seq * 400, {
      kind: 'report',
      id: seq,
      report: { ...report, feeLamports: lamports(feeLamports) },
    })
  }
  journal.input(1, 0, start(1))
  journal.output(1, 0, 0, { kind: 'account', money: money(5e9) })
  journal.write({
    kind: 'attempt',
    attempt: attempt(1, { account, executor: 'paper', state: 'reverted', signature: 'paper-o1.1' }),
  })
  say(2, 105_000)
  journal.output(2, 800, 0, { kind: 'account', money: money(5e9 - 105_000) })
  await journal.close()
  const reader = openReader(path)
  expect(reader.ledger()).toEqual([
    {
      ...{ account, walletLamports: 5e9 - 105_000, failedLamports: 105_000 },
      lines: { opening: -5e9, base_fee: 5_000, priority_fee: 100_000 },
      audit: {
        slot: 0,
        time: null,
        walletLamports: 5e9 - 105_000,
        ledgerLamports: 5e9 - 105_000,
        remainderLamports: 0,
        worstLamports: 0,
      },
    },
  ])
  expect(reader.ledgerEntries('o1').map(({ line, lamports: moved }) => [line, moved])).toEqual([
    ['base_fee', 5_000],
    ['priority_fee', 100_000],
    ['wallet', -105_000],
  ])
  reader.close()
})

test('the migration of a journal without a ledger posts the fills and fees, and computes the opening balance', async () => {
  const path = journalPath()
  const paper = 'paper|host||dips'
  const journal = openedAt(path)
  journal.input(1, 0, start(1))
  const cursor = { account: ACCOUNT, genesis: 'g', height: 1, signature: '' }
  const one = fill(1, { final: true })
  journal.write({ kind: 'fill', fill: one })
  journal.write({ kind: 'fill', fill: fill(2, { slot: 305 }) })
  const about = { account: ACCOUNT, attemptId: '', time: 1, failed: false }
  const transactions = [
    { ...about, signature: one.signature, slot: 300, after: 299, class: 'ours', lamports: one.walletLamports },
    { ...about, signature: 'dust', slot: 301, after: 300, class: 'inflow', lamports: lamports(9) },
    { ...about, signature: 'fee', slot: 302, after: 301, class: 'ours', lamports: lamports(-8_000), failed: true },
  ] as const
  const held = lamports(1e9 + one.walletLamports + 9 - 8_000)
  journal.write({ kind: 'wallet', cursor: { ...cursor, slot: 303, lamports: held }, transactions })
  const taken = fill(3, { account: paper, signature: 'paper-o3.1' })
  journal.write({ kind: 'fill', fill: taken })
  journal.write({
    kind: 'attempt',
    attempt: attempt(4, { account: paper, executor: 'paper', state: 'reverted', signature: 'paper-o4.1' }),
  })
  const told = (seq: number, number: number, more: object): void => {
    const about = { orderId: `o${number}`, attemptId: `o${number}.1`, state: 'filled', code: '', reason: '' } as const
    journal.input(seq, seq * 400, { kind: 'report', id: seq, report: { ...about, ...more } })
  }
  told(2, 3, { fill: taken })
  told(3, 4, { feeLamports: 6_000 })
  const left = lamports(5e9 + taken.walletLamports - 6_000)
  journal.output(3, 1200, 0, { kind: 'account', money: { account: paper, lamports: left, slot: 0, halted: false } })
  await journal.close()
  const old = new Database(path)
  old.exec("DELETE FROM wallet_transaction WHERE account LIKE 'paper%'")
  old.exec(`INSERT INTO report (taken, id, json)
    SELECT 1, json_extract(json, '$.id'), json_extract(json, '$.report') FROM input WHERE kind = 'report'`)
  forgetLedger(old)
  old.close()
  const again = openedAt(path)
  again.write({ kind: 'fill', fill: fill(2, { slot: 305, final: true }) })
  const now = lamports(held + fill(2).walletLamports)
  again.write({ kind: 'wallet', cursor: { ...cursor, slot: 310, lamports: now }, transactions: [] })
  await again.close()
  const reader = openReader(path)
  expect(reader.ledger()).toMatchObject([
    {
      lines: { opening: -1e9, inflow: -9, priority_fee: 203_000, base_fee: 15_000 },
      failedLamports: 8_000,
      audit: { slot: 310, walletLamports: now, remainderLamports: 0 },
    },
    { account: paper, lines: { opening: -5e9 }, failedLamports: 6_000, audit: { remainderLamports: 0 } },
  ])
  reader.close()
  expect(read(path, `SELECT * FROM posting WHERE wallet + ${LINES} <> 0`)).toEqual([])
})

test('if a fork reversed a fill and the transaction then failed, its fee is posted, in either order of the reports', async () => {
  for (const isToldFirst of [true, false]) {
    const path = journalPath()
    const told: Remainder[] = []
    const journal = openedAt(path, told)
    const held = 1_000_000_000
    const one = fill(1, { slot: 110 })
    const cursor = { account: ACCOUNT, genesis: 'g', signature: '' }
    const audit = (slot: number, left: number, transactions: WalletTransaction[]): void => {
      journal.write({
        kind: 'wallet',
        cursor: { ...cursor, slot, height: slot, lamports: lamports(left) },
        transactions,
      })
      journal.commit(() => {})
    }
    const about = { orderId: one.orderId, attemptId: one.attemptId, code: 'REVERSED', reason: '' } as const
    const reversed = { ...about, state: 'working', reversed: one.signature } as const
    journal.input(1, 0, start(1))
    audit(100, held, [])
    journal.write({ kind: 'fill', fill: one })
    if (!isToldFirst) journal.write({ kind: 'report', id: 7, report: reversed })
    if (isToldFirst) journal.input(7, 44_400, { kind: 'report', id: 7, report: reversed })
    const failed = {
      account: ACCOUNT,
      signature: one.signature,
      slot: 111,
      attemptId: one.attemptId,
      time: 1,
      after: 110,
    }
    audit(120, held - 7_000, [{ ...failed, class: 'ours', lamports: lamports(-7_000), failed: true }])
    if (!isToldFirst) journal.input(7, 48_400, { kind: 'report', id: 7, report: reversed })
    audit(130, held - 7_000, [])
    await journal.close()
    expect([isToldFirst, told]).toEqual([isToldFirst, []])
    expect(read(path, 'SELECT kind, wallet FROM posting WHERE standing = 1 ORDER BY id')).toEqual([
      { kind: 'opening', wallet: held },
      { kind: 'failed', wallet: -7_000 },
    ])
  }
})

test.each<[string, object, number]>([
  ['a cost that is not a number', { venueFeeLamports: Number.NaN }, 600_000],
  [
    'costs without single components',
    { ...fill(1).costs, ...Object.fromEntries(Object.keys(fill(1).costs).map((key) => [key, null])) },
    52_144_280,
  ],
  ['an unknown number of withheld tokens', { withheldTokens: null }, 0],
])(
  'the journal stores a fill with incomplete costs and posts it to the ledger: %s',
  async (_name, wrong, remainder) => {
    const path = journalPath()
    const journal = openedAt(path)
    const one = fill(1, { costs: { ...fill(1).costs, ...wrong } as never })
    journal.output(2, 2, 0, { kind: 'order', order: order(1) })
    journal.write({ kind: 'fill', fill: one })
    await journal.close()
    expect(read(path, 'SELECT signature FROM fill')).toEqual([{ signature: one.signature }])
    const [posted] = read<Record<string, number>>(
      path,
      `SELECT wallet, wallet + ${LINES} AS sum, remainder FROM posting`,
    )
    expect(posted).toEqual({ wallet: one.walletLamports, sum: 0, remainder })
  },
)
