import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decisionsOf, matchGolden, OTHER_MINT } from '../../src/testing.ts'
import dipBuyer from '../../strategies/dip-buyer.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const golden = join(folder.path, 'golden', 'dips.jsonl')

/** Returns messages of the service about a token that falls by half and recovers. */
function capture(): string {
  const prices = [...Array<number>(30).fill(1e-7), ...Array<number>(10).fill(0.5e-7), ...Array<number>(60).fill(1e-7)]
  return prices
    .map((price, index) => {
      const timestamp = T0 + index * 1_000
      const numbers = { amount: 1, tokensTraded: 1 / price, price, marketCap: 100, slippage: 1, priorityFee: 0 }
      const texts = { mint: OTHER_MINT, signature: `s${index}`, trader: 't', side: index % 4 === 1 ? 'sell' : 'buy' }
      return `${JSON.stringify({ type: 'trade', ...texts, ...numbers, timestamp, receivedAt: timestamp })}\n`
    })
    .join('')
}

test('`matchGolden` compares the decisions on captured messages with a golden file, and writes the file on request', async () => {
  const tape = folder.write('capture.ndjson', capture())
  const options = {
    tape,
    golden,
    params: { dropPercent: 30 },
    exits: { takeProfitPercent: 50, windowPrints: 21 as const },
  }
  await expect(matchGolden(dipBuyer, options)).rejects.toThrow(
    /dips.jsonl does not exist: `sluice test --update` writes it/,
  )
  expect(await matchGolden(dipBuyer, { ...options, update: true })).toBe(2)
  expect(await matchGolden(dipBuyer, options)).toBe(2)
  const [bought, sold] = readFileSync(golden, 'utf8').split('\n')
  expect(JSON.parse(bought as string)).toEqual({
    ...{ time: new Date(T0 + 32_000).toISOString(), what: 'buy', mint: OTHER_MINT, sol: 0.05, reason: 'fell 50.0 %' },
  })
  expect(JSON.parse(sold as string)).toMatchObject({ what: 'sell', mint: OTHER_MINT, all: true })

  await expect(matchGolden(dipBuyer, { ...options, params: { dropPercent: 60 } })).rejects.toThrow(
    `:1: decision 1 differs from the golden file
  golden: ${new Date(T0 + 32_000).toISOString()} buy 0.05 SOL of ${OTHER_MINT}: fell 50.0 %
  now:    no further decision
the golden file has 2 decisions, the strategy now makes 0; to accept them, run \`sluice test --update\``,
  )
  writeFileSync(golden, `${bought}\n`)
  await expect(matchGolden(dipBuyer, options)).rejects.toThrow(
    /:2: decision 2 differs .*\n {2}golden: no further decision\n {2}now: {4}2026-\S+ sell all of Test\w+: take-profit/,
  )
  writeFileSync(golden, `${bought}\nedited by hand\n`)
  await expect(matchGolden(dipBuyer, options)).rejects.toThrow(/:2: .*\n {2}golden: edited by hand\n {2}now: {4}2026-/)
})

test('`matchGolden` makes the same decisions on a journal every time', async () => {
  const tape = join(folder.path, 'tape.db')
  await writeTape(tape, [{ time: T0, items: noisyMarket(2_000, 3, T0) }])
  const decisions = await decisionsOf(dipBuyer, { tape, exits: { stopLossPercent: 20 } })
  expect(decisions.length).toBeGreaterThan(5)
  expect(await decisionsOf(dipBuyer, { tape, exits: { stopLossPercent: 20 } })).toEqual(decisions)
})

test('`matchGolden` refuses invalid captured messages, a tape without the needed keys, and a missing file', async () => {
  const needsLaunches = { ...dipBuyer, keys: ['trades', 'newTokens'] }
  const trades = folder.write('trades.ndjson', capture())
  await expect(decisionsOf(needsLaunches, { tape: trades })).rejects.toThrow(/newTokens/)
  expect(await decisionsOf(needsLaunches, { tape: trades, partial: true })).not.toEqual([])
  await expect(decisionsOf(dipBuyer, { tape: 'nowhere.db' })).rejects.toThrow('nowhere.db does not exist')
  const tape = folder.write('bad.ndjson', `${capture()}{"type":"trade"}\n`)
  await expect(decisionsOf(dipBuyer, { tape })).rejects.toThrow(/bad\.ndjson:101: /)
})
