import { expect, test } from 'vitest'
import { runBacktest } from '../../src/backtest/run.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { LiveBlock, TranslatedBlock } from '../../src/market/live-block.ts'
import { JournalSource } from '../../src/testing/dev/dev-source.ts'
import { EventLog } from '../../src/testing/dev/event-log.ts'
import { GrowingTape } from '../../src/testing/dev/growing-tape.ts'
import type { VersionEvent } from '../../src/testing/dev/version-report.ts'
import { VersionRun } from '../../src/testing/dev/version-run.ts'
import { journalPath } from '../support/journal-samples.ts'
import { feed, noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

/** A strategy that watches single tokens. With `bot.note` it records gaps and, at each timer, the price of a token. */
const WATCHER = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'watcher', about: '', params: z.object({}), keys: ['trades', 'newTokens'],
  start: (_params, bot) => {
    let trades = 0
    let mint = ''
    bot.every('look', 7)
    return {
      onTrade(trade, token) {
        mint = trade.mint
        if (++trades % 400 === 0) bot.watch(mint)
        if (trades % 50 === 0 && !token.position) bot.buy(token, { sol: 0.02, reason: 'trade ' + trades })
      },
      onGap({ from, to, keys }) { bot.note(mint, 'gap ' + [from, to, ...keys.toSorted()]) },
      onTimer() { bot.note(mint, 'price ' + bot.token(mint)?.price) },
    }
  } })
`

test('a tape leads to the same decisions in `dev` as in a backtest, also around pauses of its recording', async () => {
  const path = journalPath()
  const { mint } = noisyMarket(1, 3, T0)[0] as { mint: string }
  const interruption = [
    { time: T0 + 40_000, input: feed('down', []) },
    { time: T0 + 60_000, input: { kind: 'gap', from: T0 + 40_000, to: T0 + 60_000, keys: ['trades'] } as const },
    { time: T0 + 60_000, input: feed('live', ['trades', mint]) },
  ]
  await writeTape(path, [
    { time: T0, items: [...noisyMarket(400, 3, T0), ...interruption, ...noisyMarket(400, 4, T0 + 60_000)] },
    { time: T0 + 300_000, items: noisyMarket(400, 5, T0 + 300_000) },
  ])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const exits = { stopLossPercent: 20, maxHoldSeconds: 100 }
  const bots = [{ name: 'bot', strategy: folder.write('watcher.ts', WATCHER), exits }]
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))

  const source = new JournalSource(path)
  const tape = new GrowingTape()
  const end = source.advance(tape, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  source.close()
  const run = new VersionRun(loaded.config, tape.mints, source.startsAt)
  for (const part of tape.parts(0)) {
    if (part.kind === 'input') run.play(part)
    else {
      const { buffer, capacity } = tape.memoryOf(part.block)
      const block = new TranslatedBlock(new LiveBlock(tape.mints.list, capacity, buffer), [...tape.mints.list.keys()])
      block.translate(part.to)
      run.play({ ...part, block })
    }
  }

  const log = new EventLog()
  const reader = openReader(path)
  try {
    runBacktest(loaded.config, reader.market(), { partial: true, journal: log })
  } finally {
    reader.close()
  }
  // A backtest waits after the tape until open orders have ended.
  const shown = (events: readonly VersionEvent[]): string[] =>
    events.filter(({ time }) => time < end).map(({ time, text }) => `${time - T0} ${text}`)
  expect(shown(run.report().events)).toEqual(shown(log.events))
  const gaps = log.events.flatMap(({ text }) => [...text.matchAll(/gap (\d+),(\d+)/g)])
  expect(gaps.map(([, from, to]) => [Number(from) - T0, Number(to) - T0])).toEqual([
    [0, 0], // the start of the first segment
    [40_000, 60_000],
    [99_900, 300_000], // between the segments
    [300_000, 300_000],
  ])
})
