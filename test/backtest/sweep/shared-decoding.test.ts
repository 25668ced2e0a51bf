import { MessagePort } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { paramsOf } from '../../../src/backtest/sweep/run-sets.ts'
import { SweepThreads } from '../../../src/backtest/sweep/threads.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { withItems } from '../../../src/journal/tape/market-tape.ts'
import { openTape } from '../../../src/journal/tape-files.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../../support/recorded-tape.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
/** Enough rows for more chunks than may be in memory. */
const ROWS = 140_000
/** Number of chunks of the tape that may wait for a thread or be read by it. */
const MOST_CHUNKS = 3
const folder = temporaryFolder()

/** A strategy that reads columns and texts that threads do not share. */
const READER = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'reader', about: '', keys: ['trades'],
  params: z.object({ every: z.number().int().min(1) }),
  start: ({ every }, bot) => {
    let row = 0
    return { onTrade(trade, token) {
      if (++row % (every * 1_000) === 0 && trade.marketCap > 0 && trade.trader !== 'x') bot.buy(token, { sol: 0.02, reason: 'turn' })
    } }
  } })
`

afterEach(() => void vi.restoreAllMocks())

/** Counts the messages (the param sets of a pass, then chunks) that were sent to a thread and that the thread has not
 *  finished. A request of the thread acknowledges one of them. Returns a function that returns the maximum. */
function mostUnread(): () => number {
  const unread = new Map<MessagePort, number>()
  let most = 0
  const add = (port: MessagePort, count: number): void => {
    unread.set(port, (unread.get(port) ?? 0) + count)
    most = Math.max(most, unread.get(port) as number)
  }
  const { postMessage, on } = MessagePort.prototype
  vi.spyOn(MessagePort.prototype, 'postMessage').mockImplementation(function (this: MessagePort, message, list) {
    if (message?.kind === 'sets' || message?.chunk !== undefined) add(this, 1)
    postMessage.call(this, message, list)
  })
  vi.spyOn(MessagePort.prototype, 'on').mockImplementation(function (this: MessagePort, event, listener) {
    const counted = (message: { kind?: string }): void => {
      if (message?.kind === 'ready') add(this, -1)
      listener(message)
    }
    return on.call(this, event as 'message', event === 'message' ? counted : listener)
  })
  return () => most
}

test('all threads of a sweep share one decoded tape, and few of its chunks are in memory', async () => {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: noisyMarket(ROWS, 5, T0) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const strategy = folder.write('reader.ts', READER)
  const bots = [{ name: 'reader', strategy, params: { every: 1 }, exits: { maxHoldSeconds: 60 } }]
  const loaded = await loadConfig([folder.write('sweep.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const { config } = loaded
  const bot = config.bots[0] as (typeof config.bots)[number]
  const sets = [1, 2].map((every) => ({ set: every, params: paramsOf(bot, { every }) as never }))
  const tape = openTape([path])
  try {
    let decoded = 0
    const market = withItems(tape.market, (mints) => {
      decoded++
      return tape.market.items(mints)
    })
    const most = mostUnread()
    const ground = { config, bot, splitRow: undefined }
    // No decoded tape is kept, as with a tape that is too long to be kept.
    const threads = new SweepThreads(ground, { paths: [path], market, mostKept: 0 }, sets.length)
    try {
      for (const pass of [1, 2]) {
        const results = await threads.run(
          sets.map((set) => [set]),
          () => {},
        )
        expect(results.map(({ set, threw }) => [set, threw])).toEqual(sets.map(({ set }) => [set, '']))
        expect(results.every(({ buys }) => buys > 0)).toBe(true)
        expect(decoded).toBe(pass)
      }
      expect(most()).toBe(MOST_CHUNKS)
    } finally {
      await threads.end()
    }
  } finally {
    tape.close()
  }
})
